#include "core/ir/literal.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

namespace shoal::internal {
namespace {

using enum ElementType;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

// clang-format off
// Hand-written bit patterns of 1, -1.5, the largest number and NaN in each format, and its smallest and largest values.
// The pattern of the smallest value is 1.
struct Format {
  ElementType type;
  uint64_t one, minus_one_and_a_half, largest, nan;
  double smallest_value, largest_value;
};
const Format kFormats[] = {
    {kF16,           0x3C00,             0xBE00,             0x7BFF,             0x7E00,             0x1p-24,   65504},
    {kBf16,          0x3F80,             0xBFC0,             0x7F7F,             0x7FC0,             0x1p-133,  0x1.FEp127},
    {kF32,           0x3F800000,         0xBFC00000,         0x7F7FFFFF,         0x7FC00000,         0x1p-149,  0x1.FFFFFEp127},
    {kF64,           0x3FF0000000000000, 0xBFF8000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF8000000000000, 0x1p-1074, 0x1.FFFFFFFFFFFFFp1023},
    {kF8e3m4,        0x30,               0xB8,               0x6F,               0x78,               0x1p-6,    15.5},
    {kF8e4m3,        0x38,               0xBC,               0x77,               0x7C,               0x1p-9,    240},
    {kF8e4m3fn,      0x38,               0xBC,               0x7E,               0x7F,               0x1p-9,    448},
    {kF8e4m3b11fnuz, 0x58,               0xDC,               0x7F,               0x80,               0x1p-13,   30},
    {kF8e4m3fnuz,    0x40,               0xC4,               0x7F,               0x80,               0x1p-10,   240},
    {kF8e5m2,        0x3C,               0xBE,               0x7B,               0x7E,               0x1p-16,   57344},
    {kF8e5m2fnuz,    0x40,               0xC2,               0x7F,               0x80,               0x1p-17,   57344},
    {kF6e3m2fn,      0x0C,               0x2E,               0x1F,               0x20,               0x1p-4,    28},
    {kF6e2m3fn,      0x08,               0x2C,               0x1F,               0x20,               0x1p-3,    7.5},
    {kF4e2m1fn,      0x2,                0xB,                0x7,                0x8,                0.5,       6},
};
// clang-format on

void ExpectExact(ElementType type, uint64_t bits, double value) {
  EXPECT_EQ(DecodeFloat(type, bits), value);
  EXPECT_EQ(EncodeFloat(type, value), bits);
}

TEST(Float, DecodesAndEncodesExactValues) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(Text(format.type));
    ExpectExact(format.type, 0, 0.0);
    ExpectExact(format.type, 1, format.smallest_value);
    ExpectExact(format.type, format.one, 1.0);
    ExpectExact(format.type, format.minus_one_and_a_half, -1.5);
    ExpectExact(format.type, format.largest, format.largest_value);
  }
}

TEST(Float, InfinityFollowsTheLargestNumber) {
  for (const Format& format : kFormats) {
    if (Info(format.type).specials != FloatSpecials::kIeee) continue;
    SCOPED_TRACE(Text(format.type));
    uint64_t sign = uint64_t{1} << (BitWidth(format.type) - 1);
    ExpectExact(format.type, format.largest + 1, kInf);
    ExpectExact(format.type, sign | (format.largest + 1), -kInf);
  }
}

TEST(Float, Nan) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(Text(format.type));
    EXPECT_EQ(EncodeFloat(format.type, kNan), format.nan);
    bool finite = Info(format.type).specials == FloatSpecials::kFinite;
    EXPECT_EQ(std::isnan(DecodeFloat(format.type, format.nan)), !finite);
  }
}

TEST(Float, EveryNumberRoundTrips) {
  for (const Format& format : kFormats) {
    if (BitWidth(format.type) > 16) continue;
    SCOPED_TRACE(Text(format.type));
    for (uint64_t bits = 0; bits < uint64_t{1} << BitWidth(format.type); ++bits) {
      double value = DecodeFloat(format.type, bits);
      uint64_t back = EncodeFloat(format.type, value);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(DecodeFloat(format.type, back))) << bits;
      } else {
        EXPECT_EQ(back, bits);
      }
    }
  }
}

// In formats without NaN, NaN becomes a zero of the opposite sign.
TEST(Float, MinusNanOfAFiniteFormat) {
  EXPECT_EQ(EncodeFloat(kF6e3m2fn, -kNan), 0u);
  EXPECT_EQ(EncodeFloat(kF6e2m3fn, -kNan), 0u);
  EXPECT_EQ(EncodeFloat(kF4e2m1fn, -kNan), 0u);
}

