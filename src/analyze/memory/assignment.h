// Which buffers get memory of their own for the whole run, which lie in memory that others leave, and which are
// left for the heap of temporaries: XLA's rules.
#pragma once

#include <set>

#include "analyze/memory/buffers.h"
#include "core/ops/buffer_reuse.h"

namespace shoal::internal {

struct Allocation {
  int64_t bytes = 0;
  int64_t memory_space = 0;
  bool is_argument = false, is_constant = false, is_tuple = false, is_output = false, is_donated = false;
  uint32_t first_buffer = 0;                      // the one it was made for
  std::set<std::pair<int64_t, uint32_t>> values;  // (start, value) of all that lie in it

  // Others may not write there.
  bool is_fixed() const { return is_constant || is_tuple || (is_argument && !is_donated); }
};

class Assignment {
 public:
  static constexpr uint32_t kHeap = UINT32_MAX;

  Assignment(const Buffers& buffers, const Timeline& timeline, BufferReuse& overwriting);

  const std::vector<Allocation>& allocations() const { return allocations_; }
  // The number of its allocation, or kHeap.
  uint32_t Of(uint32_t buffer) const { return allocation_of_[buffer]; }

 private:
  // Of each step.
  std::vector<uint32_t> Positions() const;
  std::vector<uint32_t> LargestFirst() const;
  void Assign(uint32_t buffer);
  bool TryOperands(uint32_t buffer);
  bool TryAllocations(uint32_t buffer);
  // Puts the buffer there if it fits and nobody is in the way.
  bool Try(uint32_t allocation, uint32_t buffer);
  bool Interferes(const Allocation& allocation, const LiveValue& value);
  // Whether `after`, which is made when `before` is needed last, may take its place.
  bool TakesPlaceOf(const LiveValue& before, const LiveValue& after);
  void New(uint32_t buffer);
  void Put(uint32_t allocation, uint32_t buffer);

  const Buffers& buffers_;
  const Timeline& timeline_;
  BufferReuse& overwriting_;
  std::vector<Allocation> allocations_;
  std::vector<uint32_t> allocation_of_;
  std::vector<uint32_t> reusable_;  // donated arguments, and outputs
  int64_t tries_ = 0;
};

}  // namespace shoal::internal
