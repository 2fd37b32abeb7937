// Finds the values that share a buffer, and their live ranges.
#pragma once

#include "analyze/memory/positions.h"

namespace shoal::internal {

// An array, or the table of pointers of a tuple. One instruction defines the value, and others may forward it.
struct LiveValue {
  PositionId position = 0;  // position of the definition
  const Instruction* hlo = nullptr;
  const Shape* shape = nullptr;
  int64_t bytes = 0;
  int64_t start = 0, end = 0;  // times on the timeline, both inclusive
  uint32_t buffer = 0;
};

// Values that use the same memory one after another, such as the state of a loop in successive iterations, in-place
// updates, or a donated argument and its output.
struct SharedBuffer {
  std::vector<uint32_t> values;  // sorted by start
  int64_t bytes = 0;             // bytes of the largest value
  int64_t memory_space = 0;
  bool is_argument = false, is_constant = false, is_tuple = false;
  bool is_output = false;   // true if the buffer holds the entry's result or a part of this result
  bool is_donated = false;  // true for an argument that aliases an output
};

class Buffers {
 public:
  Buffers(const Module& module, const Timeline& timeline);

  const std::vector<LiveValue>& values() const { return values_; }
  const std::vector<SharedBuffer>& buffers() const { return buffers_; }
  const PositionTable& positions() const { return positions_; }
  // The index in values() of the value at a position.
  uint32_t ValueAt(PositionId position) const { return value_at_[position]; }

 private:
  class Builder;

  PositionTable positions_;
  std::vector<LiveValue> values_;
  std::vector<SharedBuffer> buffers_;
  std::vector<uint32_t> value_at_;
};

}  // namespace shoal::internal
