// Makes text safe for a terminal: names come from untrusted files and may contain escape sequences.
#pragma once

#include <string>
#include <string_view>

namespace shoal::internal {

// Escapes control characters except newline and tab, characters that change the writing direction, and bytes that are
// not UTF-8, as \x1b, \u202e, \xff. Keeps shoal's own colour codes if the text has colours.
std::string EscapeForTerminal(std::string_view text, bool has_colors);

// Escapes a name, such as that of a file or of an instruction, for use in a line of text: as EscapeForTerminal, and also
// newlines, tabs and colour codes, which could imitate other output.
std::string EscapeName(std::string_view name);

// Escapes U+007F in JSON text. JSON allows it in a string, but EscapeForTerminal would write it as \x7f, which JSON
// does not have. All other escapes of EscapeForTerminal are JSON.
std::string EscapeJsonForTerminal(std::string json);

// The colour codes that shoal writes.
namespace color {
inline constexpr char kReset[] = "\033[0m";
inline constexpr char kBold[] = "\033[1m";
inline constexpr char kFaint[] = "\033[2m";
inline constexpr char kYellow[] = "\033[33m";
inline constexpr char kBoldRed[] = "\033[1;31m";
inline constexpr char kBoldYellow[] = "\033[1;33m";
inline constexpr char kBoldBlue[] = "\033[1;34m";
}  // namespace color

}  // namespace shoal::internal