TEST(Float, MinusZero) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(Text(format.type));
    bool has_minus_zero = Info(format.type).specials != FloatSpecials::kFnuz;
    uint64_t sign = uint64_t{1} << (BitWidth(format.type) - 1);
    EXPECT_EQ(EncodeFloat(format.type, -0.0), has_minus_zero ? sign : 0);
    EXPECT_EQ(std::signbit(DecodeFloat(format.type, sign)), has_minus_zero);
  }
}

// A value between two numbers is rounded to the nearer one, and a midpoint to the even one.
TEST(Float, RoundsToNearestEven) {
  EXPECT_EQ(EncodeFloat(kF16, 1 + 0x1p-11), 0x3C00u);
  EXPECT_EQ(EncodeFloat(kF16, 1 + 0x1.8p-10), 0x3C02u);
  EXPECT_EQ(EncodeFloat(kBf16, 1 + 0x1p-8), 0x3F80u);
  EXPECT_EQ(EncodeFloat(kBf16, 1 + 0x1.8p-7), 0x3F82u);
  EXPECT_EQ(EncodeFloat(kF8e4m3fn, 1.0625), 0x38u);
  EXPECT_EQ(EncodeFloat(kF8e4m3fn, 1.1875), 0x3Au);
  EXPECT_EQ(EncodeFloat(kF8e4m3fn, 1.96875), 0x40u);  // carries into the exponent
  EXPECT_EQ(EncodeFloat(kF8e5m2, 0x1p-17), 0x00u);    // half of the smallest
  EXPECT_EQ(EncodeFloat(kF8e5m2, 0x1.8p-16), 0x02u);
  EXPECT_EQ(EncodeFloat(kF8e5m2, 0x1.Cp-15), 0x04u);  // from the subnormals to the smallest normal
  EXPECT_EQ(EncodeFloat(kF4e2m1fn, 2.5), 0x4u);
  EXPECT_EQ(EncodeFloat(kF4e2m1fn, 3.5), 0x6u);
}

// As in XLA, conversions to these two types go through f32, so a number may be rounded twice.
TEST(Float, F16AndBf16AreRoundedThroughF32) {
  EXPECT_EQ(EncodeFloat(kBf16, 1 + 0x1.00001p-8), 0x3F80u);
  EXPECT_EQ(EncodeFloat(kBf16, 1 + 0x1.0002p-8), 0x3F81u);
  EXPECT_EQ(EncodeFloat(kF16, 1 + 0x1.00001p-11), 0x3C00u);
  EXPECT_EQ(EncodeFloat(kF8e4m3fn, 1.0625 + 0x1p-40), 0x39u);  // narrower types are not rounded twice
}

TEST(Float, Overflow) {
  EXPECT_EQ(EncodeFloat(kF16, 65519), 0x7BFFu);
  EXPECT_EQ(EncodeFloat(kF16, 65520), 0x7C00u);
  EXPECT_EQ(EncodeFloat(kF16, -1e9), 0xFC00u);
  EXPECT_EQ(EncodeFloat(kBf16, 1e300), 0x7F80u);
  EXPECT_EQ(EncodeFloat(kF32, 1e300), 0x7F800000u);
  EXPECT_EQ(EncodeFloat(kF8e3m4, 16), 0x70u);
  EXPECT_EQ(EncodeFloat(kF8e4m3, 256), 0x78u);
  EXPECT_EQ(EncodeFloat(kF8e5m2, 61440), 0x7Cu);
  // Types without infinity: the result is NaN.
  EXPECT_EQ(EncodeFloat(kF8e4m3fn, 464), 0x7Eu);
  EXPECT_EQ(EncodeFloat(kF8e4m3fn, 465), 0x7Fu);
  EXPECT_EQ(EncodeFloat(kF8e4m3fn, -kInf), 0xFFu);
  EXPECT_EQ(EncodeFloat(kF8e4m3b11fnuz, 32), 0x80u);
  EXPECT_EQ(EncodeFloat(kF8e4m3fnuz, -kInf), 0x80u);
  EXPECT_EQ(EncodeFloat(kF8e5m2fnuz, 65536), 0x80u);
  // Types without infinity and NaN: the result is the largest number.
  EXPECT_EQ(EncodeFloat(kF6e3m2fn, -kInf), 0x3Fu);
  EXPECT_EQ(EncodeFloat(kF6e2m3fn, 8), 0x1Fu);
  EXPECT_EQ(EncodeFloat(kF4e2m1fn, 100), 0x7u);
}

