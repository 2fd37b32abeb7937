// Folds transposes into dots. A dot can read a transposed operand directly, and swapping its operands transposes its
// result. The transpose of a weight gradient, for example, then needs no separate instruction.
#include <algorithm>

#include "core/ir/rewrite.h"
#include "core/ir/users.h"
#include "core/ops/contraction.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

struct SideDims {
  Attr<Ints> batch, contracting;
};
constexpr SideDims kSides[] = {{kLhsBatchDims, kLhsContractingDims}, {kRhsBatchDims, kRhsContractingDims}};

bool IsPlainDot(const Instruction& hlo) {
  return IsDot(hlo) && hlo.operand_count() == 2 && hlo[kControlPredecessors].empty() && !hlo.shape().has_dynamic();
}

// Number of dimensions of an operand that are neither batch nor contracting dimensions.
int64_t KeptDims(const Instruction& dot, size_t side) {
  return dot.operand_shape(side).rank() - std::ssize(dot[kSides[side].batch]) - std::ssize(dot[kSides[side].contracting]);
}

// The order of the result's dimensions if the operands are swapped.
std::vector<int64_t> SwappedOrder(const Instruction& dot) {
  const int64_t batch = std::ssize(dot[kLhsBatchDims]), left = KeptDims(dot, 0), right = KeptDims(dot, 1);
  std::vector<int64_t> order;
  for (int64_t d = 0; d < batch; ++d) order.push_back(d);
  for (int64_t d = 0; d < right; ++d) order.push_back(batch + left + d);
  for (int64_t d = 0; d < left; ++d) order.push_back(batch + d);
  return order;
}

// Returns the dot whose result is transposed, if the transpose is its only user and only swaps lhs and rhs dimensions.
Instruction* DotWithSwappableSides(const Instruction& transpose, Users& users) {
  if (!IsTranspose(transpose) || !transpose[kControlPredecessors].empty() || !IsPlainDot(*transpose.operands[0])) return nullptr;
  Instruction* dot = transpose.operands[0];
  if (users.Of(*dot).size() != 1 || dot == dot->parent->root || dot->shape().element_type() != transpose.shape().element_type())
    return nullptr;
  return std::ranges::equal(transpose[kDimensions], SwappedOrder(*dot)) ? dot : nullptr;
}

Instruction* SwapOperands(const Instruction& transpose, const Instruction& dot, Module& module, Computation& computation) {
  Instruction* const operands[] = {dot.operands[1], dot.operands[0]};
  Instruction* swapped = CopyInstruction(module, computation, dot, operands);
  swapped->shape_ = transpose.shape_;
  for (size_t side : {0, 1}) {
    if (const Ints batch = dot[kSides[1 - side].batch]; !batch.empty()) SetAttr(*swapped, module, kSides[side].batch, batch);
    SetAttr(*swapped, module, kSides[side].contracting, dot[kSides[1 - side].contracting]);
  }
  if (const EnumList precision = dot[kOperandPrecision]; precision.size() == 2) {
    auto reversed = module.arena.Copy(precision);
    std::swap(reversed[0], reversed[1]);
    SetAttr(*swapped, module, kOperandPrecision, EnumList(reversed));
  }
  return swapped;
}

// Replaces an operand that is a transpose by the operand of the transpose, if the kept dimensions stay in order.
bool FoldOperandTranspose(Instruction& dot, size_t side, Module& module) {
  const Instruction& transpose = *dot.operands[side];
  if (!IsTranspose(transpose) || transpose.shape().has_dynamic()) return false;
  const Ints order = transpose[kDimensions], batch = dot[kSides[side].batch], contracting = dot[kSides[side].contracting];
  int64_t last = -1;
  for (int64_t d = 0; d < transpose.shape().rank(); ++d) {
    if (std::ranges::count(batch, d) + std::ranges::count(contracting, d) > 0) continue;
    if (order[static_cast<size_t>(d)] < last) return false;
    last = order[static_cast<size_t>(d)];
  }
  auto untransposed = [&](Ints dims) {
    std::vector<int64_t> mapped;
    for (int64_t d : dims) mapped.push_back(order[static_cast<size_t>(d)]);
    return Ints(module.arena.Copy(mapped));
  };
  if (!batch.empty()) SetAttr(dot, module, kSides[side].batch, untransposed(batch));
  SetAttr(dot, module, kSides[side].contracting, untransposed(contracting));
  dot.operands[side] = transpose.operands[0];
  return true;
}

}  // namespace

Result<bool> FoldTransposes(Module& module, const PassContext&) {
  bool any = false;
  Users users;
  const auto embedded = EmbeddedComputations(module);
  for (Computation* computation : module.computations) {
    if (embedded.contains(computation)) continue;
    std::vector<std::pair<Instruction*, Instruction*>> found;
    for (Instruction* hlo : computation->instructions)
      if (Instruction* dot = DotWithSwappableSides(*hlo, users)) found.emplace_back(hlo, dot);
    Replacements replacements;
    for (const auto& [transpose, dot] : found) replacements[transpose] = SwapOperands(*transpose, *dot, module, *computation);
    if (!replacements.empty()) ApplyReplacements(replacements, module, *computation);
    any |= !replacements.empty();
    for (Instruction* hlo : computation->instructions)
      for (size_t side : {0, 1})
        if (IsPlainDot(*hlo)) any |= FoldOperandTranspose(*hlo, side, module);
  }
  return any;
}

}  // namespace shoal::internal
