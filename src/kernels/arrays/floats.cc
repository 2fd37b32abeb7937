#include "kernels/arrays/floats.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>

#include "core/ir/literal.h"
#include "kernels/arrays/vector_clones.h"

namespace shoal::internal {
namespace {

// Branch-free, so that loops over it are vectorised. The multiplication aligns the mantissa of subnormals.
inline float FromF16(uint16_t bits) {
  const uint32_t magnitude = bits & 0x7fffu;
  const auto number = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f);
  const uint32_t inf_or_nan = magnitude >= 0x7c00u ? 0x7f800000u : 0u;
  return std::bit_cast<float>(number | inf_or_nan | static_cast<uint32_t>(bits & 0x8000u) << 16);
}

inline uint16_t ToF16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Subnormal: the addition aligns the mantissa and rounds to even.
  const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
  const uint32_t subnormal = std::bit_cast<uint32_t>(aligned) - 0x3f000000u;
  const uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x1ffu);
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;  // rounds to 65536 or more
  result = magnitude > 0x7f800000u ? nan : result;
  return static_cast<uint16_t>(result | ((bits >> 16) & 0x8000u));
}

SHOAL_TARGET_CLONES void DecodeF16(const uint16_t* in, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = FromF16(in[i]);
}
SHOAL_TARGET_CLONES void EncodeF16(const float* in, uint16_t* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = ToF16(in[i]);
}
SHOAL_TARGET_CLONES void DecodeBf16(const uint16_t* in, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = FromBf16(in[i]);
}
SHOAL_TARGET_CLONES void EncodeBf16(const float* in, uint16_t* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = ToBf16(in[i]);
}

using Table = std::array<float, 256>;

// The value of each byte, for a type of at most eight bits.
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

// Maps the upper half of an f32 to a type of at most eight bits. If the lower half is not zero, the caller sets the
// last bit of the upper half (a sticky bit). This rounds correctly: these types have at most 4 mantissa digits.
using EncodeTable = std::array<uint8_t, 1 << 16>;

// True once so many elements have been encoded, in calls that may each have few of them, that the table is worth its
// time: building it takes a millisecond.
bool PaysForTable(ElementType type, int64_t n) {
  constexpr int64_t kMinForTable = 4096;
  static std::array<std::atomic<int64_t>, kElementTypeCount> counts;
  std::atomic<int64_t>& count = counts[static_cast<size_t>(type)];
  return count.load(std::memory_order_relaxed) >= kMinForTable || count.fetch_add(n, std::memory_order_relaxed) + n >= kMinForTable;
}

const EncodeTable& EncodeTableOf(ElementType type) {
  static std::array<std::once_flag, kElementTypeCount> flags;
  static std::array<std::unique_ptr<EncodeTable>, kElementTypeCount> tables;
  const auto t = static_cast<size_t>(type);
  std::call_once(flags[t], [&] {
    auto table = std::make_unique<EncodeTable>();
    for (uint32_t half = 0; half < table->size(); ++half)
      (*table)[half] = static_cast<uint8_t>(EncodeFloat(type, std::bit_cast<float>(half << 16)));
    tables[t] = std::move(table);
  });
  return *tables[t];
}

}  // namespace

void DecodeFloats(ElementType type, const std::byte* in, float* out, int64_t n) {
  if (n == 0) return;  // the pointers may be null if there are no elements
  if (type == ElementType::kF32) {
    std::memcpy(out, in, static_cast<size_t>(n) * sizeof(float));
  } else if (type == ElementType::kBf16) {
    DecodeBf16(reinterpret_cast<const uint16_t*>(in), out, n);
  } else if (type == ElementType::kF16) {
    DecodeF16(reinterpret_cast<const uint16_t*>(in), out, n);
  } else {
    const Table& table = DecodeTable(type);
    for (int64_t i = 0; i < n; ++i) out[i] = table[static_cast<size_t>(in[i])];
  }
}

void EncodeFloats(ElementType type, const float* in, std::byte* out, int64_t n) {
  if (n == 0) return;  // the pointers may be null if there are no elements
  if (type == ElementType::kF32) {
    std::memcpy(out, in, static_cast<size_t>(n) * sizeof(float));
  } else if (type == ElementType::kBf16) {
    EncodeBf16(in, reinterpret_cast<uint16_t*>(out), n);
  } else if (type == ElementType::kF16) {
    EncodeF16(in, reinterpret_cast<uint16_t*>(out), n);
  } else {
    if (!PaysForTable(type, n)) {
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<std::byte>(EncodeFloat(type, in[i]));
      return;
    }
    const EncodeTable& table = EncodeTableOf(type);
    for (int64_t i = 0; i < n; ++i) {
      const auto bits = std::bit_cast<uint32_t>(in[i]);
      out[i] = static_cast<std::byte>(table[bits >> 16 | ((bits & 0xffffu) != 0 ? 1u : 0u)]);
    }
  }
}

// The number as f32, rounded toward zero with a last bit that is set if the number was not exact. A type with a shorter
// mantissa then rounds it as it would round the number itself.
static float RoundedToOdd(double number) {
  const auto nearest = static_cast<float>(number);
  if (number != number || static_cast<double>(nearest) == number) return nearest;
  auto bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(number)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

void EncodeDoubles(ElementType type, const double* in, std::byte* out, int64_t n) {
  if (BitWidth(type) <= 8) {
    constexpr int64_t kBlock = 256;
    float block[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t count = std::min(kBlock, n - i);
      for (int64_t k = 0; k < count; ++k) block[k] = RoundedToOdd(in[i + k]);
      EncodeFloats(type, block, out + i, count);
    }
    return;
  }
  const int width = StorageBytes(type);
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = EncodeFloat(type, in[i]);
    std::memcpy(out + i * width, &bits, static_cast<size_t>(width));
  }
}

}  // namespace shoal::internal
