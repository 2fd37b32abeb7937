// Parts of DescribeKernel, by what the instruction is.
#pragma once

#include "analyze/cost/kernel_descriptor.h"
#include "analyze/cost/kernel_config.h"

namespace shoal::internal {

// The dimension whose elements lie side by side; -1 of a scalar.
int64_t MinorOf(const Shape& shape);
bool Has(Ints dims, int64_t d);
// Sizes of the dimensions that lie together at the minor end, all reduced or all kept.
double MinorRun(const Shape& shape, Ints reduced);

// A reduction by the compiler's own emitter.
void DescribeNativeReduce(const Instruction& reduce, KernelDescriptor& kernel);
// A custom call.
void DescribeCall(const Instruction& call, const ConfigJson& config, KernelDescriptor& kernel);

}  // namespace shoal::internal
