#include "core/base/numbers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::internal {
namespace {

TEST(Numbers, AcceptsDecimalNumbers) {
  EXPECT_EQ(ParseNumber("1"), 1);
  EXPECT_EQ(ParseNumber("-2.5e3"), -2500);
  EXPECT_EQ(ParseNumber(".5"), 0.5);
  EXPECT_EQ(ParseInteger("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(ParseUnsigned("18446744073709551615"), UINT64_MAX);
  std::string_view text = "80GB";
  EXPECT_EQ(TakeNumber(text), 80);
  EXPECT_EQ(text, "GB");
}

TEST(Numbers, RejectsEverythingElse) {
  for (const char* text : {"", "nan", "-nan", "inf", "-inf", "infinity", "+1", "--1", "1e999", "0x10", "1 ", " 1", "1,5", "-", ".", "e5"})
    EXPECT_FALSE(ParseNumber(text).has_value()) << text;
  for (const char* text : {"", "1.5", "9223372036854775808", "+1", "1e3", "0x1"}) EXPECT_FALSE(ParseInteger(text).has_value()) << text;
  for (const char* text : {"-1", "18446744073709551616"}) EXPECT_FALSE(ParseUnsigned(text).has_value()) << text;
}

TEST(Numbers, ChecksRanges) {
  EXPECT_TRUE(CheckRange(0.5, {.min = 0, .max = 1}).ok());
  EXPECT_FALSE(CheckRange(1.5, {.min = 0, .max = 1}).ok());
  EXPECT_FALSE(CheckRange(0.5, {.min = 0, .max = 1, .is_integer = true}).ok());
  EXPECT_TRUE(CheckRange(0, {.min = 1, .max = 2, .allows_zero = true}).ok());
  EXPECT_FALSE(CheckRange(0, {.min = 1, .max = 2}).ok());
  EXPECT_FALSE(CheckRange(std::nan(""), {}).ok());
  EXPECT_FALSE(CheckRange(INFINITY, {}).ok());
}

}  // namespace
}  // namespace shoal::internal