// The only format without zero and sign; every pattern except nan is a power of two.
TEST(Float, ExponentOnly) {
  ExpectExact(kF8e8m0fnu, 0x00, 0x1p-127);
  ExpectExact(kF8e8m0fnu, 0x7F, 1.0);
  ExpectExact(kF8e8m0fnu, 0x80, 2.0);
  ExpectExact(kF8e8m0fnu, 0xFE, 0x1p127);
  EXPECT_TRUE(std::isnan(DecodeFloat(kF8e8m0fnu, 0xFF)));
  EXPECT_EQ(EncodeFloat(kF8e8m0fnu, 1.25), 0x7Fu);
  EXPECT_EQ(EncodeFloat(kF8e8m0fnu, 1.5), 0x80u);  // a midpoint rounds up
  EXPECT_EQ(EncodeFloat(kF8e8m0fnu, 3.0), 0x81u);
  EXPECT_EQ(EncodeFloat(kF8e8m0fnu, 1e-60), 0x00u);
  for (double none : {0.0, -0.0, -1.0, 0x1p128, kInf, kNan}) EXPECT_EQ(EncodeFloat(kF8e8m0fnu, none), 0xFFu);
}

template <class T>
std::string Element(ElementType type, T value) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  std::string out;
  AppendElement(out, type, bytes);
  return out;
}

TEST(Element, Integers) {
  EXPECT_EQ(Element(kPred, uint8_t{1}), "true");
  EXPECT_EQ(Element(kPred, uint8_t{0}), "false");
  EXPECT_EQ(Element(kS4, int8_t{-8}), "-8");
  EXPECT_EQ(Element(kU4, uint8_t{15}), "15");
  EXPECT_EQ(Element(kS8, int8_t{-128}), "-128");
  EXPECT_EQ(Element(kU8, uint8_t{255}), "255");
  EXPECT_EQ(Element(kS16, int16_t{-32768}), "-32768");
  EXPECT_EQ(Element(kS32, std::numeric_limits<int32_t>::min()), "-2147483648");
  EXPECT_EQ(Element(kS64, std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(Element(kU64, std::numeric_limits<uint64_t>::max()), "18446744073709551615");
}

TEST(Element, FloatsReadBackExactly) {
  EXPECT_EQ(Element(kF32, 0.5f), "0.5");
  EXPECT_EQ(Element(kF32, 0.1f), "0.1");
  EXPECT_EQ(Element(kF32, 1.0f / 3), "0.333333343");
  EXPECT_EQ(Element(kF32, 1e30f), "1e+30");
  EXPECT_EQ(Element(kF32, -0.0f), "-0");
  EXPECT_EQ(Element(kF64, 0.1), "0.1");
  EXPECT_EQ(Element(kF64, 1.0 / 3), "0.33333333333333331");
  EXPECT_EQ(Element(kBf16, uint16_t{0x3F80}), "1");
  EXPECT_EQ(Element(kF8e4m3fn, uint8_t{0x7E}), "448");
  EXPECT_EQ(Element(kF4e2m1fn, uint8_t{0xB}), "-1.5");
}

TEST(Element, NonFiniteValues) {
  EXPECT_EQ(Element(kF32, std::numeric_limits<float>::infinity()), "inf");
  EXPECT_EQ(Element(kF32, -std::numeric_limits<float>::infinity()), "-inf");
  EXPECT_EQ(Element(kF32, uint32_t{0x7FC00000}), "nan");
  EXPECT_EQ(Element(kF32, uint32_t{0xFFC00000}), "-nan");
  EXPECT_EQ(Element(kF32, uint32_t{0x7F800001}), "nan(0x1)");
  EXPECT_EQ(Element(kF16, uint16_t{0x7C00}), "inf");
}

TEST(Element, Complex) {
  const float c64[] = {1.0f, -2.5f};
  const double c128[] = {0.1, kInf};
  EXPECT_EQ(Element(kC64, std::to_array(c64)), "(1, -2.5)");
  EXPECT_EQ(Element(kC128, std::to_array(c128)), "(0.1, inf)");
}

}  // namespace
}  // namespace shoal::internal
