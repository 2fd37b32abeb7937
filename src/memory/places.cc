#include "memory/places.h"

#include <algorithm>

namespace shoal {

Places::Places(const Timeline& timeline) : timeline_(timeline) {
  for (size_t i = 0; i < timeline.steps().size(); ++i) {
    firsts_.push_back(static_cast<Place>(shapes_.size()));
    Add(timeline.steps()[i]->shape(), static_cast<int64_t>(i));
  }
}

void Places::Add(const Shape& shape, int64_t time) {
  shapes_.push_back(&shape);
  times_.push_back(time);
  if (Size(shape) == 1) return;
  for (const Shape* element : shape.elements()) Add(*element, time);
}

// A tuple too large to be looked into is one place.
Place Places::Size(const Shape& shape) const {
  return shape.IsTuple() && shape.LeafCount() < kMostLeaves ? OffsetsOf(shape).back() : 1;
}

const std::vector<Place>& Places::OffsetsOf(const Shape& tuple) const {
  if (auto found = offsets_.find(&tuple); found != offsets_.end()) return found->second;
  std::vector<Place> offsets{1};
  for (const Shape* element : tuple.elements()) offsets.push_back(offsets.back() + Size(*element));
  return offsets_[&tuple] = std::move(offsets);
}

Part Places::Of(const Instruction& hlo) const {
  const int64_t time = timeline_.TimeOf(hlo);
  if (time < 0) return {};
  return {firsts_[static_cast<size_t>(time)], &hlo.shape()};
}

Part Places::Element(Part part, int64_t i) const {
  if (part.shape == nullptr || Size(*part.shape) == 1 || i < 0 || i >= std::ssize(part.shape->elements())) return {};
  return {part.place + OffsetsOf(*part.shape)[static_cast<size_t>(i)], &part.shape->element(i)};
}

Part Places::At(Part part, std::span<const int64_t> index) const {
  for (int64_t i : index) part = Element(part, i);
  return part;
}

ShapeIndex Places::IndexOf(Place place) const {
  ShapeIndex index;
  Part part{firsts_[static_cast<size_t>(times_[place])], &InstructionAt(place).shape()};
  while (part.place != place) {
    const std::vector<Place>& offsets = OffsetsOf(*part.shape);
    const auto after = std::upper_bound(offsets.begin(), offsets.end(), place - part.place);
    index.push_back(after - offsets.begin() - 1);
    part = Element(part, index.back());
  }
  return index;
}

}  // namespace shoal
