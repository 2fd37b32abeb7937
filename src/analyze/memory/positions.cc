#include "analyze/memory/positions.h"

#include <algorithm>

namespace shoal::internal {

PositionTable::PositionTable(const Timeline& timeline) : timeline_(timeline) {
  for (size_t i = 0; i < timeline.steps().size(); ++i) {
    firsts_.push_back(static_cast<PositionId>(shapes_.size()));
    Add(timeline.steps()[i]->shape(), static_cast<int64_t>(i));
  }
}

void PositionTable::Add(const Shape& shape, int64_t time) {
  shapes_.push_back(&shape);
  times_.push_back(time);
  if (OffsetsOf(shape) == nullptr) return;
  for (const Shape* element : shape.elements()) Add(*element, time);
}

PositionId PositionTable::Size(const Shape& shape) const {
  const Offsets* offsets = OffsetsOf(shape);
  return offsets == nullptr ? 1 : offsets->back();
}

const PositionTable::Offsets* PositionTable::OffsetsOf(const Shape& shape) const {
  if (latest_.first == &shape) return latest_.second;
  // A tuple that is too large to expand is a single position.
  if (!shape.IsTuple() || shape.LeafCount() >= kMaxLeaves) return nullptr;
  auto found = offsets_.find(&shape);
  if (found == offsets_.end()) {
    Offsets offsets{1};
    for (const Shape* element : shape.elements()) offsets.push_back(offsets.back() + Size(*element));
    found = offsets_.emplace(&shape, std::move(offsets)).first;
  }
  latest_ = {&shape, &found->second};
  return latest_.second;
}

Part PositionTable::Of(const Instruction& hlo) const {
  const int64_t time = timeline_.TimeOf(hlo);
  if (time < 0) return {};
  return {firsts_[static_cast<size_t>(time)], &hlo.shape()};
}

Part PositionTable::Element(Part part, int64_t i) const {
  if (part.shape == nullptr || i < 0 || i >= std::ssize(part.shape->elements())) return {};
  const Offsets* offsets = OffsetsOf(*part.shape);
  if (offsets == nullptr) return {};
  return {part.position + (*offsets)[static_cast<size_t>(i)], &part.shape->element(i)};
}

Part PositionTable::At(Part part, std::span<const int64_t> index) const {
  for (int64_t i : index) part = Element(part, i);
  return part;
}

ShapeIndex PositionTable::IndexOf(PositionId position) const {
  ShapeIndex index;
  Part part{firsts_[static_cast<size_t>(times_[position])], &InstructionAt(position).shape()};
  while (part.position != position) {
    const Offsets& offsets = *OffsetsOf(*part.shape);
    const auto after = std::upper_bound(offsets.begin(), offsets.end(), position - part.position);
    index.push_back(after - offsets.begin() - 1);
    part = Element(part, index.back());
  }
  return index;
}

}  // namespace shoal::internal
