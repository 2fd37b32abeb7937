// Completion in StableHLO text: values after %, functions after @, and op names at the beginning of a statement.
#include "core/base/strings.h"
#include "core/ops/meanings.h"
#include "formats/stablehlo/op_table.h"
#include "serve/lsp/completion_items.h"

namespace shoal::internal {
namespace {

bool IsStatementStart(std::string_view before) {
  const size_t last = before.find_last_not_of(" \t");
  return last == std::string_view::npos || before[last] == '=' || before[last] == '\n' || before[last] == '{';
}

// The latest values first. Their scopes are not examined.
void AddValues(const TextIndex& index, uint32_t offset, CompletionItems& items) {
  const IndexedComputation* function = index.ComputationAt(offset);
  if (function == nullptr) return;
  const std::span<const IndexedInstruction> all = index.InstructionsOf(*function);
  for (auto hlo = all.rbegin(); hlo != all.rend() && !items.full(); ++hlo)
    if (hlo->whole.offset + hlo->whole.length < offset && index.TextOf(hlo->name).find(items.word()) == 0)
      items.Add(std::string(index.TextOf(hlo->name)), kVariableItem, std::string(index.TextOf(hlo->shape)));
}

}  // namespace

json StablehloCompletionsAt(const View& view, uint32_t offset) {
  const TextIndex& index = view.index();
  CompletionItems items(view, offset);
  const std::string_view word = items.word();
  if (word.starts_with('%')) {
    AddValues(index, offset, items);
  } else if (word.starts_with('@')) {
    for (const IndexedComputation& function : index.computations())
      if (!items.full()) items.Add(std::string(index.TextOf(function.name)), kClassItem, "");
  } else if (IsStatementStart(index.text().substr(0, offset - word.size()))) {
    for (const MlirOpInfo& op : MlirOps())
      items.Add(std::string(op.name), kFunctionItem, "", std::string(MeaningOf(op.opcode)));
  }
  return items.Take();
}

}  // namespace shoal::internal
