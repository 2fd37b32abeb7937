#include "compile/program/evaluation_reason.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ops/custom_calls.h"
#include "core/ops/element_work.h"
#include "core/ops/traits.h"
#include "core/ops/working_types.h"
#include "transform/loops/loop_ops.h"
#include "transform/loops/match_sort_keys.h"

namespace shoal::internal {
namespace {

// Reasons that do not depend on the elements that the op computes.
const char* ReasonWithoutWork(const Instruction& hlo) {
  switch (Info(hlo.opcode).op_class) {
    case OpClass::kControlFlow:
      return IsLoop(hlo) ? "its body runs step by step" : "its computations run step by step";
    case OpClass::kCollective:
      return "communicates";
    case OpClass::kTransfer:
      return "transfers data or waits";
    case OpClass::kRandom:
      return "generates random bits";
    case OpClass::kLinearAlgebra:
      return "LAPACK or a small transform";
    case OpClass::kOpaque:
      return FactsOf(hlo) != nullptr ? "library function" : "unknown custom call";
    default:
      return "shares its operand's memory";
  }
}

template <class Predicate>
const Shape* FindShape(const Instruction& hlo, const Predicate& is_wanted) {
  const Shape* found = nullptr;
  auto look = [&](const Shape& shape) {
    for (const Shape* leaf : LeafShapes(shape))
      if (found == nullptr && leaf->IsArray() && is_wanted(*leaf)) found = leaf;
  };
  look(hlo.shape());
  for (const Instruction* operand : hlo.operands) look(operand->shape());
  return found;
}

std::string ReductionReason(const Instruction& hlo) {
  if (IsSort(hlo)) return MatchSortKeys(*hlo[kToApply]) ? "empty" : "the comparator does not compare keys";
  const std::vector<Computation*> functions = CalledComputations(hlo);
  if (functions.size() != 1) return "window or functions without a kernel";
  const Instruction* op = OnlyOpOf(*functions[0]);
  if (op == nullptr) return "the function is more than one op";
  const ElementType type = op->shape().element_type();
  if (IsFloat(type) && BitWidth(type) < 32) return StrCat("rounds to ", Text(type), " at each step");
  if (IsReduceWindow(hlo)) return "window or initial value without a kernel";
  return "the initial value is not neutral";
}

// The first instruction of a fusion that no loop nest can compute.
const Instruction* FirstWithoutLoop(const Computation& fused) {
  for (const Instruction* hlo : fused.instructions) {
    const bool has_loop = IsLoopOp(*hlo) || IsKernelReduction(*hlo) || IsSplittableConcat(*hlo) ||
                          IsSingleElementConstant(*hlo) || Info(hlo->opcode).op_class == OpClass::kStructure;
    if (!has_loop && !IsFusion(*hlo)) return hlo;
  }
  return nullptr;
}

}  // namespace

std::string EvaluationReason(const Instruction& hlo) {
  if (!HasElementWork(hlo)) return ReasonWithoutWork(hlo);
  if (!hlo[kControlPredecessors].empty()) return "has control predecessors";
  if (IsFusion(hlo)) {
    const Instruction* inside = FirstWithoutLoop(*hlo[kCalls]);
    if (inside == nullptr) return "its loops cannot be merged";
    return StrCat("contains ", Text(inside->opcode), " ", inside->name, ": ", EvaluationReason(*inside));
  }
  if (FindShape(hlo, [](const Shape& shape) { return shape.has_dynamic(); }) != nullptr) return "dynamic sizes";
  if (FindShape(hlo, [](const Shape& shape) { return shape.ElementCount().value_or(0) <= 0; }) != nullptr) return "empty";
  if (WorkingTypesOf(hlo).mixed) return "mixes float types";
  if (const Shape* shape = FindShape(hlo, [](const Shape& shape) { return !IsLoopOrComplexType(shape.element_type()); }))
    return StrCat("no code for ", Text(shape->element_type()));
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (op_class == OpClass::kReduction) return ReductionReason(hlo);
  if (IsScatter(hlo)) return "no code for its function";
  if (op_class == OpClass::kContraction) return "no library function for these dimensions";
  return "no code for this op";
}

}  // namespace shoal::internal
