
#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

bool IsIdentityOrder(Ints dimensions) {
  for (size_t i = 0; i < dimensions.size(); ++i)
    if (dimensions[i] != static_cast<int64_t>(i)) return false;
  return true;
}

// Returns the operand if the instruction forwards it unchanged: same shape, same layout, same element order.
Instruction* ForwardedOperand(const Instruction& hlo) {
  if (hlo.operand_count() != 1 || hlo.operands[0]->shape_ != hlo.shape_) return nullptr;
  const bool always = IsCopy(hlo) || IsConvert(hlo) || IsReshape(hlo) || IsBitcast(hlo);
  const bool in_order = (IsTranspose(hlo) || IsBroadcast(hlo)) && IsIdentityOrder(hlo[kDimensions]);
  return always || in_order ? hlo.operands[0] : nullptr;
}

// For reshape(reshape(x)): x, which the outer reshape can use instead of its operand.
Instruction* InnerReshapeOperand(const Instruction& hlo) {
  if (hlo.operand_count() != 1 || !IsReshape(hlo) || !IsReshape(*hlo.operands[0]))
    return nullptr;
  if (hlo.shape().has_dynamic() || hlo.operand_shape(0).has_dynamic()) return nullptr;
  Instruction* origin = hlo.operands[0]->operands[0];
  return origin->shape().has_dynamic() ? nullptr : origin;
}

// For transpose(transpose(x)): the dimensions of the single transpose of x that equals it. Empty for other ops.
std::vector<int64_t> ComposedOrder(const Instruction& hlo) {
  if (!IsTranspose(hlo) || !IsTranspose(*hlo.operands[0]) || hlo.shape().has_dynamic())
    return {};
  const Ints outer = hlo[kDimensions], inner = (*hlo.operands[0])[kDimensions];
  std::vector<int64_t> order;
  for (int64_t d : outer) order.push_back(inner[static_cast<size_t>(d)]);
  return order;
}

// True for a transpose that only moves dimensions of size 1, which does not change the order of the elements.
bool IsNoOpTranspose(const Instruction& hlo) {
  if (!IsTranspose(hlo) || hlo.shape().has_dynamic() || hlo.operand_shape(0).has_dynamic()) return false;
  int64_t last = -1;
  for (int64_t d : hlo[kDimensions]) {
    if (hlo.operand_shape(0).dim(d) == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

// The operand chosen by a select whose condition is a splat constant.
Instruction* SelectedOperand(const Instruction& hlo) {
  if (!IsSelect(hlo) || hlo.operand_count() != 3) return nullptr;
  const Instruction* condition = hlo.operands[0];
  if (IsBroadcast(*condition)) condition = condition->operands[0];
  if (!IsSingleElementConstant(*condition) || condition->shape().element_type() != ElementType::kPred) return nullptr;
  Instruction* chosen = hlo.operands[(*condition)[kConstantValue]->data[0] != std::byte{0} ? 1 : 2];
  return chosen->shape_ == hlo.shape_ ? chosen : nullptr;
}

}  // namespace

Result<bool> SimplifyAlgebra(Module& module, const PassContext& context) {
  bool any = false;
  const auto wrapped = WrappedComputations(module);
  for (Computation* computation : module.computations) {
    if (wrapped.contains(computation)) continue;
    Replacements replacements;
    for (Instruction* hlo : computation->instructions) {
      for (Instruction*& operand : hlo->operands) operand = ResolveReplacement(replacements, operand);
      if (!(*hlo)[kControlPredecessors].empty()) continue;
      if (const std::vector<int64_t> order = ComposedOrder(*hlo); !order.empty()) {
        hlo->operands[0] = hlo->operands[0]->operands[0];
        SetAttr(*hlo, module, kDimensions, Ints(module.arena.Copy(order)));
        any = true;
      }
      if (IsNoOpTranspose(*hlo) && !IsIdentityOrder((*hlo)[kDimensions])) {
        TurnIntoReshape(*hlo, module);
        any = true;
      }
      if (Instruction* origin = InnerReshapeOperand(*hlo)) {
        hlo->operands[0] = origin;
        any = true;
      }
      Instruction* value = ForwardedOperand(*hlo);
      if (value == nullptr) value = SelectedOperand(*hlo);
      if (value != nullptr) replacements[hlo] = value;
    }
    any |= !replacements.empty();
    Apply(replacements, module, *computation);
  }
  if (any) SHOAL_TRY(RemoveDeadCode(module, context));  // a fusion must not contain unused instructions
  return any;
}

}  // namespace shoal::internal
