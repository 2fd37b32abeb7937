// Counter-based generators of random bits (Salmon et al., Parallel random numbers: as easy as 1, 2, 3), and the order
// in which XLA fills arrays from them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/arrays/array.h"

namespace shoal::internal {

// Threefry-2x32 with 20 rounds, Philox-4x32 with 10.
std::array<uint32_t, 2> ThreeFry(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter);
std::array<uint32_t, 4> Philox(std::array<uint32_t, 2> key, std::array<uint32_t, 4> counter);

// Fill `bits` and advance the state: {key, counter} for Threefry; {key, low counter, high counter} for Philox, where
// the key replaces a missing high counter. Elements narrower than 32 bits take the low bits of a 32-bit word.
void DrawThreeFry(std::span<uint64_t, 2> state, Array& bits);
void DrawPhilox(std::span<uint64_t> state, Array& bits);

}  // namespace shoal::internal
