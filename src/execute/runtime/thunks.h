// The thunks of an Executable, which run compiled code in place of evaluators.
#pragma once

#include "compile/program/program.h"
#include "execute/interp/thunk.h"
#include "execute/runtime/sequence.h"

namespace shoal::internal {

// If there are several kernels, each computes a part of the result. For a split reduction (SplitReduction), the only
// kernel is the partial kernel, and `combine` is the combining kernel with its code.
std::unique_ptr<Thunk> NewKernelThunk(const Instruction& hlo, std::span<const LoadedKernel> kernels,
                                      LoadedKernel combine);
// The routines must outlive the thunks.
std::unique_ptr<Thunk> NewLoopThunk(const Routine& routine, LoadedFunction function);
std::unique_ptr<Thunk> NewSequenceThunk(const Routine& sequence, LoadedSequence code);
std::unique_ptr<Thunk> NewLibraryThunk(const Instruction& hlo, LoadedLibrary library);
// True for contractions that XLA:CPU's library sums in an order that only the evaluators reproduce, depending on the
// numerics of the run.
bool SumsNarrowFloats(const Instruction& hlo);

}  // namespace shoal::internal
