#include "analyze/diff/stage_changes.h"

#include "core/base/strings.h"
#include "core/ops/op.h"

namespace shoal::internal {

StageChanges ChangesOfStage(const ModuleFacts& before, const ModuleFacts& after, std::string stage) {
  StageChanges result{std::move(stage), 0, {}};
  for (const Computation* computation : after.module().computations)
    result.instructions += std::ssize(computation->instructions);
  const DiffSide a(before, false), b(after, false);
  for (const Change& change : ChangesBetween(a, b)) {
    const Instruction* hlo = change.instruction();
    result.counts[change.kind][hlo == nullptr ? change.what : std::string(Text(hlo->opcode))] += change.count;
  }
  return result;
}

std::string ToString(const StageChanges& changes) {
  std::string text;
  for (const auto& [kind, ops] : changes.counts) {
    StrAppend(&text, text.empty() ? "" : "; ", ToString(kind));
    bool first = true;
    for (const auto& [op, count] : ops) {
      StrAppend(&text, first ? " " : ", ", op);
      if (count > 1) StrAppend(&text, " × ", count);
      first = false;
    }
  }
  return text;
}

}  // namespace shoal::internal
