// What an engine runs in place of an evaluator.
#pragma once

#include "base/thread_pool.h"
#include "interp/compiled_step.h"
#include "program/program.h"

namespace shoal {

std::unique_ptr<CompiledStep> NewKernelStep(const Instruction& hlo, const FusedKernel& kernel, KernelCode code,
                                            KernelCode combine, ThreadPool& pool);
std::unique_ptr<CompiledStep> NewLibraryStep(const Instruction& hlo, LibraryFunction function, ThreadPool& pool);

// Where one row is so long that several threads should reduce it: the kernel that combines what they found, over
// [pieces, rows]. Null where rows are enough to share out.
std::unique_ptr<FusedKernel> CombiningKernel(const FusedKernel& kernel);

}  // namespace shoal
