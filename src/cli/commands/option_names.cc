#include "cli/commands/option_names.h"

#include <algorithm>

#include "core/base/settings.h"
#include "core/base/strings.h"

namespace shoal::cli {
namespace {

// The options that are not named like their setting. tests/structure/settings.py checks that the others exist.
struct OptionName {
  std::string_view setting, option;
};
constexpr OptionName kOptionNames[] = {
    {"trip_counts", "--trips NAME=N"},
    {"fast_reduction", "--reduction=fast"},
    {"max_bytes", "--max_memory"},
    {"probabilities", "--probability NAME=P"},
};

std::string OptionOf(std::string_view setting) {
  for (const OptionName& each : kOptionNames)
    if (each.setting == setting) return std::string(each.option);
  return internal::StrCat("--", setting);
}

}  // namespace

std::string WithOptionNames(std::string_view text) {
  std::string named;
  for (size_t at = 0; at != std::string_view::npos;) {
    const size_t found = text.find(internal::kSettingPhrase, at);
    named.append(text.substr(at, found - at));
    if (found == std::string_view::npos) break;
    const size_t name = found + internal::kSettingPhrase.size();
    at = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", name), text.size());
    named += OptionOf(text.substr(name, at - name));
  }
  return named;
}

}  // namespace shoal::cli
