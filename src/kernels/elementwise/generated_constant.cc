#include "kernels/elementwise/generated_constant.h"

#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {

Array GeneratedConstant(const Shape& shape) {
  Array numbers(ElementType::kF32, shape.dims());
  std::span<float> out = numbers.Mutable<float>();
  const bool is_float = IsFloat(shape.element_type()) || IsComplex(shape.element_type());
  for (size_t i = 0; i < out.size(); ++i) {
    const auto mixed = static_cast<uint32_t>((i + 1) * 2654435769u) >> 16;
    out[i] = is_float ? static_cast<float>(mixed) * 0x1p-16f - 0.5f : static_cast<float>(mixed & 1u);
  }
  return Converted(numbers, shape.element_type());
}

}  // namespace shoal::internal
