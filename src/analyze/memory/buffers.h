// Which values share a buffer, and from when to when each is needed.
#pragma once

#include "analyze/memory/positions.h"

namespace shoal::internal {

// An array or a tuple's table of pointers: one instruction makes it, others may hand it on.
struct LiveValue {
  PositionId place = 0;  // where it is made
  const Instruction* hlo = nullptr;
  const Shape* shape = nullptr;
  int64_t bytes = 0;
  int64_t start = 0, end = 0;  // times of the timeline, both included
  uint32_t buffer = 0;
};

// Values that lie in the same memory one after the other: the state of a loop from round to round, what is updated
// in place, an argument and the output it is given for.
struct SharedBuffer {
  std::vector<uint32_t> values;  // by start
  int64_t bytes = 0;             // of the largest
  int64_t memory_space = 0;
  bool is_argument = false, is_constant = false, is_tuple = false;
  bool is_output = false;   // the entry's result or a part of it
  bool is_donated = false;  // an argument with an alias among the outputs
};

class Buffers {
 public:
  Buffers(const Module& module, const Timeline& timeline);

  const std::vector<LiveValue>& values() const { return values_; }
  const std::vector<SharedBuffer>& buffers() const { return buffers_; }
  const PositionTable& places() const { return places_; }
  // The value at a place.
  uint32_t ValueAt(PositionId place) const { return value_at_[place]; }

 private:
  class Builder;

  PositionTable places_;
  std::vector<LiveValue> values_;
  std::vector<SharedBuffer> buffers_;
  std::vector<uint32_t> value_at_;
};

}  // namespace shoal::internal
