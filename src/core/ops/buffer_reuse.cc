#include "core/ops/buffer_reuse.h"

#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/in_place.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

bool IsElementwiseOn(const Instruction& hlo, size_t operand) {
  static constexpr Opcode kOtherOps[] = {Opcode::kCopy, Opcode::kBitcastConvert, Opcode::kMap};
  if (hlo.opcode == Opcode::kDynamicUpdateSlice) return operand == 0;
  if (hlo.opcode == Opcode::kBitcastConvert && hlo.operand_count() == 1 &&
      StorageBytes(hlo.shape().element_type()) != StorageBytes(hlo.operand_shape(0).element_type()))
    return false;
  return Info(hlo.opcode).op_class == OpClass::kElementwise ||
         std::find(std::begin(kOtherOps), std::end(kOtherOps), hlo.opcode) != std::end(kOtherOps);
}

int64_t UseCount(const Instruction& hlo, const Instruction& operand) {
  return std::count(hlo.operands.begin(), hlo.operands.end(), &operand);
}
size_t OperandIndex(const Instruction& hlo, const Instruction& operand) {
  return static_cast<size_t>(std::find(hlo.operands.begin(), hlo.operands.end(), &operand) - hlo.operands.begin());
}
bool IsElementwiseOn(const Instruction& hlo, const Instruction& operand) {
  for (size_t i = 0; i < hlo.operand_count(); ++i)
    if (hlo.operands[i] == &operand && !IsElementwiseOn(hlo, i)) return false;
  return true;
}

// The parameter of a fusion's computation that receives `operand`; null if loose text omits it.
const Instruction* ParameterFor(const Instruction& fusion, const Instruction& operand) {
  const Computation* fused = fusion[kCalls];
  const size_t number = OperandIndex(fusion, operand);
  if (fused == nullptr || fused->root == nullptr || number >= fused->parameters.size()) return nullptr;
  return fused->parameters[number];
}

bool IsInPlace(const ValuePart& operand, const ValuePart& result) {
  for (const InPlace& in_place : InPlaceOf(result.hlo))
    if (in_place.result_index == result.index && in_place.operand_index == operand.index && in_place.operand >= 0 &&
        in_place.operand < std::ssize(result.hlo.operands) &&
        result.hlo.operands[static_cast<size_t>(in_place.operand)] == &operand.hlo)
      return true;
  return false;
}

// True if the op itself allows reuse. The operand and the result must have the same shape.
bool OpAllows(const ValuePart& operand, const ValuePart& result) {
  static constexpr Opcode kOneOperand[] = {Opcode::kDynamicUpdateSlice, Opcode::kScatter, Opcode::kSetDimensionSize,
                                           Opcode::kTriangularSolve};
  const Instruction& hlo = result.hlo;
  if (IsLoop(hlo) || IsBranch(hlo)) return true;
  const size_t number = OperandIndex(hlo, operand.hlo);
  if (std::find(std::begin(kOneOperand), std::end(kOneOperand), hlo.opcode) != std::end(kOneOperand))
    return UseCount(hlo, operand.hlo) == 1 && number == (hlo.opcode == Opcode::kTriangularSolve ? 1 : 0);
  if (hlo.opcode == Opcode::kSort)
    return UseCount(hlo, operand.hlo) == 1 &&
           (hlo.operand_count() == 1 || (!result.index.empty() && result.index[0] == static_cast<int64_t>(number)));
  return IsElementwiseOn(hlo, number);
}

}  // namespace

bool BufferReuse::CanReuseOperand(const ValuePart& operand, const ValuePart& result) {
  if (IsConstant(operand.hlo)) return false;
  const bool same_shape = &operand.shape == &result.shape;
  if (same_shape && IsInPlace(operand, result)) return true;
  if (backend_ == Backend::kGpu)
    if (std::optional<bool> allowed = GpuAllows(operand, result)) return *allowed;
  if (!same_shape) return false;
  if (IsFusion(result.hlo)) return FusionAllows(operand, result.hlo);
  // A sort cannot overwrite an operand that has other users.
  if (result.hlo.opcode == Opcode::kSort && users_.Of(operand.hlo).size() != 1) return false;
  return OpAllows(operand, result);
}

bool BufferReuse::FusionAllows(const ValuePart& operand, const Instruction& fusion) {
  const Instruction* parameter = ParameterFor(fusion, operand.hlo);
  if (parameter == nullptr) return false;
  const FusionKind kind = FusionKindOf(fusion);
  if (kind == FusionKind::kLoop || kind == FusionKind::kInput) return IsElementwiseFrom(*parameter);
  const Instruction& root = *fusion[kCalls]->root;
  if (kind != FusionKind::kOutput || root.opcode != Opcode::kAdd || root.operand_count() != 2) return false;
  // The contraction is written over the other addend.
  auto is_contraction = [](const Instruction* hlo) {
    return hlo->opcode == Opcode::kConvolution || hlo->opcode == Opcode::kDot;
  };
  if (!is_contraction(root.operands[0]) && !is_contraction(root.operands[1])) return false;
  const Instruction* other = is_contraction(root.operands[0]) ? root.operands[1] : root.operands[0];
  return other == parameter && users_.Of(*parameter).size() == 1 && UseCount(root, *parameter) == 1;
}

bool BufferReuse::IsElementwiseFrom(const Instruction& parameter) {
  std::vector<const Instruction*> worklist{&parameter};
  std::vector<bool> seen(parameter.parent->instructions.size(), false);
  while (!worklist.empty()) {
    const Instruction& hlo = *worklist.back();
    worklist.pop_back();
    for (const Instruction* user : users_.Of(hlo)) {
      if (!IsTuple(*user) && !IsElementwiseOn(*user, hlo)) return false;
      if (!seen[user->index]) worklist.push_back(user);
      seen[user->index] = true;
    }
  }
  return true;
}

}  // namespace shoal::internal
