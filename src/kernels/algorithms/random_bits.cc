#include "kernels/algorithms/random_bits.h"

#include <algorithm>
#include <bit>

namespace shoal::internal {
namespace {

std::array<uint32_t, 2> Halves(uint64_t word) {
  return {static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32)};
}

uint64_t Joined(uint32_t low, uint32_t high) { return low | static_cast<uint64_t>(high) << 32; }

// Sets element i to the low bits of `word`, sign- or zero-extended for types narrower than a byte.
void SetBits(Array& bits, std::byte* data, int64_t i, uint32_t word) {
  switch (bits.element_bytes()) {
    case 4:
      reinterpret_cast<uint32_t*>(data)[i] = word;
      break;
    case 2:
      reinterpret_cast<uint16_t*>(data)[i] = static_cast<uint16_t>(word);
      break;
    default: {
      const int unused = 8 - BitWidth(bits.type());
      const auto high = static_cast<uint8_t>(word << unused);
      data[i] = static_cast<std::byte>(IsSigned(bits.type()) ? static_cast<int8_t>(high) >> unused : high >> unused);
    }
  }
}

// The dimension along which Threefry's two words alternate: the first of even size, else the largest.
size_t SplitDimension(Ints dims) {
  auto even = std::find_if(dims.begin(), dims.end(), [](int64_t size) { return size % 2 == 0; });
  auto split = even != dims.end() ? even : std::max_element(dims.begin(), dims.end());
  return static_cast<size_t>(split - dims.begin());
}

}  // namespace

std::array<uint32_t, 2> ThreeFry(std::array<uint32_t, 2> key, std::array<uint32_t, 2> counter) {
  static constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDAu};
  uint32_t x = counter[0] + keys[0], y = counter[1] + keys[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : kRotations[group % 2]) {
      x += y;
      y = std::rotl(y, rotation) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  return {x, y};
}

std::array<uint32_t, 4> Philox(std::array<uint32_t, 2> key, std::array<uint32_t, 4> x) {
  for (int round = 0; round < 10; ++round) {
    const std::array<uint32_t, 2> a = Halves(uint64_t{0xD2511F53} * x[0]), b = Halves(uint64_t{0xCD9E8D57} * x[2]);
    x = {b[1] ^ x[1] ^ key[0], b[0], a[1] ^ x[3] ^ key[1], a[0]};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return x;
}

void DrawThreeFry(std::span<uint64_t, 2> state, Array& bits) {
  const std::array<uint32_t, 2> key = Halves(state[0]);
  std::byte* data = bits.mutable_data();
  if (bits.element_bytes() == 8) {
    for (int64_t i = 0; i < bits.count(); ++i) {
      const std::array<uint32_t, 2> words = ThreeFry(key, Halves(state[1] + static_cast<uint64_t>(i)));
      reinterpret_cast<uint64_t*>(data)[i] = Joined(words[0], words[1]);
    }
    state[1] += static_cast<uint64_t>(bits.count());
    return;
  }
  // Treats the array as [outer, size, inner] with the split dimension in the middle. A scalar takes the first word.
  int64_t outer = 1, size = 1, inner = 1;
  if (bits.rank() > 0) {
    const size_t split = SplitDimension(bits.dims());
    outer = ElementCount(bits.dims().first(split));
    size = bits.dims()[split];
    inner = ElementCount(bits.dims().subspan(split + 1));
  }
  const int64_t half = (size + 1) / 2;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t h = 0; h < half; ++h) {
      for (int64_t i = 0; i < inner; ++i) {
        const auto index = static_cast<uint64_t>((o * half + h) * inner + i);
        const std::array<uint32_t, 2> words = ThreeFry(key, Halves(state[1] + index));
        SetBits(bits, data, (o * size + 2 * h) * inner + i, words[0]);
        if (2 * h + 1 < size) SetBits(bits, data, (o * size + 2 * h + 1) * inner + i, words[1]);
      }
    }
  }
  state[1] += static_cast<uint64_t>(outer * half * inner);
}

void DrawPhilox(std::span<uint64_t> state, Array& bits) {
  const std::array<uint32_t, 2> key = Halves(state[0]);
  uint64_t low = state[1], high = state.size() > 2 ? state[2] : state[0];
  const bool wide = bits.element_bytes() == 8;
  const int64_t each = wide ? 2 : 4;  // elements of one block
  std::byte* data = bits.mutable_data();
  for (int64_t start = 0; start < bits.count(); start += each) {
    const std::array<uint32_t, 2> l = Halves(low), h = Halves(high);
    const std::array<uint32_t, 4> words = Philox(key, {l[0], l[1], h[0], h[1]});
    for (int64_t i = start; i < std::min(start + each, bits.count()); ++i) {
      const auto word = static_cast<size_t>(i - start);
      if (wide)
        reinterpret_cast<uint64_t*>(data)[i] = Joined(words[2 * word], words[2 * word + 1]);
      else
        SetBits(bits, data, i, words[word]);
    }
    if (++low == 0) ++high;
  }
  state[1] = low;
  if (state.size() > 2) state[2] = high;
}

}  // namespace shoal::internal
