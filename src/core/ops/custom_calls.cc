#include "core/ops/custom_calls.h"

#include <unordered_map>
#include <vector>

#include "core/ops/backend_config.h"
#include "core/ops/custom_call_cost.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

constexpr bool IsFreeName(std::string_view cost) { return cost == "Free"; }

// The cost kinds Free and Unknown have no function.
constexpr auto FreeCost = nullptr, UnknownCost = nullptr;

#define CALL(target, meaning, cost, backend, traits) \
  {target, IsFreeName(#cost), cost##Cost, CustomCallBackend::k##backend, traits},
constexpr CustomCallFacts kCustomCalls[] = {
#include "core/ops/custom_calls.def"
};
#undef CALL

bool IsPattern(std::string_view target) { return target.find_first_of("?*") != std::string_view::npos; }

struct TargetIndex {
  std::unordered_map<std::string_view, const CustomCallFacts*> plain;
  std::vector<const CustomCallFacts*> patterns;
};

const TargetIndex& Rows() {
  static const TargetIndex index = [] {
    TargetIndex new_index;
    for (const CustomCallFacts& row : kCustomCalls) {
      if (IsPattern(row.target)) {
        new_index.patterns.push_back(&row);
      } else {
        new_index.plain[row.target] = &row;
      }
    }
    return new_index;
  }();
  return index;
}

}  // namespace

bool MatchesTarget(std::string_view pattern, std::string_view target) {
  // Backtracks to the last '*' if the pattern after it does not match.
  size_t p = 0, t = 0, star = std::string_view::npos, after_star = 0;
  while (t < target.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] != '*' && pattern[p] == target[t]))) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

const CustomCallFacts* FactsOf(std::string_view target) {
  const TargetIndex& rows = Rows();
  if (const auto found = rows.plain.find(target); found != rows.plain.end()) return found->second;
  for (const CustomCallFacts* pattern : rows.patterns)
    if (MatchesTarget(pattern->target, target)) return pattern;
  return nullptr;
}

const CustomCallFacts* FactsOf(const Instruction& hlo) {
  return hlo.opcode == Opcode::kCustomCall ? FactsOf(hlo[Op<Opcode::kCustomCall>::kTarget]) : nullptr;
}

bool IsKnownPureCall(const Instruction& hlo) {
  const CustomCallFacts* facts = FactsOf(hlo);
  constexpr int kPure = kGradient | kFilterGradient | kInputGradient;
  return facts != nullptr && (facts->traits & ~kPure) == 0 && !hlo[Op<Opcode::kCustomCall>::kHasSideEffect];
}

bool HasTrait(const Instruction& hlo, CallTrait trait) {
  const CustomCallFacts* facts = FactsOf(hlo);
  return facts != nullptr && facts->Has(trait);
}

bool IsCudaLibraryCall(const Instruction& hlo) { return TargetOf(hlo).starts_with("__cu"); }

bool IsControlDependency(const Instruction& hlo) { return TargetOf(hlo) == "control_dep"; }

bool IsFreeCall(const Instruction& hlo) {
  const CustomCallFacts* facts = FactsOf(hlo);
  return facts != nullptr && facts->is_free;
}

bool IsAnnotation(const Instruction& hlo) { return HasTrait(hlo, kAnnotation); }

std::optional<CallCost> CallCostOf(const Instruction& hlo) {
  if (IsFreeCall(hlo)) return CallCost{};
  const CustomCallFacts* facts = FactsOf(hlo);
  if (facts != nullptr && facts->cost != nullptr)
    if (std::optional<CallCost> cost = facts->cost(hlo)) return cost;
  return EstimateCost(hlo);
}

bool MayCommunicate(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kCustomCall || IsFreeCall(hlo)) return false;
  const CustomCallFacts* facts = FactsOf(hlo);
  if (facts != nullptr && facts->Has(kCommunicates)) return true;
  if (hlo[kChannelId] > 0 || hlo.has(kReplicaGroups)) return true;
  // Mosaic kernels declare in their backend_config that they communicate.
  const BackendConfig config = BackendConfig::Of(hlo);
  for (const BackendConfig& part : {config, config.Object("custom_call_config")})
    if (part.Bool("has_communication") || part.has("collective_id")) return true;
  return false;
}

}  // namespace shoal::internal
