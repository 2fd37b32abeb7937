// The product of two arrays: what dot, convolution and the libraries' matrix products come down to.
#pragma once

#include "kernels/array.h"

namespace shoal {

// Which dimensions of the two arrays belong together; those that are not named are free.
struct ProductDims {
  Ints lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
};

// The type in which products of these are summed: the widest of the three; at least f32 where one is a float, and at
// least a byte where all are integers.
ElementType SumType(ElementType lhs, ElementType rhs, ElementType result);

// result[batch, lhs free, rhs free] = Σ over the contracting dimensions of lhs * rhs, summed in SumType and rounded
// once.
Array Product(const Array& lhs, const Array& rhs, const ProductDims& dims, ElementType result);

// The same of bf16, but every product is rounded to bf16 and so is the sum after every step.
Array StepwiseProduct(const Array& lhs, const Array& rhs, const ProductDims& dims);

}  // namespace shoal
