// Compiled kernels and library functions, ready to run.
#pragma once

#include <algorithm>
#include <span>

#include "compile/library/library.h"
#include "core/base/thread_pool.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

struct LoadedKernel {
  const FusedKernel* kernel = nullptr;
  KernelCode code = nullptr;
};

// A library function; null if all members are.
struct LoadedLibrary {
  LibraryFunction function = nullptr;
  AppliedLibraryFunction applied_function = nullptr;
  KernelCode applied = nullptr;  // the function that `applied_function` applies
  std::shared_ptr<const PreparedFunction> prepared;

  bool IsNull() const { return function == nullptr && applied_function == nullptr; }
  Status Run(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) const {
    if (prepared != nullptr) {
      absl::InlinedVector<void*, 8> buffers;
      for (const Array& operand : operands) buffers.push_back(const_cast<std::byte*>(operand.data()));
      for (Array& result : results) buffers.push_back(result.mutable_data());
      prepared->Run(buffers.data(), pool);
      return {};
    }
    return function != nullptr ? function(hlo, operands, results, pool) : applied_function(hlo, operands, results, applied, pool);
  }
};

// Runs a kernel in the tasks of its schedule.
class Launch {
 public:
  explicit Launch(LoadedKernel launched) : code_(launched.code) {
    const FusedKernel& kernel = *launched.kernel;
    rows_ = kernel.RowCount();
    lanes_ = kernel.inner_loops.back();
    row_block_ = kernel.schedule.row_block;
    lane_block_ = kernel.schedule.lane_block;
  }

  int64_t Blocks() const { return (rows_ + row_block_ - 1) / row_block_ * LaneBlocks(); }

  void RunBlock(void* const* buffers, int64_t i) const {
    const int64_t row = i / LaneBlocks() * row_block_, lane = i % LaneBlocks() * lane_block_;
    code_(buffers, row, std::min(row + row_block_, rows_), lane, std::min(lane + lane_block_, lanes_));
  }

  void Run(void* const* buffers, ThreadPool& pool) const {
    pool.Run(Blocks(), [&](int64_t i) { RunBlock(buffers, i); });
  }

 private:
  int64_t LaneBlocks() const { return (lanes_ + lane_block_ - 1) / lane_block_; }

  KernelCode code_;
  int64_t rows_ = 1, lanes_ = 1, row_block_ = 1, lane_block_ = 1;
};

}  // namespace shoal::internal
