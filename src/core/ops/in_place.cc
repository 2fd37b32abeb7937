#include "core/ops/in_place.h"

#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// The results take over buffers of operands: result i has the buffer of operand `first + i`.
struct InPlaceRow {
  Opcode opcode;
  int64_t first;
  int64_t (*count)(const Instruction& hlo);
  bool in_result_part;  // true for a start with the shape ((operands), result)
};
int64_t One(const Instruction&) { return 1; }
int64_t ScatterOperands(const Instruction& hlo) { return (static_cast<int64_t>(hlo.operand_count()) - 1) / 2; }
int64_t AllOperands(const Instruction& hlo) {
  return HasAsyncShape(hlo) ? 0 : static_cast<int64_t>(hlo.operand_count());
}
int64_t OneIfInPlace(const Instruction& hlo) { return hlo[kPermuteSliceSizes].empty() ? 0 : 1; }
constexpr InPlaceRow kInPlaceRows[] = {
    {Opcode::kAllReduceStart, 0, &AllOperands, false},
    {Opcode::kCollectivePermute, 1, &OneIfInPlace, false},
    {Opcode::kCollectivePermuteStart, 1, &OneIfInPlace, true},
    {Opcode::kDynamicUpdateSlice, 0, &One, false},
    {Opcode::kRaggedAllToAll, 1, &One, false},
    {Opcode::kScatter, 0, &ScatterOperands, false},
    {Opcode::kSetDimensionSize, 0, &One, false},
};

// Maximum depth of nested fusions that are analyzed.
constexpr int kMaxDepth = 8;
std::vector<InPlace> CollectInPlace(const Instruction& hlo, int depth);

// The value that reaches `value` through forwarding ops.
ValueRef Origin(ValueRef value) {
  while (TraceToOperand(value, Forwarding::kTupleElement | Forwarding::kTuple) ||
         (value.path.empty() && TraceToOperand(value, Forwarding::kBitcast | Forwarding::kReshaped))) {
  }
  return value;
}

// The value that is overwritten with `value`; its `hlo` is null if there is none.
ValueRef OverwrittenValue(const ValueRef& value, int depth) {
  for (const InPlace& in_place : CollectInPlace(*value.hlo, depth))
    if (in_place.result_index == value.path && in_place.operand < std::ssize(value.hlo->operands))
      return Origin({value.hlo->operands[static_cast<size_t>(in_place.operand)], in_place.operand_index});
  return {};
}

template <class Visit>
void ForEachLeaf(const Shape& shape, ShapeIndex& index, Visit visit) {
  if (!shape.IsTuple()) return visit(index);
  for (int64_t i = 0; i < std::ssize(shape.elements()); ++i) {
    index.push_back(i);
    ForEachLeaf(shape.element(i), index, visit);
    index.pop_back();
  }
}

// A fusion that updates a parameter in place and returns it updates the corresponding operand in place.
void AddFusion(const Instruction& fusion, int depth, std::vector<InPlace>& found) {
  const Computation* fused = fusion[kCalls];
  if (fused == nullptr || fused->root == nullptr || fusion.shape().LeafCount() >= kMaxLeaves) return;
  ShapeIndex index;
  ForEachLeaf(fusion.shape(), index, [&](const ShapeIndex& leaf) {
    ValueRef target = OverwrittenValue(Origin({fused->root, leaf}), depth + 1);
    if (target.hlo != nullptr && IsFusion(*target.hlo)) target = OverwrittenValue(target, depth + 1);
    if (target.hlo != nullptr && IsParameter(*target.hlo))
      found.push_back({(*target.hlo)[kParameterNumber], target.path, leaf});
  });
}

