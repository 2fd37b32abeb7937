#include "analyze/summary/op_category.h"

#include <algorithm>

#include "analyze/cost/cost.h"
#include "core/base/strings.h"
#include "core/ops/custom_calls.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

constexpr int64_t kHostMemory = 5;

bool IsOnHost(const Shape& shape) {
  return shape.IsArray() && shape.layout() != nullptr && shape.layout()->memory_space == kHostMemory;
}

// The shape of a copy-start is (destination, source, context).
bool CopiesToOrFromHost(const Instruction& hlo) {
  const Instruction& start = IsAsyncDone(hlo) && !hlo.operands.empty() ? *hlo.operands[0] : hlo;
  const auto elements = start.shape().elements();
  return std::any_of(elements.begin(), elements.end(), [](const Shape* element) { return IsOnHost(*element); });
}

OpCategory CategoryOfCustomCall(const Instruction& hlo) {
  if (HasTrait(hlo, kHostTransfer)) return OpCategory::kCommunication;
  return IsFreeCall(hlo) || IsAnnotation(hlo) ? OpCategory::kNone : OpCategory::kComputation;
}

OpCategory CategoryOfTransfer(const Instruction& hlo, const FusionWorks& works) {
  if (IsAsyncCopy(hlo)) return CopiesToOrFromHost(hlo) ? OpCategory::kCommunication : OpCategory::kNone;
  if (!IsAsyncChain(hlo)) return OpCategory::kCommunication;
  if (!IsAsyncStart(hlo) && !IsAsyncDone(hlo)) return OpCategory::kNone;  // an async-update
  const Instruction& wrapped = Unwrapped(hlo);
  return &wrapped == &hlo ? OpCategory::kComputation : OpCategoryOf(wrapped, works);
}

}  // namespace

const Instruction& Unwrapped(const Instruction& hlo) {
  if (!IsAsyncChain(hlo)) return hlo;
  const Instruction* wrapped = AsyncWrapped(hlo);
  return wrapped != nullptr ? *wrapped : hlo;
}

OpCategory OpCategoryOf(const Instruction& hlo, const FusionWorks& works) {
  static constexpr OpClass kHeavy[] = {OpClass::kContraction,   OpClass::kReduction, OpClass::kLinearAlgebra,
                                       OpClass::kGatherScatter, OpClass::kRandom,    OpClass::kOpaque};
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (IsHiddenByDefault(hlo)) return OpCategory::kNone;
  if (IsFusion(hlo)) return works.Of(hlo).is_trivial ? OpCategory::kNone : OpCategory::kComputation;
  if (IsCustomCall(hlo)) return CategoryOfCustomCall(hlo);
  if (op_class == OpClass::kTransfer) return CategoryOfTransfer(hlo, works);
  if (op_class == OpClass::kCollective) return OpCategory::kCommunication;
  const bool heavy = std::find(std::begin(kHeavy), std::end(kHeavy), op_class) != std::end(kHeavy);
  return heavy ? OpCategory::kComputation : OpCategory::kNone;
}

bool IsArithmetic(const Instruction& hlo, const FusionWorks& works) {
  return IsFusion(hlo) ? works.Of(hlo).is_arithmetic : IsArithmetic(Info(hlo.opcode).op_class);
}

std::string LabelOf(const Instruction& hlo, const FusionWorks& works) {
  if (IsFusion(hlo)) return StrCat("fusion: ", works.Of(hlo).label);
  if (IsUnknown(hlo)) return std::string(hlo[kUnknownOpcode]);
  if (IsCustomCall(hlo)) return StrCat("custom-call ", TargetOf(hlo));
  return std::string(Text(hlo.opcode));
}

std::string TotalsKindOf(const Instruction& hlo, const FusionWorks& works) {
  if (IsFusion(hlo)) return StrCat(works.Of(hlo).main, " fusion");
  if (IsCustomCall(hlo)) return std::string(TargetOf(hlo));
  return LabelOf(hlo, works);
}

}  // namespace shoal::internal
