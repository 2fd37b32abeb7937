// Parts of DescribeKernel for several kinds of instructions.
#pragma once

#include "analyze/cost/kernel_descriptor.h"
#include "analyze/cost/kernel_config.h"

namespace shoal::internal {

// The dimension whose elements are contiguous in memory; -1 for a scalar.
int64_t MinorDimension(const Shape& shape);
bool Has(Ints dims, int64_t d);
// Product of the sizes of the minor-most dimensions that are all reduced, or all kept.
double MinorRun(const Shape& shape, Ints reduced);

// Describes a reduction by XLA's own emitter.
void DescribeNativeReduce(const Instruction& reduce, KernelDescriptor& kernel);
// Describes a custom call.
void DescribeCall(const Instruction& call, const ConfigJson& config, KernelDescriptor& kernel);

}  // namespace shoal::internal
