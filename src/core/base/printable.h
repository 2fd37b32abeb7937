// Text that a terminal shows as it is. Names come from files, and a terminal obeys what they say.
#pragma once

#include <string>
#include <string_view>

namespace shoal::internal {

// Control characters but for the end of a line and the tab, characters that change the direction of writing, and bytes
// that are no UTF-8 become \x1b, \u202e, \xff. The codes of the colours that shoal writes itself stay.
std::string EscapeForTerminal(std::string_view text);

// The colours, in use.
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
