#include "kernels/linalg/activation.h"

#include <algorithm>
#include <cmath>

#include "kernels/arrays/floats.h"

namespace shoal::internal {
namespace {

template <class T>
T Apply(Activation activation, T x, T slope) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x > 0 || std::isnan(x) ? x : T{0};
    case Activation::kRelu6:
      return std::isnan(x) ? x : std::clamp(x, T{0}, T{6});
    case Activation::kLeakyRelu:
      return x > 0 ? x : slope * x;
    case Activation::kElu:
      return x > 0 ? x : slope * std::expm1(x);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kGeluTanh: {
      const T root = static_cast<T>(0.7978845608028654);  // √(2 / π)
      return x / 2 * (1 + std::tanh(root * (x + static_cast<T>(0.044715) * x * x * x)));
    }
    case Activation::kGeluErf:
      return x / 2 * (1 + std::erf(x * static_cast<T>(0.7071067811865476)));
    case Activation::kHardSwish:
      return x * std::clamp(x / 6 + T{1} / 2, T{0}, T{1});
    case Activation::kHardSigmoid:
      return std::clamp(x / 6 + T{1} / 2, T{0}, T{1});
  }
  return x;
}

float MaxFinite(ElementType type) {
  float largest = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const auto bits = static_cast<std::byte>(byte);
    float value = 0;
    DecodeFloats(type, &bits, &value, 1);
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

}  // namespace

void Activate(Activation activation, Array& array, double slope) {
  if (activation == Activation::kNone) return;
  if (array.type() == ElementType::kF32) {
    for (float& x : array.Mutable<float>()) x = Apply(activation, x, static_cast<float>(slope));
  } else if (array.type() == ElementType::kF64) {
    for (double& x : array.Mutable<double>()) x = Apply(activation, x, slope);
  }
}

void ClampToFinite(Array& array, ElementType type) {
  if (array.type() != ElementType::kF32 || !IsFloat(type) || BitWidth(type) > 8) return;
  const float max_finite = MaxFinite(type);
  for (float& x : array.Mutable<float>())
    if (!std::isnan(x)) x = std::clamp(x, -max_finite, max_finite);
}

}  // namespace shoal::internal
