// Random numbers from random words of 64 bits.
#pragma once

#include "kernels/arrays/array.h"

namespace shoal::internal {

// In [low, high), from a word for each.
Array UniformFloats(std::span<const uint64_t> words, ElementType type, Ints dims, double low, double high);
// Box and Muller: two normal numbers from two uniform ones. A word for each, and one more.
Array NormalFloats(std::span<const uint64_t> words, ElementType type, Ints dims, double mean, double deviation);
// In [low, high), or low where that is empty. A pred is true half of the time unless both ends are the same.
Array UniformIntegers(std::span<const uint64_t> words, ElementType type, Ints dims, const Array& low,
                      const Array& high);

}  // namespace shoal::internal
