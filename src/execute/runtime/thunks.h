// What an engine runs in place of an evaluator.
#pragma once

#include "compile/program/program.h"
#include "core/base/thread_pool.h"
#include "execute/interp/thunk.h"

namespace shoal::internal {

// A kernel with its code.
struct LoadedKernel {
  const FusedKernel* kernel = nullptr;
  KernelCode code = nullptr;
};
// Several kernels give a part of the result each. `combine` has code where the one kernel was cut (SplitReduction): that is
// the partial one then.
std::unique_ptr<Thunk> NewKernelStep(const Instruction& hlo, std::span<const LoadedKernel> kernels,
                                            LoadedKernel combine, ThreadPool& pool);
// The routine must outlive the step.
std::unique_ptr<Thunk> NewRoutineStep(const Routine& routine, RoutineCode code, ThreadPool& pool);
// `codes`: of the sequence's kernels.
std::unique_ptr<Thunk> NewSequenceStep(const Routine& sequence, std::span<const KernelCode> codes);
std::unique_ptr<Thunk> NewLibraryStep(const Instruction& hlo, LibraryFunction function, ThreadPool& pool);

}  // namespace shoal::internal
