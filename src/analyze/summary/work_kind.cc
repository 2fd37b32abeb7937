#include "analyze/summary/work_kind.h"

#include "analyze/cost/kernel_descriptor.h"
#include "analyze/facts/logical_collective.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

WorkKind WorkKindOfClass(OpClass op_class) {
  switch (op_class) {
    case OpClass::kContraction: return WorkKind::kGemm;
    case OpClass::kCollective: return WorkKind::kCollective;
    case OpClass::kElementwise:
    case OpClass::kReduction:
    case OpClass::kRandom:
    case OpClass::kLinearAlgebra: return WorkKind::kElementwise;
    case OpClass::kIndexMap:
    case OpClass::kGatherScatter:
    case OpClass::kTransfer: return WorkKind::kMove;
    case OpClass::kOpaque: return WorkKind::kLibraryCall;
    case OpClass::kControlFlow: return WorkKind::kControl;
    case OpClass::kStructure: return WorkKind::kNone;
  }
  return WorkKind::kNone;
}

}  // namespace

bool IsMatrixProduct(const Instruction& hlo) {
  return IsContraction(hlo) || (IsCustomCall(hlo) && DescribeKernel(hlo).product);
}

WorkKind WorkKindOf(const Instruction& hlo, const FusionWorks& works) {
  const Instruction& op = Unwrapped(hlo);
  if (IsCommunication(op) || OpCategoryOf(op, works) == OpCategory::kCommunication) return WorkKind::kCollective;
  if (IsMatrixProduct(op)) return WorkKind::kGemm;
  if (IsFusion(op)) return WorkKindOfClass(works.Of(op).main_class);
  return WorkKindOfClass(Info(op.opcode).op_class);
}

}  // namespace shoal::internal
