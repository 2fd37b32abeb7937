// The functions that libraries apply to the results of products.
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

// In place, on arrays of f32 or f64; others stay as they are. `slope` is that of a leaky relu below zero, or elu's.
void Activate(Activation activation, Array& array, double slope = 0);

// What is too large for a finite number of `type` becomes the largest one; in place, on f32.
void ClampToFinite(Array& array, ElementType type);

}  // namespace shoal::internal
