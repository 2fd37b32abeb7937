#include "cli/loop_flags.h"

#include <cstdlib>

#include "base/strings.h"

namespace shoal {
namespace {

std::string IsNameAndNumber(const std::string& text) {
  const size_t at = text.rfind('=');
  char* end = nullptr;
  if (at != std::string::npos && at + 1 < text.size()) std::strtod(text.c_str() + at + 1, &end);
  return end != nullptr && *end == '\0' ? std::string() : StrCat("NAME=NUMBER is wanted, got ", text);
}

}  // namespace

void LoopFlags::AddTo(CLI::App& verb) {
  verb.add_option("--trips", trips, "NAME=N: how often the while of that name goes round")->check(IsNameAndNumber);
  verb.add_option("--probability", probabilities, "NAME=P: how likely the branch computation of that name is")
      ->check(IsNameAndNumber);
}

ExecutionOptions LoopFlags::Options() const {
  ExecutionOptions options;
  for (const std::string& text : trips) {
    const size_t at = text.rfind('=');
    options.trips[text.substr(0, at)] = static_cast<int64_t>(std::strtod(text.c_str() + at + 1, nullptr));
  }
  for (const std::string& text : probabilities) {
    const size_t at = text.rfind('=');
    options.probabilities[text.substr(0, at)] = std::strtod(text.c_str() + at + 1, nullptr);
  }
  return options;
}

}  // namespace shoal
