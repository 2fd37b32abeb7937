#include <algorithm>

#include "ir/rewrite.h"
#include "ops/families.h"
#include "passes/pass.h"
#include "passes/traits.h"

namespace shoal {
namespace {

bool IsIdentityOrder(Ints dimensions) {
  for (size_t i = 0; i < dimensions.size(); ++i)
    if (dimensions[i] != static_cast<int64_t>(i)) return false;
  return true;
}

// The operand if the instruction hands it on as it is: same shape, same layout, same elements in the same places.
Instruction* HandsOn(const Instruction& hlo) {
  if (hlo.operand_count() != 1 || hlo.operands[0]->shape_ != hlo.shape_) return nullptr;
  static constexpr Opcode kAlways[] = {Opcode::kCopy, Opcode::kConvert, Opcode::kReshape, Opcode::kBitcast};
  static constexpr Opcode kInOrder[] = {Opcode::kTranspose, Opcode::kBroadcast};
  auto is_one_of = [&](auto& ops) { return std::find(std::begin(ops), std::end(ops), hlo.opcode) != std::end(ops); };
  if (is_one_of(kAlways) || (is_one_of(kInOrder) && IsIdentityOrder(hlo[kDimensions]))) return hlo.operands[0];
  return nullptr;
}

// reshape(reshape(x)): what the outer one may take instead of its operand.
Instruction* SkipsOperand(const Instruction& hlo) {
  if (hlo.operand_count() != 1 || hlo.opcode != Opcode::kReshape || hlo.operands[0]->opcode != Opcode::kReshape)
    return nullptr;
  if (hlo.shape().has_dynamic() || hlo.operand_shape(0).has_dynamic()) return nullptr;
  Instruction* origin = hlo.operands[0]->operands[0];
  return origin->shape().has_dynamic() ? nullptr : origin;
}

}  // namespace

Result<bool> SimplifyAlgebra(Module& module) {
  bool any = false;
  for (Computation* computation : module.computations) {
    Replacements replacements;
    for (Instruction* hlo : computation->instructions) {
      for (Instruction*& operand : hlo->operands) operand = Resolve(replacements, operand);
      if (!(*hlo)[kControlPredecessors].empty()) continue;
      if (Instruction* origin = SkipsOperand(*hlo)) {
        hlo->operands[0] = origin;
        any = true;
      }
      if (Instruction* same = HandsOn(*hlo)) replacements[hlo] = same;
    }
    any |= !replacements.empty();
    Apply(replacements, module, *computation);
  }
  return any;
}

}  // namespace shoal
