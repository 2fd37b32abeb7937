#include "cli/assumptions.h"

#include <cstdlib>

#include "base/strings.h"
#include "report/table.h"

namespace shoal {
namespace {

// "%a, %b, %c and 4 more"
std::string Names(const std::vector<const Instruction*>& all) {
  constexpr size_t kMost = 3;
  std::string names;
  for (size_t i = 0; i < all.size() && i < kMost; ++i) StrAppend(&names, i == 0 ? "" : ", ", all[i]->name);
  if (all.size() > kMost) StrAppend(&names, " and ", all.size() - kMost, " more");
  return names;
}

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

std::vector<std::string> AssumptionsOf(const Executions& executions) {
  std::vector<std::string> all;
  const auto& loops = executions.unknown_loops();
  if (!loops.empty())
    all.push_back(StrCat(Counted(static_cast<int64_t>(loops.size()), "loop"), " whose trip count depends on data (",
                         Names(loops), "): counted as one round; --trips NAME=N says better"));
  const auto& assumed = executions.assumed_loops();
  if (!assumed.empty())
    all.push_back(StrCat(Counted(static_cast<int64_t>(assumed.size()), "loop"),
                         " whose condition does not fit their state (", Names(assumed),
                         "): read as counters that go up to the constant in the condition"));
  const auto& conditionals = executions.conditionals();
  if (!conditionals.empty())
    all.push_back(StrCat(Counted(static_cast<int64_t>(conditionals.size()), "conditional"), " (", Names(conditionals),
                         "): all branches equally likely; --probability NAME=P says better"));
  return all;
}

}  // namespace shoal
