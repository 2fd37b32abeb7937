// Commands that messages of the library suggest, as lines for the shell.
#pragma once

#include <string>
#include <string_view>

namespace shoal::cli {

// Sets the command line that a suggestion to repeat the command extends.
void SetCommandLine(int argc, const char* const* argv);

// The text with each suggestion (NextStep in core/base/settings.h) as a command for the shell. `file` is the module that
// the text is about.
std::string WithCommands(std::string_view text, std::string_view file);

// Like Wrapped, except for the lines of suggested commands, which must stay one line to be pasted.
std::string WrappedExceptCommands(std::string_view text, size_t width);

}  // namespace shoal::cli
