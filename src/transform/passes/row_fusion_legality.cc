#include "transform/passes/row_fusion_legality.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

// How a value lies to the rows.
enum class Place : uint8_t {
  kFree,  // depends on no result
  kRow,   // one element per row, in their order
  kFull,  // all elements of the rows, in their order
  kNone,  // otherwise
};

class Rows {
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
        const Place place = PlaceOf(*hlo, *fusion);
        if (place == Place::kNone) return false;
        places_[hlo] = place;
      }
      places_[fusion] = places_[fused.root];
      if (reduces) continue;
      if (ElementsOf(*fusion) != rows_) return false;
      places_[fusion] = Place::kRow;
    }
    if (!reduces) return true;
    if (first_ == nullptr) return false;
    bool any_full = stages_ > 1;
    for (const Instruction* output : outputs) {
      if (ElementsOf(*output) != rows_ && (!reduces_last_ || ElementsOf(*output) != rows_ * width_)) return false;
      any_full |= ElementsOf(*output) != rows_;
    }
    // A row that is gone through several times stays in the cache, and there are enough of them for all threads.
    constexpr int64_t kMaxWidth = int64_t{1} << 16, kSmall = int64_t{1} << 15;
    return !any_full || (reduces_last_ && width_ > 1 && width_ <= kMaxWidth && (rows_ >= 8 || rows_ * width_ <= kSmall));
  }

 private:
  Place PlaceOf(const Instruction& hlo, const Instruction& fusion) {
    if (IsParameter(hlo)) {
      auto found = places_.find(fusion.operands[static_cast<size_t>(hlo[kParameterNumber])]);
      return found == places_.end() ? Place::kFree : found->second;
    }
    if (IsReduce(hlo)) return PlaceOfReduction(hlo);
    if (IsReduceWindow(hlo)) return Place::kNone;
    Place most = Place::kFree;
    for (const Instruction* operand : hlo.operands) most = std::max(most, places_.at(operand));
    if (most == Place::kFree) return most;
    if (Info(hlo.opcode).op_class == OpClass::kElementwise) return PlaceOfElementwise(hlo);
    if (IsReshape(hlo) || IsBitcast(hlo) || IsCopy(hlo)) return most;
    if (IsBroadcast(hlo)) return PlaceOfBroadcast(hlo);
    return Place::kNone;
  }

  // All operands lie alike, but for scalars and what depends on nothing.
  Place PlaceOfElementwise(const Instruction& hlo) const {
    const Place place = ElementsOf(hlo) == rows_ ? Place::kRow : ElementsOf(hlo) == rows_ * width_ ? Place::kFull : Place::kNone;
    for (const Instruction* operand : hlo.operands) {
      const Place of = places_.at(operand);
      if (of != Place::kFree && of != place) return Place::kNone;
    }
    return place;
  }

  // From one element per row to all of the row, or to as many under other dimensions.
  Place PlaceOfBroadcast(const Instruction& hlo) const {
    if (places_.at(hlo.operands[0]) != Place::kRow) return Place::kNone;
    if (ElementsOf(hlo) != rows_ * width_ && ElementsOf(hlo) != rows_) return Place::kNone;
    // Dimensions that are kept come first, in their order.
    const Ints dimensions = hlo[kDimensions];
    int64_t leading = 1, last = -1;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      if (hlo.operand_shape(0).dim(static_cast<int64_t>(d)) == 1) continue;
      for (int64_t between = last + 1; between < dimensions[d]; ++between)
        if (hlo.shape().dim(between) != 1) return Place::kNone;
      if (dimensions[d] <= last) return Place::kNone;
      last = dimensions[d];
      leading *= hlo.operand_shape(0).dim(static_cast<int64_t>(d));
    }
    if (leading != rows_) return Place::kNone;
    if (ElementsOf(hlo) == rows_) return Place::kRow;
    return reduces_last_ ? Place::kFull : Place::kNone;
  }

  Place PlaceOfReduction(const Instruction& hlo) {
    if (!IsLoopReduction(hlo) || hlo.shape().IsTuple()) return Place::kNone;
    const Place of = places_.at(hlo.operands[0]);
    if (of != Place::kFree && of != Place::kFull) return Place::kNone;
    const Ints dims = hlo.operand_shape(0).dims(), reduced = hlo[kDimensions];
    const int64_t all = ElementsOf(*hlo.operands[0]), rows = ElementsOf(hlo);
    const int64_t kept = std::ssize(dims) - std::ssize(reduced);
    const bool last = std::all_of(reduced.begin(), reduced.end(), [&](int64_t d) { return d >= kept; });
    if (of == Place::kFull) ++stages_;
    if (first_ == nullptr) {
      first_ = &hlo;
      rows_ = rows;
      width_ = all / rows;
      reduces_last_ = last;
      return Place::kRow;
    }
    if (rows != rows_ || all != rows_ * width_ || last != reduces_last_) return Place::kNone;
    const Ints first_dims = first_->operand_shape(0).dims(), first_reduced = (*first_)[kDimensions];
    if (!last && (!std::ranges::equal(dims, first_dims) || !std::ranges::equal(reduced, first_reduced))) return Place::kNone;
    return Place::kRow;
  }

  const Instruction* first_ = nullptr;  // reduction
  int64_t rows_ = 0, width_ = 0;
  int stages_ = 1;
  bool reduces_last_ = false;
  absl::flat_hash_map<const Instruction*, Place> places_;
};

}  // namespace

bool CanFuseByRow(std::span<Instruction* const> fusions, std::span<Instruction* const> outputs) {
  return Rows().Check(fusions, outputs);
}

}  // namespace shoal::internal
