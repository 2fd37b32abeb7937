// The width of text on a terminal, and its elision and wrapping.
#include "core/base/text_width.h"

#include <gtest/gtest.h>

namespace shoal::internal {
namespace {

TEST(TextWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(TextWidth(""), 0u);
  EXPECT_EQ(TextWidth("dot.3"), 5u);
  EXPECT_EQ(TextWidth("× 32 …"), 6u);
  EXPECT_EQ(TextWidth("層.py"), 5u);        // two columns
  EXPECT_EQ(TextWidth("e\u0301"), 1u);      // a combining accent
  EXPECT_EQ(TextWidth("\U0001f41f"), 2u);   // a fish
  EXPECT_EQ(TextWidth("\xff\xc3"), 2u);     // invalid UTF-8
}

TEST(ElideTo, KeepsThePartThatTheModeSelects) {
  EXPECT_EQ(ElideTo("abcdef", 6, ElideMode::kRight), "abcdef");
  EXPECT_EQ(ElideTo("abcdef", 4, ElideMode::kRight), "abc…");
  EXPECT_EQ(ElideTo("abcdef", 4, ElideMode::kLeft), "…def");
  EXPECT_EQ(ElideTo("abcdef", 4, ElideMode::kMiddle), "a…ef");
  EXPECT_EQ(ElideTo("abcdef", 4, ElideMode::kNever), "abcdef");
  EXPECT_EQ(ElideTo("/home/user/model/layers.py:12", 22, ElideMode::kPath), "…/model/layers.py:12");
  EXPECT_EQ(ElideTo("/home/user/model/layers.py:12", 6, ElideMode::kPath), "…py:12");
  EXPECT_EQ(ElideTo("層層層", 4, ElideMode::kRight), "層…");
}

// The result fits in every mode and fills all columns, or all but one if the next letter is wide.
TEST(ElideTo, FillsTheColumns) {
  const std::string text = "jit(step)/層/e\u0301mbed/dot_general[\xff]";
  for (ElideMode mode : {ElideMode::kRight, ElideMode::kLeft, ElideMode::kMiddle, ElideMode::kPath}) {
    const size_t lost = mode == ElideMode::kPath ? TextWidth(text) : 2;
    for (size_t columns = 0; columns <= TextWidth(text); ++columns) {
      EXPECT_LE(TextWidth(ElideTo(text, columns, mode)), columns);
      EXPECT_GE(TextWidth(ElideTo(text, columns, mode)) + lost, columns);
    }
  }
}

TEST(Wrapped, BreaksAtSpaces) {
  EXPECT_EQ(Wrapped("one two three\n", 0), "one two three\n");
  EXPECT_EQ(Wrapped("one two three\n", 7), "one two\n  three\n");
  EXPECT_EQ(Wrapped("  one two three", 9, 4), "  one two\n    three");
  EXPECT_EQ(Wrapped("abcdefgh\nij\n", 4, 0), "abcd\nefgh\nij\n");
  EXPECT_EQ(Wrapped("ab\n\ncd", 4), "ab\n\ncd");
}

TEST(Wrapped, NoLineExceedsTheWidth) {
  const std::string text =
      "note: 4 loops with a data-dependent trip count (層.1, while.2): counted as one iteration\n\n  x";
  for (size_t width = 4; width < 100; ++width)
    for (size_t start = 0, end = 0; start < Wrapped(text, width).size(); start = end + 1) {
      const std::string wrapped = Wrapped(text, width);
      end = std::min(wrapped.find('\n', start), wrapped.size());
      EXPECT_LE(TextWidth(wrapped.substr(start, end - start)), width);
    }
}

}  // namespace
}  // namespace shoal::internal
