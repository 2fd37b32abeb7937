#include "core/ops/concat_like.h"

#include <algorithm>
#include <cstdlib>

#include "core/ops/families.h"

namespace shoal::internal {

bool IsConcatLike(const Instruction& hlo) {
  if (hlo.opcode == Opcode::kConcatenate) return true;
  if (hlo.opcode != Opcode::kPad) return false;
  constexpr int64_t kMax = int64_t{1} << 31;  // so that sums of sizes and paddings are numbers
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
  std::vector<int64_t> borders;
  int64_t end = 0;
  for (size_t i = 0; i + 1 < hlo.operand_count(); ++i) borders.push_back(end += hlo.operand_shape(i).dim(d));
  return borders;
}

std::optional<size_t> OperandBetween(const Instruction& hlo, std::span<const size_t> borders_passed) {
  if (hlo.opcode == Opcode::kPad) {
    // Within both borders of every dimension; else it is the padding value, whatever the others are.
    if (std::any_of(borders_passed.begin(), borders_passed.end(), [](size_t passed) { return passed != 1; })) return 1;
    if (static_cast<int64_t>(borders_passed.size()) == hlo.shape().rank()) return 0;
    return std::nullopt;
  }
  const auto along = static_cast<size_t>(hlo[kDimensions][0]);
  if (along < borders_passed.size()) return borders_passed[along];
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
