#include "core/ops/concat_like.h"

#include <algorithm>

#include "core/ops/families.h"

namespace shoal::internal {

bool IsConcatLike(const Instruction& hlo) {
  if (hlo.opcode == Opcode::kConcatenate) return true;
  if (hlo.opcode != Opcode::kPad) return false;
  constexpr int64_t kMax = int64_t{1} << 31;  // so that sums of sizes and paddings do not overflow
  const auto padding = PaddingOf(hlo);
  return std::all_of(padding.begin(), padding.end(), [](const PaddingDim& dim) {
    return dim.interior == 0 && dim.low > -kMax && dim.low < kMax && dim.high > -kMax && dim.high < kMax;
  });
}

std::vector<int64_t> OperandBoundaries(const Instruction& hlo, int64_t d) {
  if (hlo.opcode == Opcode::kPad) {
    const int64_t low = PaddingOf(hlo)[static_cast<size_t>(d)].low;
    return {low, low + hlo.operand_shape(0).dim(d)};
  }
  if (d != hlo[kDimensions][0]) return {};
  std::vector<int64_t> boundaries;
  int64_t end = 0;
  for (size_t i = 0; i + 1 < hlo.operand_count(); ++i) boundaries.push_back(end += hlo.operand_shape(i).dim(d));
  return boundaries;
}

std::optional<size_t> OperandAt(const Instruction& hlo, std::span<const size_t> boundaries_passed) {
  if (hlo.opcode == Opcode::kPad) {
    // Operand 0 is inside the boundaries of every dimension; an index outside them in any dimension is padding.
    if (std::any_of(boundaries_passed.begin(), boundaries_passed.end(), [](size_t n) { return n != 1; })) return 1;
    if (static_cast<int64_t>(boundaries_passed.size()) == hlo.shape().rank()) return 0;
    return std::nullopt;
  }
  const auto along = static_cast<size_t>(hlo[kDimensions][0]);
  if (along < boundaries_passed.size()) return boundaries_passed[along];
  return std::nullopt;
}

int64_t OffsetAlong(const Instruction& hlo, size_t operand, int64_t d) {
  if (hlo.opcode == Opcode::kPad) return PaddingOf(hlo)[static_cast<size_t>(d)].low;
  if (d != hlo[kDimensions][0]) return 0;
  int64_t offset = 0;
  for (size_t i = 0; i < operand; ++i) offset += hlo.operand_shape(i).dim(d);
  return offset;
}

}  // namespace shoal::internal
