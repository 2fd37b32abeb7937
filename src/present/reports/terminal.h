// How wide text may be, and whether it has colour: what --width asked for, else COLUMNS, else what the terminal has.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace shoal::internal {

// How text is laid out.
struct TextStyle {
  size_t width = 0;  // no line has more columns; 0: lines are as long as they are
  bool color = false;
};

TextStyle OutputStyle();  // of standard output
TextStyle ErrorStyle();   // of standard error

// --width, for both; nothing: it was not given.
void SetWidth(std::optional<size_t> columns);
// What is wrong with one; nothing if it is right.
std::string ValidateWidth(const std::string& text);

}  // namespace shoal::internal
