// How messages name a setting of the run or the report: by the field of the library's options, which is also the keyword of
// Python. The command line program replaces the phrase by the name of its option (cli/commands/option_names.h).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace shoal::internal {

// The words are joined by no-break spaces, so that the phrase is not wrapped, and is not confused with text of the user.
inline constexpr std::string_view kSettingPhrase = "the\u00a0setting\u00a0";

// "the setting max_seconds"; `name` may have a value, as in "top=0".
inline std::string Setting(std::string_view name) { return std::string(kSettingPhrase).append(name); }

// The last line of a message: a command to try next. The command line program prints it for the shell, with the names of
// files (cli/commands/next_step.cc): "next: for the order of the collectives: shoal show m.hlo --op=communication".
inline constexpr std::string_view kNextStep = "\n  next:\u00a0", kPurposeEnd = ":\u00a0";
// The command that failed, with more settings.
inline constexpr std::string_view kSameCommand = "the same call";

// NextStep("for the order of the collectives", "show", {Setting("op=communication")})
inline std::string NextStep(std::string_view purpose, std::string_view command, std::initializer_list<std::string> settings) {
  std::string text = std::string(kNextStep).append(purpose).append(kPurposeEnd).append(command);
  for (const std::string& setting : settings) text.append(&setting == settings.begin() ? " with " : " and ").append(setting);
  return text;
}

}  // namespace shoal::internal
