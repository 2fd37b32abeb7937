// Helpers of DescribeKernel for specific kinds of instructions.
#pragma once

#include "analyze/cost/kernel_descriptor.h"
#include "analyze/cost/kernel_config.h"

namespace shoal::internal {

// The dimension whose elements are contiguous in memory, or -1 for a scalar.
int64_t MinorDimension(const Shape& shape);
bool Has(Ints dims, int64_t d);
// Product of the sizes of the minor-most dimensions, up to the first change between reduced and kept dimensions.
double MinorRun(const Shape& shape, Ints reduced);

// Describes a reduction kernel that XLA's own emitter generates (not Triton).
void DescribeNativeReduce(const Instruction& reduce, KernelDescriptor& kernel);
void DescribeCall(const Instruction& call, const ConfigJson& config, KernelDescriptor& kernel);

}  // namespace shoal::internal
