// Contraction of two arrays: the basis of dot, convolution and the libraries' GEMMs.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

// The batch and contracting dimensions of two arrays, in pairs; all other dimensions are free.
struct ContractionDims {
  Ints lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
};

// The type in which a contraction is summed: the widest of the three types, at least f32 if one is a float, and at
// least a byte if all are integers.
ElementType SumType(ElementType lhs, ElementType rhs, ElementType result);

// result[batch, lhs free, rhs free] = Σ over the contracting dimensions of lhs * rhs, summed in SumType and rounded
// once.
Array DotGeneral(const Array& lhs, const Array& rhs, const ContractionDims& dims, ElementType result);

// DotGeneral on bf16 that rounds every product and every partial sum to bf16.
Array DotRoundingEachStep(const Array& lhs, const Array& rhs, const ContractionDims& dims);

// The dimension of the lhs that is divided into groups. If it is a free dimension, the rhs has a separate matrix for
// each group, along its group dimension.
struct RaggedDims {
  ContractionDims product;
  int64_t lhs_ragged = 0;
  Ints rhs_group;
};

// The dimensions of the lhs for which group_sizes may have a row per index: the batch dimensions, then the dimensions
// of the same kind (free or contracting) as the ragged dimension that precede it.
Dims OuterDims(const Array& lhs, const RaggedDims& dims);

// One contraction per group, over consecutive ranges of the ragged dimension whose lengths are group_sizes. If that
// dimension is contracting, the groups become the first dimension of the result. Elements outside all groups are zero,
// or count as zero in a sum. Groups along a batch dimension have no effect.
Array RaggedDotGeneral(const Array& lhs, const Array& rhs, const Array& group_sizes, const RaggedDims& dims,
                    ElementType result);

// operand[i] * scale[block of i]; the sizes of the scale divide those of the operand. Quantised operands are widened
// first.
Array ApplyBlockScales(const Array& operand, const Array& scale);

}  // namespace shoal::internal
