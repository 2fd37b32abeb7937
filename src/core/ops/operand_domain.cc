#include "core/ops/operand_domain.h"

#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

using IotaOp = Op<Opcode::kIota>;

constexpr OperandUse kPasses{OperandDomain::kAny, 0, true};
constexpr OperandUse kNeedsPositive{OperandDomain::kPositive, 0, false};

// The number of valid indices along the dimensions that index vectors of a gather or scatter select.
int64_t IndexLimit(const Shape& array, Ints dimensions) {
  if (!array.IsArray()) return 0;
  int64_t limit = INT64_MAX;
  for (int64_t d : dimensions)
    if (d >= 0 && d < array.rank()) limit = std::min(limit, array.dim(static_cast<int>(d)));
  return limit == INT64_MAX ? 0 : limit;
}

OperandUse IndexBelow(int64_t limit) { return {OperandDomain::kIndex, limit, false}; }

// A comparison with an iota selects the element with that index, as in a one-hot encoding.
OperandUse ComparedWith(const Instruction& hlo, size_t i) {
  const Instruction* other = hlo.operands[1 - i];
  while (IsBroadcast(*other) || IsConvert(*other) || IsReshape(*other)) other = other->operands[0];
  if (other->opcode != Opcode::kIota || DirectionOf(hlo) != ComparisonDirection::kEq) return {};
  const int64_t d = (*other)[IotaOp::kIotaDimension];
  return d < other->shape().rank() ? IndexBelow(other->shape().dim(static_cast<int>(d))) : OperandUse();
}

}  // namespace

OperandUse OperandUseOf(const Instruction& hlo, size_t i) {
  switch (hlo.opcode) {
    case Opcode::kLog:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
      return kNeedsPositive;
    case Opcode::kDivide:
    case Opcode::kRemainder:
      return i == 1 ? kNeedsPositive : kPasses;
    case Opcode::kPower:
      return i == 0 ? kNeedsPositive : OperandUse{OperandDomain::kExponent, 0, false};
    case Opcode::kCompare:
      return ComparedWith(hlo, i);
    case Opcode::kGather:
      if (i == 1) return IndexBelow(IndexLimit(hlo.operand_shape(0), hlo[GatherOp::kStartIndexMap]));
      return i == 0 ? kPasses : OperandUse();
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice: {
      const size_t first = hlo.opcode == Opcode::kDynamicSlice ? 1 : 2;
      if (i < first) return kPasses;
      const auto d = static_cast<int>(i - first);
      const Shape& array = hlo.operand_shape(0);
      const bool is_valid = hlo.operand_shape(i).IsScalar() && array.IsArray() && d < array.rank();
      return is_valid ? IndexBelow(hlo.operand_shape(0).dim(d)) : OperandUse();
    }
    case Opcode::kMultiply:
      return hlo.operands[0] == hlo.operands[1] ? OperandUse() : kPasses;
    case Opcode::kAdd:
    case Opcode::kMaximum:
    case Opcode::kConvert:
    case Opcode::kReducePrecision:
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kConcatenate:
    case Opcode::kCopy:
    case Opcode::kBitcast:
      return kPasses;
    case Opcode::kSelect:
      return i == 0 ? OperandUse() : kPasses;
    case Opcode::kAllReduce:
    case Opcode::kAllGather:
    case Opcode::kCollectivePermute:
      return hlo.operands.size() == 1 ? kPasses : OperandUse();
    default:
      return {};
  }
}

const char* ToString(OperandDomain domain) {
  switch (domain) {
    case OperandDomain::kAny:
      return "any use";
    case OperandDomain::kPositive:
      return "a divisor, or the argument of log, sqrt or power";
    case OperandDomain::kExponent:
      return "an exponent";
    case OperandDomain::kIndex:
      return "an index";
  }
  return "";
}

}  // namespace shoal::internal
