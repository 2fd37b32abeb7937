// The width and colour of text output. The width is --width, else $COLUMNS, else the width of the terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace shoal::internal {

// Layout of text.
struct TextStyle {
  size_t width = 0;  // maximum columns of a line; 0: unlimited
  bool color = false;
};

TextStyle OutputStyle();  // of standard output
TextStyle ErrorStyle();   // of standard error

// Sets the width of both styles. nullopt: --width was not given.
void SetWidth(std::optional<size_t> columns);
// Returns an error message, or an empty string if the width is valid.
std::string ValidateWidth(const std::string& text);

}  // namespace shoal::internal
