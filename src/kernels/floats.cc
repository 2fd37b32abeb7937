#include "kernels/floats.h"

#include <array>
#include <cmath>
#include <cstring>

#include "ir/literal.h"

namespace shoal {
namespace {

float FromF16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return sign != 0 ? -subnormal : subnormal;
}

uint16_t ToF16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to 65536 or more
  if (magnitude < 0x38800000u) {
    // Subnormal: the addition aligns the digits and rounds to even.
    const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(aligned) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

using Table = std::array<float, 256>;

// What each byte of a type of at most eight bits stands for.
const Table& DecodeTable(ElementType type) {
  static const std::array<Table, kElementTypeCount>& tables = *[] {
    auto* all = new std::array<Table, kElementTypeCount>();
    for (int t = 0; t < kElementTypeCount; ++t) {
      const auto narrow = static_cast<ElementType>(t);
      if (!IsFloat(narrow) || BitWidth(narrow) > 8) continue;
      const int mask = (1 << BitWidth(narrow)) - 1;
      for (int byte = 0; byte < 256; ++byte)
        (*all)[static_cast<size_t>(t)][static_cast<size_t>(byte)] =
            static_cast<float>(DecodeFloat(narrow, static_cast<uint64_t>(byte & mask)));
    }
    return all;
  }();
  return tables[static_cast<size_t>(type)];
}

}  // namespace

void DecodeFloats(ElementType type, const std::byte* in, float* out, int64_t n) {
  if (n == 0) return;  // of no elements there may be no memory
  if (type == ElementType::kF32) {
    std::memcpy(out, in, static_cast<size_t>(n) * sizeof(float));
  } else if (type == ElementType::kBf16) {
    const auto* bits = reinterpret_cast<const uint16_t*>(in);
    for (int64_t i = 0; i < n; ++i) out[i] = FromBf16(bits[i]);
  } else if (type == ElementType::kF16) {
    const auto* bits = reinterpret_cast<const uint16_t*>(in);
    for (int64_t i = 0; i < n; ++i) out[i] = FromF16(bits[i]);
  } else {
    const Table& table = DecodeTable(type);
    for (int64_t i = 0; i < n; ++i) out[i] = table[static_cast<size_t>(in[i])];
  }
}

void EncodeFloats(ElementType type, const float* in, std::byte* out, int64_t n) {
  if (n == 0) return;  // of no elements there may be no memory
  if (type == ElementType::kF32) {
    std::memcpy(out, in, static_cast<size_t>(n) * sizeof(float));
  } else if (type == ElementType::kBf16) {
    auto* bits = reinterpret_cast<uint16_t*>(out);
    for (int64_t i = 0; i < n; ++i) bits[i] = ToBf16(in[i]);
  } else if (type == ElementType::kF16) {
    auto* bits = reinterpret_cast<uint16_t*>(out);
    for (int64_t i = 0; i < n; ++i) bits[i] = ToF16(in[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<std::byte>(EncodeFloat(type, in[i]));
  }
}

void EncodeDoubles(ElementType type, const double* in, std::byte* out, int64_t n) {
  const int width = StorageBytes(type);
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = EncodeFloat(type, in[i]);
    std::memcpy(out + i * width, &bits, static_cast<size_t>(width));
  }
}

}  // namespace shoal
