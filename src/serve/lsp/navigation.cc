// Definitions, references, highlights and the call hierarchy.
#include <algorithm>
#include <map>

#include "core/base/strings.h"
#include "core/ops/attrs.h"
#include "serve/lsp/features.h"

namespace shoal::internal {
namespace {

enum : int { kText = 1, kRead = 2, kWrite = 3 };  // DocumentHighlightKind
constexpr int kFunction = 12;                      // SymbolKind

TextSpan DefinitionOf(const TextIndex& index, const NameReference& reference) {
  return reference.is_computation ? index.computations()[reference.target].name
                                  : index.instructions()[reference.target].name;
}

// The text spans of all parts of the logical collective of an instruction: start, done, and parts in other fusions with
// the same channel. Empty if the instruction is not a collective.
std::vector<TextSpan> PartsOfCollective(const View& view, const IndexedInstruction& at) {
  const ModuleAnalysis* analysis = view.snapshot->analysis();
  const Instruction* hlo = analysis == nullptr ? nullptr : view.snapshot->InstructionOf(at);
  const LogicalCollective* collective = hlo == nullptr ? nullptr : analysis->CollectiveOf(*hlo);
  if (collective == nullptr) return {};
  std::vector<const Instruction*> parts = {collective->hlo, collective->start, collective->done};
  if (collective->hlo->has(kChannelId))
    for (const Computation* computation : view.snapshot->module()->computations)
      for (const Instruction* other : computation->instructions)
        if (other->has(kChannelId) && (*other)[kChannelId] == (*collective->hlo)[kChannelId]) parts.push_back(other);
  std::vector<TextSpan> spans;
  for (const Instruction* part : parts)
    if (const IndexedInstruction* written = view.snapshot->IndexOf(*part)) spans.push_back(written->name);
  std::sort(spans.begin(), spans.end(), [](TextSpan a, TextSpan b) { return a.offset < b.offset; });
  spans.erase(std::unique(spans.begin(), spans.end(), [](TextSpan a, TextSpan b) { return a.offset == b.offset; }),
              spans.end());
  return spans;
}

json ItemOf(const View& view, uint32_t number) {
  const IndexedComputation& computation = view.index().computations()[number];
  std::string detail = computation.is_entry ? "ENTRY" : "";
  const Computation* read = view.snapshot->ComputationOf(computation);
  if (const ModuleAnalysis* analysis = view.snapshot->analysis(); analysis != nullptr && read != nullptr)
    StrAppend(&detail, detail.empty() ? "" : ", ", analysis->executions().Of(*read), " executions per step");
  return {{"name", view.index().NameOf(computation)}, {"kind", kFunction},
          {"detail", detail},                         {"uri", view.snapshot->uri()},
          {"range", view.RangeOf(computation.whole)}, {"selectionRange", view.RangeOf(computation.name)},
          {"data", number}};
}

// The computation of an item; the document may have changed since the item was made.
const IndexedComputation* ComputationOf(const View& view, const json& item) {
  return view.index().FindComputation(item.at("name").get<std::string>());
}

}  // namespace

json DefinitionAt(const View& view, uint32_t offset) {
  const NameReference* reference = view.index().ReferenceAt(offset);
  if (reference == nullptr || reference->target == NameReference::kNone) return nullptr;
  return view.LocationOf(DefinitionOf(view.index(), *reference));
}

json ReferencesAt(const View& view, uint32_t offset, bool include_declaration) {
  const NameReference* reference = view.index().ReferenceAt(offset);
  if (reference == nullptr) return nullptr;
  json all = json::array();
  for (const NameReference* other : view.index().ReferencesTo(*reference))
    if (include_declaration || !other->is_definition) all.push_back(view.LocationOf(other->at));
  return all;
}

json HighlightsAt(const View& view, uint32_t offset) {
  const TextIndex& index = view.index();
  json all = json::array();
  const NameReference* reference = index.ReferenceAt(offset);
  if (reference != nullptr)
    for (const NameReference* other : index.ReferencesTo(*reference))
      all.push_back({{"range", view.RangeOf(other->at)}, {"kind", other->is_definition ? kWrite : kRead}});
  const IndexedInstruction* at = index.InstructionAt(offset);
  const bool on_definition = reference == nullptr || reference->is_definition;
  if (at != nullptr && on_definition)
    for (const TextSpan span : PartsOfCollective(view, *at))
      if (span.offset != at->name.offset) all.push_back({{"range", view.RangeOf(span)}, {"kind", kText}});
  return all.empty() ? json() : all;
}

json CallHierarchyItemsAt(const View& view, uint32_t offset) {
  const TextIndex& index = view.index();
  const NameReference* reference = index.ReferenceAt(offset);
  if (reference != nullptr && reference->is_computation && reference->target != NameReference::kNone)
    return json::array({ItemOf(view, reference->target)});
  const IndexedComputation* around = index.ComputationAt(offset);
  if (around == nullptr) return nullptr;
  return json::array({ItemOf(view, static_cast<uint32_t>(around - index.computations().data()))});
}

json IncomingCalls(const View& view, const json& item) {
  const TextIndex& index = view.index();
  const IndexedComputation* callee = ComputationOf(view, item);
  if (callee == nullptr) return nullptr;
  const auto number = static_cast<uint32_t>(callee - index.computations().data());
  std::map<uint32_t, json> ranges;  // by calling computation
  for (const NameReference& reference : index.references())
    if (reference.is_computation && reference.target == number && reference.from != NameReference::kNone)
      ranges[index.instructions()[reference.from].computation].push_back(view.RangeOf(reference.at));
  json calls = json::array();
  for (auto& [caller, from] : ranges) calls.push_back({{"from", ItemOf(view, caller)}, {"fromRanges", std::move(from)}});
  return calls;
}

json OutgoingCalls(const View& view, const json& item) {
  const TextIndex& index = view.index();
  const IndexedComputation* caller = ComputationOf(view, item);
  if (caller == nullptr) return nullptr;
  std::map<uint32_t, json> ranges;  // by called computation
  for (const NameReference& reference : index.references())
    if (reference.is_computation && reference.from != NameReference::kNone && reference.target != NameReference::kNone &&
        reference.from >= caller->first && reference.from < caller->last)
      ranges[reference.target].push_back(view.RangeOf(reference.at));
  json calls = json::array();
  for (auto& [callee, from] : ranges) calls.push_back({{"to", ItemOf(view, callee)}, {"fromRanges", std::move(from)}});
  return calls;
}

}  // namespace shoal::internal
