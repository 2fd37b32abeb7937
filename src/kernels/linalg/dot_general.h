// The product of two arrays: what dot, convolution and the libraries' matrix products come down to.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

// Which dimensions of the two arrays belong together; those that are not named are free.
struct ContractionDims {
  Ints lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
};

// The type in which products of these are summed: the widest of the three; at least f32 where one is a float, and at
// least a byte where all are integers.
ElementType SumType(ElementType lhs, ElementType rhs, ElementType result);

// result[batch, lhs free, rhs free] = Σ over the contracting dimensions of lhs * rhs, summed in SumType and rounded
// once.
Array DotGeneral(const Array& lhs, const Array& rhs, const ContractionDims& dims, ElementType result);

// The same of bf16, but every product is rounded to bf16 and so is the sum after every step.
Array DotRoundingEachStep(const Array& lhs, const Array& rhs, const ContractionDims& dims);

// Which dimension of the lhs is divided into groups. If it is a free one, the rhs has one of its own for each group,
// along its group dimension.
struct RaggedDims {
  ContractionDims product;
  int64_t lhs_ragged = 0;
  Ints rhs_group;
};

// The dimensions of the lhs for each index of which group sizes may have a row of their own: batch dimensions, then
// those of the ragged one's kind, as far as they come before it.
Dims OuterDims(const Array& lhs, const RaggedDims& dims);

// As many products as there are groups, each of a stretch of the ragged dimension, as long as group_sizes say. Where
// that dimension is contracted, the groups become the first dimension of the result. What no group covers is zero, or
// counts as zero in a sum; groups along a batch dimension change nothing.
Array RaggedDotGeneral(const Array& lhs, const Array& rhs, const Array& group_sizes, const RaggedDims& dims,
                    ElementType result);

// operand[i] * scale[block of i]; the sizes of the scale divide those of the operand. Quantised operands are widened
// first.
Array ApplyBlockScales(const Array& operand, const Array& scale);

}  // namespace shoal::internal
