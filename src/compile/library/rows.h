// The library functions by op. Each returns the function for an instruction, or null.
#pragma once

#include "compile/library/library.h"

namespace shoal::internal {

LibraryFunction ConcatenateFunction(const Instruction& hlo);
LibraryFunction ConvertFunction(const Instruction& hlo);
LibraryFunction ConvolutionFunction(const Instruction& hlo);
LibraryFunction DotFunction(const Instruction& hlo);
std::unique_ptr<const PreparedFunction> PreparedDot(const Instruction& hlo);
LibraryFunction DynamicSliceFunction(const Instruction& hlo);
LibraryFunction DynamicUpdateSliceFunction(const Instruction& hlo);
LibraryFunction FftFunction(const Instruction& hlo);
LibraryFunction GatherFunction(const Instruction& hlo);
LibraryFunction PadFunction(const Instruction& hlo);
LibraryFunction PrefixScanFunction(const Instruction& hlo);
LibraryFunction ScatterFunction(const Instruction& hlo);
LibraryFunction SelectAndScatterFunction(const Instruction& hlo);
LibraryFunction SortFunction(const Instruction& hlo);
LibraryFunction TopKFunction(const Instruction& hlo);
LibraryFunction TransposeFunction(const Instruction& hlo);
AppliedLibraryFunction FunctionScatterFunction(const Instruction& hlo);

// Converts the elements of `from` to the type of `to`.
void ConvertOnPool(const Array& from, Array& to, ThreadPool& pool);
// The array converted to the type of the sums, on the pool.
Array Widened(const Array& array, ThreadPool& pool, ElementType type = ElementType::kF32);

}  // namespace shoal::internal
