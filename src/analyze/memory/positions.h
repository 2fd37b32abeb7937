// Numbers the positions of values (XLA: HloPosition): each instruction of a timeline and each part of its result tuple.
#pragma once

#include <span>

#include "absl/container/node_hash_map.h"
#include "analyze/memory/timeline.h"

namespace shoal::internal {

using PositionId = uint32_t;

// A part of an instruction's value. The nested parts of `shape` have consecutive positions from `position` on, in
// depth-first order, with each tuple before its elements.
struct Part {
  PositionId position = 0;
  const Shape* shape = nullptr;  // null if the part does not exist
};

class PositionTable {
 public:
  explicit PositionTable(const Timeline& timeline);

  size_t count() const { return shapes_.size(); }
  const Shape& ShapeAt(PositionId position) const { return *shapes_[position]; }
  int64_t TimeAt(PositionId position) const { return times_[position]; }
  const Instruction& InstructionAt(PositionId position) const {
    return *timeline_.steps()[static_cast<size_t>(times_[position])];
  }
  // The path of the position in the result tuple of the instruction.
  ShapeIndex IndexOf(PositionId position) const;

  // Returns a part without a shape if the instruction is not in the timeline.
  Part Of(const Instruction& hlo) const;
  Part Element(Part part, int64_t i) const;
  Part At(Part part, std::span<const int64_t> index) const;
  // Number of positions that the shape occupies.
  PositionId Size(const Shape& shape) const;

 private:
  void Add(const Shape& shape, int64_t time);

  const Timeline& timeline_;
  std::vector<PositionId> firsts_;  // the first position of each step
  std::vector<const Shape*> shapes_;
  std::vector<int64_t> times_;
  using Offsets = std::vector<PositionId>;
  // The offset of each element of a tuple, and the end of the last element. Null if the shape has only one position.
  const Offsets* OffsetsOf(const Shape& shape) const;
  mutable absl::node_hash_map<const Shape*, Offsets> offsets_;
  mutable std::pair<const Shape*, const Offsets*> latest_;  // cached, since queries often repeat a shape
};

}  // namespace shoal::internal
