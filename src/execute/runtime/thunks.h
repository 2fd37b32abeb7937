// The thunks of an Executable, which run compiled code in place of evaluators.
#pragma once

#include "compile/program/program.h"
#include "execute/interp/thunk.h"

namespace shoal::internal {

struct LoadedKernel {
  const FusedKernel* kernel = nullptr;
  KernelCode code = nullptr;
};
// If there are several kernels, each computes a part of the result. For a split reduction (SplitReduction), the only
// kernel is the partial kernel, and `combine` is the combining kernel with its code.
std::unique_ptr<Thunk> NewKernelThunk(const Instruction& hlo, std::span<const LoadedKernel> kernels,
                                      LoadedKernel combine);
// The routine must outlive the thunk.
std::unique_ptr<Thunk> NewLoopThunk(const Routine& routine, RoutineCode code);
// `codes` has the code of the sequence's kernels, in order.
std::unique_ptr<Thunk> NewSequenceThunk(const Routine& sequence, std::span<const KernelCode> codes);
std::unique_ptr<Thunk> NewLibraryThunk(const Instruction& hlo, LibraryFunction function);
std::unique_ptr<Thunk> NewLibraryThunk(const Instruction& hlo, AppliedLibraryFunction function, KernelCode applied);

}  // namespace shoal::internal
