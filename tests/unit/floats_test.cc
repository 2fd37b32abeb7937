// Compares bulk conversions, which use vectors and tables, with conversions of single numbers.
#include "kernels/arrays/floats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "core/ir/literal.h"

namespace shoal::internal {
namespace {

// Numbers of all magnitudes, midpoints between adjacent values of narrow types, and their neighbours.
std::vector<float> Samples() {
  std::vector<float> samples;
  for (uint32_t half = 0; half < 1 << 16; half += 3)
    for (const uint32_t low : {0x0000u, 0x0001u, 0x8000u, 0xffffu}) samples.push_back(std::bit_cast<float>(half << 16 | low));
  return samples;
}

uint64_t BitsAt(const std::vector<std::byte>& bytes, size_t i, size_t width) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + i * width, width);
  return bits;
}

TEST(FloatsTest, BulkConversionEqualsSingleConversion) {
  const std::vector<float> samples = Samples();
  const auto count = static_cast<int64_t>(samples.size());
  for (int t = 0; t < kElementTypeCount; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (!IsNarrowFloat(type)) continue;
    const auto width = static_cast<size_t>(StorageBytes(type));
    std::vector<std::byte> encoded(samples.size() * width);
    EncodeFloats(type, samples.data(), encoded.data(), count);
    std::vector<float> decoded(samples.size());
    DecodeFloats(type, encoded.data(), decoded.data(), count);
    for (size_t i = 0; i < samples.size(); ++i) {
      const uint64_t bits = BitsAt(encoded, i, width);
      if (std::isnan(samples[i])) {
        ASSERT_TRUE(BitWidth(type) < 16 || std::isnan(decoded[i])) << Text(type);
        continue;
      }
      ASSERT_EQ(bits, EncodeFloat(type, samples[i])) << Text(type) << " of " << samples[i];
      const auto alone = static_cast<float>(DecodeFloat(type, bits));
      ASSERT_TRUE(decoded[i] == alone || (std::isnan(decoded[i]) && std::isnan(alone))) << Text(type) << " " << bits;
    }
  }
}

}  // namespace
}  // namespace shoal::internal
