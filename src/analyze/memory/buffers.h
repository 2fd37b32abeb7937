// The values that share a buffer, and their live ranges.
#pragma once

#include "analyze/memory/positions.h"

namespace shoal::internal {

// An array, or a tuple's table of pointers. One instruction defines it, others may forward it.
struct LiveValue {
  PositionId position = 0;  // of its definition
  const Instruction* hlo = nullptr;
  const Shape* shape = nullptr;
  int64_t bytes = 0;
  int64_t start = 0, end = 0;  // times on the timeline, both inclusive
  uint32_t buffer = 0;
};

// Values that use the same memory one after the other: the state of a loop in successive iterations, in-place
// updates, a donated argument and its output.
struct SharedBuffer {
  std::vector<uint32_t> values;  // sorted by start
  int64_t bytes = 0;             // of the largest value
  int64_t memory_space = 0;
  bool is_argument = false, is_constant = false, is_tuple = false;
  bool is_output = false;   // the entry's result or part of it
  bool is_donated = false;  // an argument that is aliased with an output
};

class Buffers {
 public:
  Buffers(const Module& module, const Timeline& timeline);

  const std::vector<LiveValue>& values() const { return values_; }
  const std::vector<SharedBuffer>& buffers() const { return buffers_; }
  const PositionTable& positions() const { return positions_; }
  // The value at a position.
  uint32_t ValueAt(PositionId position) const { return value_at_[position]; }

 private:
  class Builder;

  PositionTable positions_;
  std::vector<LiveValue> values_;
  std::vector<SharedBuffer> buffers_;
  std::vector<uint32_t> value_at_;
};

}  // namespace shoal::internal