std::vector<InPlace> CollectInPlace(const Instruction& hlo, int depth) {
  std::vector<InPlace> found;
  if (IsFusion(hlo) && depth < kMaxDepth) AddFusion(hlo, depth, found);
  for (const OutputOperandAlias& alias : hlo[kOutputToOperandAliasing])
    found.push_back({alias.operand,
                     {alias.operand_index.begin(), alias.operand_index.end()},
                     {alias.output_index.begin(), alias.output_index.end()}});
  const auto row = std::find_if(std::begin(kInPlaceRows), std::end(kInPlaceRows),
                                [&](const InPlaceRow& each) { return each.opcode == hlo.opcode; });
  if (row == std::end(kInPlaceRows)) return found;
  const int64_t count = row->count(hlo);
  for (int64_t i = 0; i < count; ++i) {
    ShapeIndex result = row->in_result_part ? ShapeIndex{1} : ShapeIndex{};
    if (count > 1) result.push_back(i);
    found.push_back({row->first + i, {}, std::move(result)});
  }
  return found;
}

// True for a reduce over one element that has the accumulator's type: the result is that element.
bool ReducesOneElement(const Instruction& reduce) {
  const size_t n = reduce.operand_count() / 2;
  const Computation* reducer = reduce[kToApply];
  if (n == 0 || reducer == nullptr || reducer->parameters.size() < n) return false;
  int64_t reduced_count = 1;
  for (int64_t d : reduce[kDimensions]) reduced_count *= reduce.operand_shape(0).dim(d);
  bool is_one = reduced_count == 1 && reduce.operand_shape(0).ElementCount().value_or(0) > 0;
  for (size_t k = 0; k < n && is_one; ++k)
    is_one = reducer->parameters[k] != nullptr &&
             reducer->parameters[k]->shape().element_type() == reduce.operand_shape(k).element_type();
  return is_one;
}

bool IsAlreadySorted(const Instruction& sort) {
  const Shape& first = sort.operand_shape(0);
  return first.ElementCount() == 0 || first.dim(sort[kDimensions][0]) == 1;
}

}  // namespace

bool HasWholeByteElements(const Instruction& bitcast_convert) {
  const ElementType from = bitcast_convert.operand_shape(0).element_type(), to = bitcast_convert.shape().element_type();
  return from == to || (BitWidth(from) >= 8 && BitWidth(to) >= 8);
}

ReuseKind ReuseOf(const Instruction& hlo) {
  switch (hlo.opcode) {
    case Opcode::kAddDependency:
    case Opcode::kCopy:
    case Opcode::kDomain:
    case Opcode::kDynamicReshape:
    case Opcode::kOptimizationBarrier:
    case Opcode::kReshape:
      return ReuseKind::kOperand;
    case Opcode::kSetDimensionSize:
      return ReuseKind::kResized;
    case Opcode::kBitcast:
      return hlo.shape().IsArray() ? ReuseKind::kRelaidOut : ReuseKind::kOperand;
    case Opcode::kBitcastConvert:
      return HasWholeByteElements(hlo) ? ReuseKind::kOperand : ReuseKind::kNothing;
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kScatter:
      return ReuseKind::kOverwrites;
    case Opcode::kRngBitGenerator:
      return ReuseKind::kState;
    case Opcode::kSort:
      return IsAlreadySorted(hlo) ? ReuseKind::kOperands : ReuseKind::kAfterOperands;
    case Opcode::kReduce:
      return ReducesOneElement(hlo) ? ReuseKind::kOperands : ReuseKind::kNothing;
    default:
      return Info(hlo.opcode).op_class == OpClass::kElementwise ? ReuseKind::kAnySameSize : ReuseKind::kNothing;
  }
}

ReceivedBuffer ReceivedFrom(const Instruction& collective) {
  switch (KindOf(collective.opcode)) {
    case Opcode::kAllGather:
    case Opcode::kAllReduce:
    case Opcode::kCollectiveBroadcast:
      return ReceivedBuffer::kOneForAll;
    case Opcode::kReduceScatter:
      return ReceivedBuffer::kOwnUnlessSingle;
    case Opcode::kAllToAll:
      return collective.has(kDimensions) ? ReceivedBuffer::kOwn : ReceivedBuffer::kFromOthers;
    case Opcode::kCollectivePermute:
      return ReceivedBuffer::kFromSource;
    default:
      return ReceivedBuffer::kOwn;
  }
}

std::vector<InPlace> InPlaceOf(const Instruction& hlo) { return CollectInPlace(hlo, 0); }

}  // namespace shoal::internal
