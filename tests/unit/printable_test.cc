#include "core/base/printable.h"

#include <gtest/gtest.h>

namespace shoal::internal {
namespace {

TEST(EscapeForTerminal, KeepsPlainText) {
  EXPECT_EQ(EscapeForTerminal("a\tb\n× 32 … µs 日本 🐟", true), "a\tb\n× 32 … µs 日本 🐟");
}

TEST(EscapeForTerminal, EscapesControlSequences) {
  EXPECT_EQ(EscapeForTerminal("\x1b]0;title\x07", true), "\\x1b]0;title\\x07");
  EXPECT_EQ(EscapeForTerminal("\x1b[2J\r\x7f", true), "\\x1b[2J\\x0d\\x7f");
  EXPECT_EQ(EscapeForTerminal("\xc2\x9b" "31m", true), "\\u009b31m");  // one character that terminals treat as ESC [ (CSI)
  EXPECT_EQ(EscapeForTerminal("a\xe2\x80\xae" "b", true), "a\\u202eb");  // switches to right-to-left
}

TEST(EscapeForTerminal, EscapesInvalidUtf8) {
  EXPECT_EQ(EscapeForTerminal("\xff\x80", true), "\\xff\\x80");
  EXPECT_EQ(EscapeForTerminal("\xc0\xaf", true), "\\xc0\\xaf");           // overlong encoding
  EXPECT_EQ(EscapeForTerminal("\xed\xa0\x80", true), "\\xed\\xa0\\x80");  // half of a surrogate pair
  EXPECT_EQ(EscapeForTerminal("\xe2\x82", true), "\\xe2\\x82");           // truncated
}

TEST(EscapeForTerminal, KeepsOwnColours) {
  const std::string red = std::string(color::kBoldRed) + "error: " + color::kReset;
  EXPECT_EQ(EscapeForTerminal(red, true), red);
  EXPECT_EQ(EscapeForTerminal("\x1b[8mhidden", true), "\\x1b[8mhidden");
}

}  // namespace
}  // namespace shoal::internal
