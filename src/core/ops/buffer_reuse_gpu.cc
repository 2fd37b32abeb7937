// Rules of buffer reuse specific to GPUs: kernels that overwrite their operands, and library calls that do not.
#include <algorithm>

#include "core/ops/buffer_reuse.h"
#include "core/ops/backend_config.h"
#include "core/ops/custom_calls.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

bool IsOneElement(const Shape& shape) { return shape.IsArray() && shape.ElementCount() == 1; }

const Instruction& WithoutBitcast(const Instruction& hlo) {
  return IsBitcast(hlo) && hlo.operand_count() == 1 ? *hlo.operands[0] : hlo;
}

std::vector<const Instruction*> RootsOf(const Computation& fused) {
  if (!IsTuple(*fused.root)) return {fused.root};
  return {fused.root->operands.begin(), fused.root->operands.end()};
}

// The reduction that a kernel computes before it writes any output; null if there is none. Fusions of kind kCustom
// become kernels of other kinds.
const Instruction* ReductionOf(const Instruction& fusion) {
  if (FusionKindOf(fusion) == FusionKind::kCustom) return nullptr;
  for (const Instruction* root : RootsOf(*fusion[kCalls])) {
    while (root->operand_count() == 1) root = root->operands[0];
    if (root->opcode == Opcode::kReduce) return root;
  }
  return nullptr;
}

bool SameSize(const Shape& a, const Shape& b) {
  return &a == &b || (a.IsArray() && b.IsArray() && a.ElementCount() == b.ElementCount() &&
                      BitWidth(a.element_type()) == BitWidth(b.element_type()));
}

// True if `slice` is a dynamic-slice of the array that the dynamic-update-slice `update` writes to, of equal size.
bool ReadsUpdatedArray(const Instruction& slice, const Instruction& update) {
  if (slice.opcode != Opcode::kDynamicSlice || update.opcode != Opcode::kDynamicUpdateSlice ||
      slice.operand_count() == 0 || update.operand_count() < 2)
    return false;
  return update.operands[0] == slice.operands[0] && &slice.shape() == &update.operand_shape(1);
}
bool HasSameOffsets(const Instruction& slice, const Instruction& update) {
  if (IsOneElement(slice.shape()) && IsOneElement(update.operand_shape(1))) return true;
  return std::equal(slice.operands.begin() + 1, slice.operands.end(), update.operands.begin() + 2,
                    update.operands.end());
}

// Result of checking one user on a path from the parameter: may the output be written over the parameter?
enum class UseVerdict : uint8_t { kAllows, kBlocks };

class FusionReuseCheck {
 public:
  FusionReuseCheck(const Instruction& fusion, const ShapeIndex& index, Users& users)
      : fused_(*fusion[kCalls]), index_(index), users_(users), reduction_(ReductionOf(fusion)) {
    output_ = fused_.root;
    for (int64_t i : index) {
      if (!IsTuple(*output_) || i < 0 || i >= std::ssize(output_->operands)) break;
      output_ = output_->operands[static_cast<size_t>(i)];
    }
    update_ = &WithoutBitcast(*output_);
  }

  bool CanOverwrite(const Instruction& parameter) {
    seen_.assign(fused_.instructions.size(), false);
    seen_[parameter.index] = true;
    std::vector<const Instruction*> worklist{&parameter};
    for (size_t next = 0; next < worklist.size(); ++next) {
      if (worklist[next] == reduction_) continue;
      for (const Instruction* user : users_.Of(*worklist[next])) {
        if (!seen_[user->index]) worklist.push_back(user);
        seen_[user->index] = true;
        if (VerdictOf(*worklist[next], *user) == UseVerdict::kBlocks) return false;
      }
    }
    return seen_[output_->index] && !OtherOutputsBlock();
  }

