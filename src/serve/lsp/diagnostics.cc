// Diagnostics of parser and verifier, with links to their rules and with related locations.
#include "core/base/strings.h"
#include "core/ops/op.h"
#include "serve/lsp/features.h"

namespace shoal::internal {
namespace {

enum : int { kError = 1, kWarning = 2, kUnnecessary = 1 };

json Related(const View& view, TextSpan at, std::string message) {
  return {{"location", view.LocationOf(at)}, {"message", std::move(message)}};
}

// The operands of the instruction with an error, with their shapes; or the first definition of a name.
json RelatedTo(const View& view, const Diag& diag) {
  json related = json::array();
  const TextIndex& index = view.index();
  const IndexedInstruction* at = index.InstructionAt(diag.at.offset);
  if (at == nullptr) return related;
  const IndexedComputation& computation = index.computations()[at->computation];
  const IndexedInstruction* first = index.FindInstruction(computation, index.NameOf(*at));
  if (first != nullptr && first != at && diag.at.offset < at->name.offset + at->name.length) {
    related.push_back(Related(view, first->name, StrCat("the first definition of ", index.NameOf(*at))));
    return related;
  }
  const Instruction* hlo = view.snapshot->InstructionOf(*at);
  if (hlo == nullptr) return related;
  constexpr size_t kMaxOperands = 4;
  for (const Instruction* operand : hlo->operands) {
    if (related.size() == kMaxOperands) break;
    if (const IndexedInstruction* written = view.snapshot->IndexOf(*operand))
      related.push_back(Related(view, written->name, StrCat(operand->name, " is ", ToString(operand->shape()))));
  }
  return related;
}

}  // namespace

json DiagnosticsOf(const View& view) {
  json all = json::array();
  for (const Diag& diag : view.snapshot->diags().found()) {
    const TextSpan at = diag.at.known() ? diag.at : TextSpan{0, 0};
    json one = {{"range", view.RangeOf(at)},
                {"severity", diag.severity == Severity::kError ? kError : kWarning},
                {"source", "shoal"},
                {"message", diag.message}};
    if (!diag.rule.empty()) {
      one["code"] = diag.rule;
      if (!view.settings.docs.empty()) one["codeDescription"] = {{"href", StrCat(view.settings.docs, "check.md#", diag.rule.substr(0, diag.rule.find('.')))}};
    }
    if (json related = RelatedTo(view, diag); !related.empty()) one["relatedInformation"] = std::move(related);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace shoal::internal
