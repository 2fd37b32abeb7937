// A reduction of rows of two to four elements becomes ops of slices: vectors then lie across the rows, where they would
// hold one row each.
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

constexpr int64_t kLongest = 4, kFewestRows = 1 << 10;

// What is made of the result, element by element, and given back to the rows is better reduced where they are gone through.
bool GoesBackToRows(const Instruction& reduce, Users& users) {
  std::vector<const Instruction*> looked{&reduce};
  for (size_t i = 0; i < looked.size(); ++i) {
    for (const Instruction* user : users.Of(*looked[i])) {
      if (IsBroadcast(*user)) return true;
      const bool goes_on = IsReshape(*user) || IsElementwise(*user);
      if (goes_on && std::ranges::find(looked, user) == looked.end()) looked.push_back(user);
    }
  }
  return false;
}

// The op that is applied; none if it stays a reduction.
const Instruction* OpOfShortRows(const Instruction& hlo) {
  if (!IsLoopReduction(hlo) || hlo.operand_count() != 2 || !hlo.shape().IsArray()) return nullptr;
  const Shape& rows = hlo.operand_shape(0);
  const Ints reduced = hlo[kDimensions];
  if (reduced.size() != 1 || reduced[0] != rows.rank() - 1 || rows.dims().back() < 2 || rows.dims().back() > kLongest) return nullptr;
  if (hlo.shape().ElementCount().value_or(0) < kFewestRows) return nullptr;
  const ElementType type = hlo.shape().element_type();
  const Instruction* op = OnlyOpOf(*hlo[kToApply]);
  if (op == nullptr || op->shape().element_type() != type || rows.element_type() != type || IsComplex(type)) return nullptr;
  // Sums of narrow floats are kept in f32 until the row is through.
  return ReturnsAnOperand(op->opcode) || !IsFloat(type) || BitWidth(type) >= 32 ? op : nullptr;
}

Instruction* Expanded(Instruction& hlo, const Instruction& op, Module& module, Computation& computation) {
  const int64_t last = hlo.operand_shape(0).rank() - 1;
  Instruction* folded = NewBroadcast(module, computation, hlo.shape_, hlo.operands[1], {}, hlo);
  for (int64_t i = 0; i < hlo.operand_shape(0).dim(last); ++i) {
    Instruction* column = NewSlice(module, computation, hlo.operands[0], {last, i, i + 1}, hlo);
    Instruction* const operands[] = {folded, NewReshape(module, computation, hlo.shape_, column, hlo)};
    folded = CopyInstruction(module, computation, op, operands);
    folded->shape_ = hlo.shape_;
  }
  return folded;
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
      const Instruction* op = OpOfShortRows(*hlo);
      if (op != nullptr && !GoesBackToRows(*hlo, users)) found.emplace_back(hlo, op);
    }
    for (const auto& [hlo, op] : found) replacements[hlo] = Expanded(*hlo, *op, module, *computation);
    if (replacements.empty()) continue;
    any = true;
    ApplyReplacements(replacements, module, *computation);
  }
  return any;
}

}  // namespace shoal::internal
