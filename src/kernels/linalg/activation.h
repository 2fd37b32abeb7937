// The activation functions that libraries apply to the result of a GEMM or a convolution (epilogues).
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

enum class Activation : uint8_t {
  kNone,
  kRelu,
  kRelu6,
  kLeakyRelu,
  kElu,
  kSigmoid,
  kTanh,
  kSilu,
  kGeluTanh,
  kGeluErf,
  kHardSwish,
  kHardSigmoid,
};

// Works in place on arrays of f32 or f64; others are unchanged. `slope` is the factor of leaky relu or elu below zero.
void Activate(Activation activation, Array& array, double slope = 0);

// Clamps f32 elements in place to the finite range of `type`, a float of at most eight bits; NaN stays.
void ClampToFinite(Array& array, ElementType type);

}  // namespace shoal::internal
