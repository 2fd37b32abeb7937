#include "kernels/arrays/doubles.h"

#include <algorithm>

#include "kernels/arrays/floats.h"

namespace shoal::internal {

std::vector<double> ToDoubles(const Array& array) {
  if (array.type() == ElementType::kF64) {
    std::span<const double> elements = array.As<double>();
    return {elements.begin(), elements.end()};
  }
  std::vector<float> floats(static_cast<size_t>(array.count()));
  DecodeFloats(array.type(), array.data(), floats.data(), array.count());
  return {floats.begin(), floats.end()};
}

Array FromDoubles(ElementType type, Ints dims, const std::vector<double>& numbers) {
  Array array(type, dims);
  if (type == ElementType::kF64) {
    std::copy(numbers.begin(), numbers.end(), array.Mutable<double>().begin());
  } else if (type == ElementType::kF32) {
    std::transform(numbers.begin(), numbers.end(), array.Mutable<float>().begin(),
                   [](double number) { return static_cast<float>(number); });
  } else {
    EncodeDoubles(type, numbers.data(), array.mutable_data(), array.count());
  }
  return array;
}

template <>
std::vector<double> ToNumbers(const Array& array) {
  return ToDoubles(array);
}

template <>
std::vector<std::complex<double>> ToNumbers(const Array& array) {
  if (array.type() == ElementType::kC64) {
    std::span<const std::complex<float>> elements = array.As<std::complex<float>>();
    return {elements.begin(), elements.end()};
  }
  std::span<const std::complex<double>> elements = array.As<std::complex<double>>();
  return {elements.begin(), elements.end()};
}

template <>
Array FromNumbers(ElementType type, Ints dims, const std::vector<double>& numbers) {
  return FromDoubles(type, dims, numbers);
}

template <>
Array FromNumbers(ElementType type, Ints dims, const std::vector<std::complex<double>>& numbers) {
  Array array(type, dims);
  if (type == ElementType::kC64) {
    std::transform(numbers.begin(), numbers.end(), array.Mutable<std::complex<float>>().begin(),
                   [](std::complex<double> number) { return std::complex<float>(number); });
  } else {
    std::copy(numbers.begin(), numbers.end(), array.Mutable<std::complex<double>>().begin());
  }
  return array;
}

}  // namespace shoal::internal
