// Assigns buffers to allocations by XLA's rules. A buffer gets its own allocation for the whole run, reuses an existing
// allocation, or goes to the heap of temporaries.
#pragma once

#include <set>

#include "analyze/memory/buffers.h"
#include "core/ops/buffer_reuse.h"

namespace shoal::internal {

struct Allocation {
  int64_t bytes = 0;
  int64_t memory_space = 0;
  bool is_argument = false, is_constant = false, is_tuple = false, is_output = false, is_donated = false;
  uint32_t first_buffer = 0;                      // the buffer for which the allocation was created
  std::set<std::pair<int64_t, uint32_t>> values;  // (start, value) for all values in the allocation

  // True if no other buffer may use this allocation.
  bool is_fixed() const { return is_constant || is_tuple || (is_argument && !is_donated); }
};

class Assignment {
 public:
  static constexpr uint32_t kHeap = UINT32_MAX;

  Assignment(const Buffers& buffers, const Timeline& timeline, BufferReuse& reuse);

  const std::vector<Allocation>& allocations() const { return allocations_; }
  // The index of the buffer's allocation, or kHeap.
  uint32_t Of(uint32_t buffer) const { return allocation_of_[buffer]; }

 private:
  std::vector<uint32_t> PostOrderNumbers() const;
  std::vector<uint32_t> LargestFirst() const;
  void Assign(uint32_t buffer);
  bool TryOperands(uint32_t buffer);
  bool TryAllocations(uint32_t buffer);
  // Places the buffer in the allocation if it fits and does not interfere with another value.
  bool Try(uint32_t allocation, uint32_t buffer);
  bool Interferes(const Allocation& allocation, const LiveValue& value);
  // True if `after`, which is defined at the last use of `before`, may overwrite `before`.
  bool CanOverwrite(const LiveValue& before, const LiveValue& after);
  void New(uint32_t buffer);
  void Put(uint32_t allocation, uint32_t buffer);

  const Buffers& buffers_;
  const Timeline& timeline_;
  BufferReuse& reuse_;
  std::vector<Allocation> allocations_;
  std::vector<uint32_t> allocation_of_;
  std::vector<uint32_t> reusable_;  // allocations of donated arguments and outputs
  int64_t tries_ = 0;
};

}  // namespace shoal::internal
