// Where values can be: every instruction of a timeline, and every part of its tuple, has a number.
#pragma once

#include <span>

#include "absl/container/node_hash_map.h"
#include "analyze/memory/timeline.h"

namespace shoal::internal {

using PositionId = uint32_t;

// A part of an instruction's value: its shape's parts have the numbers from `place` on, depth first, itself before
// its elements.
struct Part {
  PositionId place = 0;
  const Shape* shape = nullptr;  // null: there is no such part
};

class PositionTable {
 public:
  explicit PositionTable(const Timeline& timeline);

  size_t count() const { return shapes_.size(); }
  const Shape& ShapeAt(PositionId place) const { return *shapes_[place]; }
  int64_t TimeAt(PositionId place) const { return times_[place]; }
  const Instruction& InstructionAt(PositionId place) const { return *timeline_.steps()[static_cast<size_t>(times_[place])]; }
  // The path into the instruction's tuple.
  ShapeIndex IndexOf(PositionId place) const;

  // Nothing where the instruction has no place.
  Part Of(const Instruction& hlo) const;
  Part Element(Part part, int64_t i) const;
  Part At(Part part, std::span<const int64_t> index) const;
  // How many places it takes.
  PositionId Size(const Shape& shape) const;

 private:
  void Add(const Shape& shape, int64_t time);

  const Timeline& timeline_;
  std::vector<PositionId> firsts_;  // of step number i
  std::vector<const Shape*> shapes_;
  std::vector<int64_t> times_;
  using Offsets = std::vector<PositionId>;
  // Where each element of a tuple begins, and where the last one ends; null for what is one place.
  const Offsets* OffsetsOf(const Shape& shape) const;
  mutable absl::node_hash_map<const Shape*, Offsets> offsets_;
  mutable std::pair<const Shape*, const Offsets*> latest_;  // whoever asks for one element asks for the next
};

}  // namespace shoal::internal
