// Rewrites an elementwise op of broadcast scalars as the broadcast of a scalar op. The op is then computed only once,
// and constant scalars can be folded.
#include <algorithm>

#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

// Returns the scalar that every element of `hlo` equals; null if unknown.
Instruction* ScalarOf(Instruction& hlo) {
  if (!hlo.shape().IsArray()) return nullptr;
  if (hlo.shape().rank() == 0) return &hlo;
  if (!IsBroadcast(hlo) || hlo.operand_shape(0).rank() != 0) return nullptr;
  // In loose text, a broadcast may change the element type.
  return hlo.operand_shape(0).element_type() == hlo.shape().element_type() ? hlo.operands[0] : nullptr;
}

bool CanSink(const Instruction& hlo) {
  if (!IsElementwise(hlo) || !IsPureAndMovable(hlo) || hlo.operand_count() == 0 || !hlo[kControlPredecessors].empty()) return false;
  const Shape& shape = hlo.shape();
  if (!shape.IsArray() || shape.rank() == 0 || shape.has_dynamic()) return false;
  return std::all_of(hlo.operands.begin(), hlo.operands.end(), [&](Instruction* operand) {
    if (ScalarOf(*operand) == nullptr || operand->shape().has_dynamic()) return false;
    return operand->shape().rank() == 0 || std::ranges::equal(operand->shape().dims(), shape.dims());
  });
}

Instruction* SinkBroadcast(Instruction& hlo, Module& module, Computation& computation) {
  std::vector<Instruction*> scalars;
  for (Instruction* operand : hlo.operands) scalars.push_back(ScalarOf(*operand));
  Instruction* scalar = CopyInstruction(module, computation, hlo, scalars);
  scalar->shape_ = module.shapes.Scalar(hlo.shape().element_type());
  return NewBroadcast(module, computation, hlo.shape_, scalar, {}, hlo);
}

}  // namespace

Result<bool> SinkBroadcasts(Module& module, const PassContext&) {
  bool any = false;
  const auto embedded = EmbeddedComputations(module);
  for (Computation* computation : module.computations) {
    if (embedded.contains(computation)) continue;
    Replacements replacements;
    const std::vector<Instruction*> instructions(computation->instructions.begin(), computation->instructions.end());
    for (Instruction* hlo : instructions) {
      for (Instruction*& operand : hlo->operands) operand = ResolveReplacement(replacements, operand);
      if (CanSink(*hlo)) replacements[hlo] = SinkBroadcast(*hlo, module, *computation);
    }
    if (replacements.empty()) continue;
    ApplyReplacements(replacements, module, *computation);
    any = true;
  }
  return any;
}

}  // namespace shoal::internal
