// Unrolls reductions of rows with two to four elements into elementwise ops on slices. Vectors then hold elements of
// many rows instead of one short row.
#include <algorithm>

#include "core/ir/users.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "core/ops/working_types.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMaxRowLength = 4, kMinRows = 1 << 10;

// True if the result is broadcast back to the rows, even after elementwise ops: a loop over rows is then faster.
bool IsBroadcastBackToRows(const Instruction& reduce, Users& users) {
  std::vector<const Instruction*> worklist{&reduce};
  for (size_t i = 0; i < worklist.size(); ++i) {
    for (const Instruction* user : users.Of(*worklist[i])) {
      if (IsBroadcast(*user)) return true;
      const bool is_forwarded = IsReshape(*user) || IsElementwise(*user);
      if (is_forwarded && std::ranges::find(worklist, user) == worklist.end()) worklist.push_back(user);
    }
  }
  return false;
}

// Returns the op that the unrolled reduction applies; null if the reduction is not unrolled.
const Instruction* ShortReductionOp(const Instruction& hlo) {
  if (!IsLoopReduction(hlo) || hlo.operand_count() != 2 || !hlo.shape().IsArray()) return nullptr;
  const Shape& rows = hlo.operand_shape(0);
  const Ints reduced = hlo[kDimensions];
  if (reduced.size() != 1 || reduced[0] != rows.rank() - 1 || rows.dims().back() < 2 || rows.dims().back() > kMaxRowLength) return nullptr;
  if (hlo.shape().ElementCount().value_or(0) < kMinRows) return nullptr;
  const ElementType type = hlo.shape().element_type();
  const Instruction* op = OnlyOpOf(*hlo[kToApply]);
  if (op == nullptr || op->shape().element_type() != type || rows.element_type() != type || IsComplex(type)) return nullptr;
  // Reductions of narrow floats accumulate in f32 over the row, so they are kept.
  return ReturnsAnOperand(op->opcode) || !IsFloat(type) || BitWidth(type) >= 32 ? op : nullptr;
}

Instruction* Unroll(Instruction& hlo, const Instruction& op, Module& module, Computation& computation) {
  const int64_t last = hlo.operand_shape(0).rank() - 1;
  Instruction* result = NewBroadcast(module, computation, hlo.shape_, hlo.operands[1], {}, hlo);
  for (int64_t i = 0; i < hlo.operand_shape(0).dim(last); ++i) {
    Instruction* column = NewSlice(module, computation, hlo.operands[0], {last, i, i + 1}, hlo);
    Instruction* const operands[] = {result, NewReshape(module, computation, hlo.shape_, column, hlo)};
    result = CopyInstruction(module, computation, op, operands);
    result->shape_ = hlo.shape_;
  }
  return result;
}

}  // namespace

Result<bool> UnrollShortReductions(Module& module, const PassContext&) {
  bool any = false;
  Users users;
  for (Computation* computation : module.computations) {
    Replacements replacements;
    const std::vector<Instruction*> before = computation->instructions;
    std::vector<std::pair<Instruction*, const Instruction*>> found;
    for (Instruction* hlo : before) {
      const Instruction* op = ShortReductionOp(*hlo);
      if (op != nullptr && !IsBroadcastBackToRows(*hlo, users)) found.emplace_back(hlo, op);
    }
    for (const auto& [hlo, op] : found) replacements[hlo] = Unroll(*hlo, *op, module, *computation);
    if (replacements.empty()) continue;
    any = true;
    ApplyReplacements(replacements, module, *computation);
  }
  return any;
}

}  // namespace shoal::internal
