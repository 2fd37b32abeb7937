#include "core/base/printable.h"

#include <gtest/gtest.h>

namespace shoal::internal {
namespace {

TEST(EscapeForTerminal, TextStays) {
  EXPECT_EQ(EscapeForTerminal("a\tb\n× 32 … µs 日本 🐟"), "a\tb\n× 32 … µs 日本 🐟");
}

TEST(EscapeForTerminal, TerminalsGetNoOrders) {
  EXPECT_EQ(EscapeForTerminal("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(EscapeForTerminal("\x1b[2J\r\x7f"), "\\x1b[2J\\x0d\\x7f");
  EXPECT_EQ(EscapeForTerminal("\xc2\x9b" "31m"), "\\u009b31m");  // the same as escape and a bracket, in one character
  EXPECT_EQ(EscapeForTerminal("a\xe2\x80\xae" "b"), "a\\u202eb");  // written backwards from here
}

TEST(EscapeForTerminal, BytesThatAreNoText) {
  EXPECT_EQ(EscapeForTerminal("\xff\x80"), "\\xff\\x80");
  EXPECT_EQ(EscapeForTerminal("\xc0\xaf"), "\\xc0\\xaf");          // longer than need be
  EXPECT_EQ(EscapeForTerminal("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
  EXPECT_EQ(EscapeForTerminal("\xe2\x82"), "\\xe2\\x82");          // cut short
}

TEST(EscapeForTerminal, OwnColoursStay) {
  const std::string red = std::string(color::kBoldRed) + "error: " + color::kReset;
  EXPECT_EQ(EscapeForTerminal(red), red);
  EXPECT_EQ(EscapeForTerminal("\x1b[8mhidden"), "\\x1b[8mhidden");
}

}  // namespace
}  // namespace shoal::internal
