#include "core/base/printable.h"

#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(Printable, TextStays) {
  EXPECT_EQ(Printable("a\tb\n× 32 … µs 日本 🐟"), "a\tb\n× 32 … µs 日本 🐟");
}

TEST(Printable, TerminalsGetNoOrders) {
  EXPECT_EQ(Printable("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(Printable("\x1b[2J\r\x7f"), "\\x1b[2J\\x0d\\x7f");
  EXPECT_EQ(Printable("\xc2\x9b" "31m"), "\\u009b31m");  // the same as escape and a bracket, in one character
  EXPECT_EQ(Printable("a\xe2\x80\xae" "b"), "a\\u202eb");  // written backwards from here
}

TEST(Printable, BytesThatAreNoText) {
  EXPECT_EQ(Printable("\xff\x80"), "\\xff\\x80");
  EXPECT_EQ(Printable("\xc0\xaf"), "\\xc0\\xaf");          // longer than need be
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
  EXPECT_EQ(Printable("\xe2\x82"), "\\xe2\\x82");          // cut short
}

TEST(Printable, OwnColoursStay) {
  const std::string red = std::string(color::kBoldRed) + "error: " + color::kReset;
  EXPECT_EQ(Printable(red), red);
  EXPECT_EQ(Printable("\x1b[8mhidden"), "\\x1b[8mhidden");
}

}  // namespace
}  // namespace shoal
