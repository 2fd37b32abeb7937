// The width and colour of text output. The width is --width, else $COLUMNS, else the width of the terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "shoal/base.h"

namespace shoal::cli {

TextStyle OutputStyle();  // of standard output
TextStyle ErrorStyle();   // of standard error

// Sets the width of both styles. nullopt: --width was not given.
void SetWidth(std::optional<size_t> columns);
// Returns an error message, or an empty string if the width is valid.
std::string ValidateWidth(const std::string& text);

}  // namespace shoal::cli