 private:
  UseVerdict VerdictOf(const Instruction& value, const Instruction& user) const {
    const auto number =
        static_cast<int64_t>(std::find(user.operands.begin(), user.operands.end(), &value) - user.operands.begin());
    const bool is_once = std::count(user.operands.begin(), user.operands.end(), &value) == 1;
    if (&user == update_ && user.opcode == Opcode::kScatter && is_once &&
        number < (user.shape().IsTuple() ? std::ssize(user.shape().elements()) : 1))
      return UseVerdict::kAllows;
    if (&user == update_ && user.opcode == Opcode::kSort && is_once)
      return index_ == ShapeIndex{number} ? UseVerdict::kAllows : UseVerdict::kBlocks;
    if (ReadsUpdatedArray(user, *update_))
      return HasSameOffsets(user, *update_) ? UseVerdict::kAllows : UseVerdict::kBlocks;
    static constexpr Opcode kForwards[] = {Opcode::kBitcast, Opcode::kTuple};
    const bool forwards = std::find(std::begin(kForwards), std::end(kForwards), user.opcode) != std::end(kForwards);
    if (forwards || &user == reduction_ || Info(user.opcode).op_class == OpClass::kElementwise)
      return UseVerdict::kAllows;
    if (user.opcode != Opcode::kDynamicUpdateSlice) return UseVerdict::kBlocks;
    return number == 0 || (number == 1 && &user == update_) ? UseVerdict::kAllows : UseVerdict::kBlocks;
  }

  // Another output that depends on the parameter must access it in the same order.
  bool OtherOutputsBlock() const {
    static constexpr Opcode kOtherOrder[] = {Opcode::kTranspose, Opcode::kCopy};
    bool other_depends = false, transposed = false;
    for (const Instruction* root : RootsOf(fused_)) {
      if (!seen_[root->index]) continue;
      other_depends |= root != output_;
      transposed |= std::find(std::begin(kOtherOrder), std::end(kOtherOrder), WithoutBitcast(*root).opcode) !=
                    std::end(kOtherOrder);
    }
    return other_depends && (transposed || Info(update_->opcode).op_class != OpClass::kElementwise);
  }

  const Computation& fused_;
  const ShapeIndex& index_;
  Users& users_;
  const Instruction* reduction_;
  const Instruction* output_;
  const Instruction* update_;  // the output, or the operand of its bitcast
  std::vector<bool> seen_;
};

}  // namespace

std::optional<bool> BufferReuse::GpuAllows(const ValuePart& operand, const ValuePart& result) {
  const Instruction& hlo = result.hlo;
  if (IsFusion(hlo)) return GpuFusionAllows(operand, result);
  if (hlo.opcode == Opcode::kAllReduce || hlo.opcode == Opcode::kCollectiveBroadcast)
    return hlo.operand_count() == 1 ||
           (result.index.size() == 1 && result.index[0] >= 0 && result.index[0] < std::ssize(hlo.operands) &&
            hlo.operands[static_cast<size_t>(result.index[0])] == &operand.hlo);
  if (!IsCustomCall(hlo)) return std::nullopt;
  // D = alpha * A * B + beta * C: D may be C.
  const CustomCallFacts* facts = FactsOf(hlo);
  if (facts == nullptr || !facts->Has(kAddsThirdOperand) || hlo.operand_count() < 3) return false;
  return BackendConfig::Of(hlo).Object("gemm_backend_config").Number("beta") != 0 && hlo.operands[2] == &operand.hlo &&
         std::count(hlo.operands.begin(), hlo.operands.end(), &operand.hlo) == 1 && result.index == ShapeIndex{0};
}

bool BufferReuse::GpuFusionAllows(const ValuePart& operand, const ValuePart& result) {
  const Computation* fused = result.hlo[kCalls];
  const auto number = static_cast<size_t>(
      std::find(result.hlo.operands.begin(), result.hlo.operands.end(), &operand.hlo) - result.hlo.operands.begin());
  if (fused == nullptr || fused->root == nullptr || number >= fused->parameters.size() ||
      fused->parameters[number] == nullptr || !SameSize(operand.hlo.shape(), result.shape))
    return false;
  return FusionReuseCheck(result.hlo, result.index, users_).CanOverwrite(*fused->parameters[number]);
}

}  // namespace shoal::internal
