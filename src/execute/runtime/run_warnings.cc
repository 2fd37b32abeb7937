#include "execute/runtime/run_warnings.h"

#include <algorithm>
#include <cmath>

#include "analyze/memory/liveness.h"
#include "compile/program/evaluation_reason.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/ir/call_graph.h"
#include "core/ops/families.h"
#include "core/ops/working_types.h"

namespace shoal::internal {
namespace {

int64_t CountElided(const Literal& literal) {
  int64_t count = literal.elided ? 1 : 0;
  if (!literal.elided)
    for (const Literal* element : literal.elements) count += CountElided(*element);
  return count;
}

}  // namespace

MixedFloats FindMixedFloats(const Module& module) {
  MixedFloats mixed;
  const auto is_mixed = [](const Instruction* hlo) { return WorkingTypesOf(*hlo).mixed; };
  const auto has_mixed = [&](const Computation* computation) {
    return std::ranges::any_of(computation->instructions, is_mixed);
  };
  if (std::ranges::none_of(module.computations, has_mixed)) return mixed;
  const Liveness liveness(module);
  for (const Computation* computation : CalleesFirst(module))
    for (const InstructionLiveness& step : liveness.Of(*computation).steps)
      if (is_mixed(step.hlo) && mixed.count++ == 0) mixed.first = step.hlo;
  return mixed;
}

ElidedLiterals FindElidedLiterals(const Module& module) {
  ElidedLiterals elided;
  for (const Computation* computation : CalleesFirst(module))
    for (const Instruction* hlo : computation->instructions) {
      const Literal* literal = (*hlo)[kConstantValue];
      const int64_t count = literal == nullptr ? 0 : CountElided(*literal);
      if (count > 0 && elided.count == 0) elided.first = hlo;
      elided.count += count;
    }
  return elided;
}

Status CheckLiterals(const Module& module) {
  const ElidedLiterals elided = FindElidedLiterals(module);
  if (elided.count == 0) return {};
  return Fail(elided.first->at, "compare.C7",
              StrCat("the values of ", elided.first->name, " are not in this dump, so the results cannot be compared; "
                     "use another dump of the module, such as a protobuf of XLA or a text with --xla_dump_large_constants"));
}

Diag ElidedLiteralsError(const ElidedLiterals& elided) {
  return Fail(elided.first->at, "",
              StrCat("literal ", elided.first->name, " was elided from the dump ({...})",
                     elided.count == 1 ? "" : StrCat(", as the first of ", elided.count),
                     "; without ", Setting("fill_elided=false"), " shoal generates values"));
}

Diag ElidedWarning(const ElidedLiterals& elided) {
  Diag warning = Fail(elided.first->at, "",
                      StrCat(elided.count, elided.count == 1 ? " literal was" : " literals were",
                             " elided from the dump ({...}) and filled with generated numbers; this is the first"));
  warning.severity = Severity::kWarning;
  return warning;
}

Diags RunWarnings(const RunStats& stats, const MixedFloats& mixed) {
  Diags diags;
  if (mixed.count > 0)
    diags.Warn(mixed.first->at, "",
               StrCat(mixed.count, mixed.count == 1 ? " instruction mixes" : " instructions mix",
                      " float types; the result is computed in the widest type and rounded once to the declared one",
                      mixed.count == 1 ? "" : "; this is the first"));
  for (const Instruction* loop : stats.endless_loops)
    diags.Warn(loop->at, "",
               StrCat("loop ", loop->name,
                      " never terminates (its state stopped changing); shoal exits it, as XLA does"));
  for (const Instruction* gather : stats.padded_gathers)
    diags.Warn(gather->at, "",
               StrCat(gather->name, " was compiled for several devices, but the run has one; the data of the missing "
                      "devices is zero, as in XLA"));
  for (const auto& [target, stub] : stats.stubs)
    diags.Warn(stub.first->at, "",
               StrCat("unknown custom call \"", target, "\"; shoal generated its results",
                      stub.count == 1 ? "" : StrCat(" ", stub.count, " times; this is the first")));
  return diags;
}

std::string FallbackMessage(const RunStats& stats, int64_t devices) {
  constexpr double kMinFraction = 0.05, kMinSeconds = 0.05;
  const Instruction* slowest = nullptr;
  double all = 0, most = 0;
  for (const auto& [hlo, seconds] : stats.fallback_seconds) {
    all += seconds;
    if (seconds > most) most = seconds, slowest = hlo;
  }
  const double fraction = all / (stats.seconds * static_cast<double>(std::max<int64_t>(1, devices)));
  if (slowest == nullptr || all < kMinSeconds || fraction < kMinFraction) return "";
  return StrCat(std::lround(100 * fraction), " % of the time was spent in the interpreter, most of it in ", slowest->name, " (",
                Text(slowest->opcode), "): ", EvaluationReason(*slowest), "; ", Setting("explain"), " lists these steps");
}

}  // namespace shoal::internal
