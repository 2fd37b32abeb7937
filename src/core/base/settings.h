// How messages name a setting of the run or the report: by the field of the library's options, which is also the keyword of
// Python. The command line program replaces the phrase by the name of its option (cli/commands/option_names.h).
#pragma once

#include <string>
#include <string_view>

namespace shoal::internal {

// The words are joined by no-break spaces, so that the phrase is not wrapped, and is not confused with text of the user.
inline constexpr std::string_view kSettingPhrase = "the\u00a0setting\u00a0";

// "the setting max_seconds"; `name` may have a value, as in "top=0".
inline std::string Setting(std::string_view name) { return std::string(kSettingPhrase).append(name); }

}  // namespace shoal::internal
