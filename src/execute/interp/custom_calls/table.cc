// The supported custom calls: the rows of core/ops/custom_calls.def that specify a function.
#include <unordered_map>

#include "core/ops/custom_calls.h"
#include "execute/interp/custom_calls/custom_call.h"

namespace shoal::internal {
namespace {

constexpr Evaluator None = nullptr;

#define CALL(target, evaluator, cost, backend, traits) {target, evaluator},
constexpr CustomCallRow kRows[] = {
#include "core/ops/custom_calls.def"
};
#undef CALL

}  // namespace

const CustomCallRow* FindCustomCall(std::string_view target) {
  static const auto* rows = [] {
    auto* table = new std::unordered_map<std::string_view, const CustomCallRow*>;
    for (const CustomCallRow& row : kRows)
      if (row.evaluate != nullptr) (*table)[row.target] = &row;
    return table;
  }();
  const CustomCallFacts* facts = FactsOf(target);
  const auto found = facts == nullptr ? rows->end() : rows->find(facts->target);
  return found == rows->end() ? nullptr : found->second;
}

}  // namespace shoal::internal
