// Outline, folding ranges and workspace symbols.
#include "core/base/strings.h"
#include "core/ops/traits.h"
#include "serve/lsp/features.h"

namespace shoal::internal {
namespace {

enum : int { kFunction = 12, kVariable = 13, kMethod = 6 };  // SymbolKind

// The opcode and shape of an instruction as written.
std::string DetailOf(const TextIndex& index, const IndexedInstruction& hlo) {
  return StrCat(index.TextOf(hlo.shape), hlo.shape.known() ? " " : "", index.TextOf(hlo.opcode));
}

json SymbolOf(const View& view, std::string_view name, int kind, std::string detail, TextSpan whole, TextSpan at) {
  return {{"name", name.empty() ? "?" : name}, {"kind", kind},
          {"detail", std::move(detail)},       {"range", view.RangeOf(whole)},
          {"selectionRange", view.RangeOf(at)}};
}

// Loops carry their trip count, as in the outline of `shoal show`.
std::string TripsOf(const View& view, const IndexedInstruction& written) {
  const ModuleAnalysis* analysis = view.snapshot->analysis();
  const Instruction* hlo = analysis == nullptr ? nullptr : view.snapshot->InstructionOf(written);
  const TripCount* trips =
      hlo != nullptr && IsLoop(*hlo) ? analysis->executions().FindTripCount(*hlo) : nullptr;
  return trips == nullptr || !trips->known() ? "" : StrCat(" × ", trips->count);
}

}  // namespace

json SymbolsOf(const View& view) {
  // Clients receive all symbols in one answer. For a large module, only instructions that call computations are listed.
  constexpr size_t kMaxInstructions = 20000;
  const TextIndex& index = view.index();
  const bool all = index.instructions().size() <= kMaxInstructions;
  json symbols = json::array();
  for (const IndexedComputation& computation : index.computations()) {
    json symbol = SymbolOf(view, index.NameOf(computation), kFunction, computation.is_entry ? "ENTRY" : "",
                           computation.whole, computation.name);
    json children = json::array();
    for (const IndexedInstruction& hlo : index.InstructionsOf(computation)) {
      const bool calls = hlo.opcode.known() && Info(index.OpcodeOf(hlo)).op_class == OpClass::kControlFlow;
      if (!all && !calls) continue;
      children.push_back(SymbolOf(view, index.NameOf(hlo), calls ? kMethod : kVariable,
                                  DetailOf(index, hlo) + TripsOf(view, hlo), hlo.whole, hlo.name));
    }
    symbol["children"] = std::move(children);
    symbols.push_back(std::move(symbol));
  }
  return symbols;
}

json FoldingRangesOf(const View& view) {
  const Lines& lines = view.snapshot->lines();
  json ranges = json::array();
  const auto add = [&](uint32_t from, uint32_t to, const char* kind) {
    const uint32_t first = lines.LineOf(from), last = lines.LineOf(to);
    if (last <= first) return;
    json range = {{"startLine", first}, {"endLine", last}};
    if (kind != nullptr) range["kind"] = kind;
    ranges.push_back(std::move(range));
  };
  for (const IndexedComputation& computation : view.index().computations())
    add(computation.open, computation.close > 0 ? computation.close - 1 : 0, nullptr);
  // The tables of stack frames before the first computation.
  const std::string_view text = view.snapshot->text();
  for (const std::string_view table : {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}) {
    const size_t start = text.find(StrCat("\n", table, "\n"));
    if (start == std::string_view::npos) continue;
    const size_t end = text.find("\n\n", start + 1);
    add(static_cast<uint32_t>(start + 1), static_cast<uint32_t>(std::min(end, text.size() - 1)), "region");
  }
  return ranges;
}

json WorkspaceSymbolsOf(const View& view, const std::string& query, size_t limit) {
  const TextIndex& index = view.index();
  json symbols = json::array();
  const auto add = [&](std::string_view name, int kind, TextSpan at, std::string_view container) {
    if (symbols.size() >= limit || name.find(query) == std::string_view::npos) return;
    symbols.push_back({{"name", name}, {"kind", kind}, {"location", view.LocationOf(at)}, {"containerName", container}});
  };
  for (const IndexedComputation& computation : index.computations())
    add(index.NameOf(computation), kFunction, computation.name, "");
  for (const IndexedInstruction& hlo : index.instructions())
    add(index.NameOf(hlo), kVariable, hlo.name, index.NameOf(index.computations()[hlo.computation]));
  return symbols;
}

}  // namespace shoal::internal
