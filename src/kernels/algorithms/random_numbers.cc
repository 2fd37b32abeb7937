#include "kernels/algorithms/random_numbers.h"

#include <cmath>
#include <numbers>

#include "kernels/arrays/doubles.h"

namespace shoal::internal {
namespace {

double Unit(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }  // in [0, 1)

template <class T>
void FillIntegers(std::span<const uint64_t> words, uint64_t low, uint64_t range, Array& array) {
  std::span<T> out = array.Mutable<T>();
  for (size_t i = 0; i < words.size(); ++i)
    out[i] = static_cast<T>(
        low + (range == 0 ? 0 : static_cast<uint64_t>((static_cast<unsigned __int128>(words[i]) * range) >> 64)));
}

}  // namespace

Array UniformFloats(std::span<const uint64_t> words, ElementType type, Ints dims, double low, double high) {
  std::vector<double> numbers;
  for (uint64_t word : words) numbers.push_back(low + Unit(word) * (high - low));
  // The upper bound is exclusive, but rounding may reach it.
  Array array = FromDoubles(type, dims, numbers);
  if (!(low < high)) return array;
  numbers = ToDoubles(array);
  for (double& number : numbers)
    if (number >= high) number = low;
  return FromDoubles(type, dims, numbers);
}

Array NormalFloats(std::span<const uint64_t> words, ElementType type, Ints dims, double mean, double deviation) {
  std::vector<double> numbers(static_cast<size_t>(ElementCount(dims)));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t pair = i / 2 * 2;
    const double radius = std::sqrt(-2 * std::log(1 - Unit(words[pair])));
    const double angle = 2 * std::numbers::pi * Unit(words[pair + 1]);
    numbers[i] = mean + deviation * radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
  }
  return FromDoubles(type, dims, numbers);
}

Array UniformIntegers(std::span<const uint64_t> words, ElementType type, Ints dims, const Array& low,
                      const Array& high) {
  Array array(type, dims);
  const auto first = static_cast<uint64_t>(IntAt(low, 0)), last = static_cast<uint64_t>(IntAt(high, 0));
  const bool empty = IsSigned(type) ? IntAt(high, 0) <= IntAt(low, 0) : last <= first;
  const uint64_t range = empty ? 0 : last - first + (type == ElementType::kPred ? 1 : 0);
  if (array.element_bytes() == 1) FillIntegers<uint8_t>(words, first, range, array);
  if (array.element_bytes() == 2) FillIntegers<uint16_t>(words, first, range, array);
  if (array.element_bytes() == 4) FillIntegers<uint32_t>(words, first, range, array);
  if (array.element_bytes() == 8) FillIntegers<uint64_t>(words, first, range, array);
  return array;
}

}  // namespace shoal::internal
