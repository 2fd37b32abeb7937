// Random numbers from random words of 64 bits.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

// Uniform numbers in [low, high). Takes one word per element.
Array UniformFloats(std::span<const uint64_t> words, ElementType type, Ints dims, double low, double high);
// Normal numbers by the Box-Muller method, which makes two numbers from two words. Takes one word more than elements.
Array NormalFloats(std::span<const uint64_t> words, ElementType type, Ints dims, double mean, double deviation);
// Uniform integers in [low, high), or `low` if the range is empty. A pred is true half the time unless low equals high.
Array UniformIntegers(std::span<const uint64_t> words, ElementType type, Ints dims, const Array& low,
                      const Array& high);

}  // namespace shoal::internal
