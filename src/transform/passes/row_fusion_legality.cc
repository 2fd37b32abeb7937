#include "transform/passes/row_fusion_legality.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

// The relation between the elements of a value and the rows.
enum class RowRelation : uint8_t {
  kFree,  // does not depend on another fusion or reduction
  kRow,   // one element per row, in the order of the rows
  kFull,  // all elements of the rows, in the same order
  kNone,  // any other relation
};

class RowFusionChecker {
 public:
  bool Check(std::span<Instruction* const> fusions, std::span<Instruction* const> outputs) {
    const bool reduces = std::any_of(fusions.begin(), fusions.end(), [](const Instruction* fusion) {
      const auto& inside = (*fusion)[kCalls]->instructions;
      return std::any_of(inside.begin(), inside.end(), [](const Instruction* hlo) { return IsReduce(*hlo); });
    });
    if (!reduces) {
      rows_ = ElementsOf(*fusions[0]);
      width_ = 1;
    }
    for (const Instruction* fusion : fusions) {
      const Computation& fused = *(*fusion)[kCalls];
      for (const Instruction* hlo : fused.instructions) {
        const RowRelation result = RelationOf(*hlo, *fusion);
        if (result == RowRelation::kNone) return false;
        relations_[hlo] = result;
      }
      relations_[fusion] = relations_[fused.root];
      if (reduces) continue;
      if (ElementsOf(*fusion) != rows_) return false;
      relations_[fusion] = RowRelation::kRow;
    }
    if (!reduces) return true;
    if (first_ == nullptr) return false;
    bool any_full = stages_ > 1;
    for (const Instruction* output : outputs) {
      if (ElementsOf(*output) != rows_ && (!reduces_last_ || ElementsOf(*output) != rows_ * width_)) return false;
      any_full |= ElementsOf(*output) != rows_;
    }
    // If a kernel makes several passes, a row must fit in the cache and there must be enough rows for all threads.
    constexpr int64_t kMaxWidth = int64_t{1} << 16, kSmall = int64_t{1} << 15;
    return !any_full || (reduces_last_ && width_ > 1 && width_ <= kMaxWidth && (rows_ >= 8 || rows_ * width_ <= kSmall));
  }

 private:
  RowRelation RelationOf(const Instruction& hlo, const Instruction& fusion) {
    if (IsParameter(hlo)) {
      auto found = relations_.find(fusion.operands[static_cast<size_t>(hlo[kParameterNumber])]);
      return found == relations_.end() ? RowRelation::kFree : found->second;
    }
    if (IsReduce(hlo)) return RelationOfReduction(hlo);
    if (IsReduceWindow(hlo)) return RowRelation::kNone;
    RowRelation relation = RowRelation::kFree;
    for (const Instruction* operand : hlo.operands) relation = std::max(relation, relations_.at(operand));
    if (relation == RowRelation::kFree) return relation;
    if (Info(hlo.opcode).op_class == OpClass::kElementwise) return RelationOfElementwise(hlo);
    if (IsReshape(hlo) || IsBitcast(hlo) || IsCopy(hlo)) return relation;
    if (IsBroadcast(hlo)) return RelationOfBroadcast(hlo);
    return RowRelation::kNone;
  }

  // Returns kNone unless every operand either is kFree or has the relation of the result.
  RowRelation RelationOfElementwise(const Instruction& hlo) const {
    const RowRelation result = ElementsOf(hlo) == rows_ ? RowRelation::kRow : ElementsOf(hlo) == rows_ * width_ ? RowRelation::kFull : RowRelation::kNone;
    for (const Instruction* operand : hlo.operands) {
      const RowRelation relation = relations_.at(operand);
      if (relation != RowRelation::kFree && relation != result) return RowRelation::kNone;
    }
    return result;
  }

  // Accepts broadcasts of one element per row to the full row, and broadcasts that only change the dimensions.
  RowRelation RelationOfBroadcast(const Instruction& hlo) const {
    if (relations_.at(hlo.operands[0]) != RowRelation::kRow) return RowRelation::kNone;
    if (ElementsOf(hlo) != rows_ * width_ && ElementsOf(hlo) != rows_) return RowRelation::kNone;
    // The operand's dimensions must be the leading dimensions of the result, in the same order.
    const Ints dimensions = hlo[kDimensions];
    int64_t leading = 1, last = -1;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      if (hlo.operand_shape(0).dim(static_cast<int64_t>(d)) == 1) continue;
      for (int64_t between = last + 1; between < dimensions[d]; ++between)
        if (hlo.shape().dim(between) != 1) return RowRelation::kNone;
      if (dimensions[d] <= last) return RowRelation::kNone;
      last = dimensions[d];
      leading *= hlo.operand_shape(0).dim(static_cast<int64_t>(d));
    }
    if (leading != rows_) return RowRelation::kNone;
    if (ElementsOf(hlo) == rows_) return RowRelation::kRow;
    return reduces_last_ ? RowRelation::kFull : RowRelation::kNone;
  }

  RowRelation RelationOfReduction(const Instruction& hlo) {
    if (!IsLoopReduction(hlo) || hlo.shape().IsTuple()) return RowRelation::kNone;
    const RowRelation relation = relations_.at(hlo.operands[0]);
    if (relation != RowRelation::kFree && relation != RowRelation::kFull) return RowRelation::kNone;
    const Ints dims = hlo.operand_shape(0).dims(), reduced = hlo[kDimensions];
    const int64_t all = ElementsOf(*hlo.operands[0]), rows = ElementsOf(hlo);
    const int64_t kept = std::ssize(dims) - std::ssize(reduced);
    const bool last = std::all_of(reduced.begin(), reduced.end(), [&](int64_t d) { return d >= kept; });
    if (relation == RowRelation::kFull) ++stages_;
    if (first_ == nullptr) {
      first_ = &hlo;
      rows_ = rows;
      width_ = all / rows;
      reduces_last_ = last;
      return RowRelation::kRow;
    }
    if (rows != rows_ || all != rows_ * width_ || last != reduces_last_) return RowRelation::kNone;
    const Ints first_dims = first_->operand_shape(0).dims(), first_reduced = (*first_)[kDimensions];
    if (!last && (!std::ranges::equal(dims, first_dims) || !std::ranges::equal(reduced, first_reduced))) return RowRelation::kNone;
    return RowRelation::kRow;
  }

  const Instruction* first_ = nullptr;  // the first reduction
  int64_t rows_ = 0, width_ = 0;
  int stages_ = 1;
  bool reduces_last_ = false;
  absl::flat_hash_map<const Instruction*, RowRelation> relations_;
};

}  // namespace

bool CanFuseByRow(std::span<Instruction* const> fusions, std::span<Instruction* const> outputs) {
  return RowFusionChecker().Check(fusions, outputs);
}

}  // namespace shoal::internal
