#include "core/ops/in_place.h"

#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Which operands have the results' places: operand `first + i` that of result i.
struct InPlaceRow {
  Opcode opcode;
  int64_t first;
  int64_t (*count)(const Instruction& hlo);
  bool in_result_part;  // of a start: ((operands), result)
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

// Fusions in fusions are looked into so deep.
constexpr int kMaxDepth = 8;
std::vector<InPlace> Found(const Instruction& hlo, int depth);

// The value it is handed on from.
ValueRef Origin(ValueRef at) {
  while (TraceToOperand(at, Forwarding::kTupleElement | Forwarding::kTuple) ||
         (at.path.empty() && TraceToOperand(at, Forwarding::kBitcast | Forwarding::kReshaped))) {
  }
  return at;
}

// The value that is written over to make this one, if there is one.
ValueRef WrittenOver(const ValueRef& at, int depth) {
  for (const InPlace& in_place : Found(*at.hlo, depth))
    if (in_place.result_index == at.path && in_place.operand < std::ssize(at.hlo->operands))
      return Origin({at.hlo->operands[static_cast<size_t>(in_place.operand)], in_place.operand_index});
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

// A fusion whose result is updated in place inside updates the operand.
void AddFusion(const Instruction& fusion, int depth, std::vector<InPlace>& found) {
  const Computation* fused = fusion[kCalls];
  if (fused == nullptr || fused->root == nullptr || fusion.shape().LeafCount() >= kMaxLeaves) return;
  ShapeIndex index;
  ForEachLeaf(fusion.shape(), index, [&](const ShapeIndex& leaf) {
    ValueRef over = WrittenOver(Origin({fused->root, leaf}), depth + 1);
    if (over.hlo != nullptr && IsFusion(*over.hlo)) over = WrittenOver(over, depth + 1);
    if (over.hlo != nullptr && IsParameter(*over.hlo))
      found.push_back({(*over.hlo)[kParameterNumber], over.path, leaf});
  });
}

std::vector<InPlace> Found(const Instruction& hlo, int depth) {
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

// A reduce that folds one element of the accumulator's type has that element as its result.
bool FoldsOne(const Instruction& reduce) {
  const size_t n = reduce.operand_count() / 2;
  const Computation* fold = reduce[kToApply];
  if (n == 0 || fold == nullptr || fold->parameters.size() < n) return false;
  int64_t folded = 1;
  for (int64_t d : reduce[kDimensions]) folded *= reduce.operand_shape(0).dim(d);
  bool one = folded == 1 && reduce.operand_shape(0).ElementCount().value_or(0) > 0;
  for (size_t k = 0; k < n && one; ++k)
    one = fold->parameters[k] != nullptr &&
          fold->parameters[k]->shape().element_type() == reduce.operand_shape(k).element_type();
  return one;
}

bool HasNothingToSort(const Instruction& sort) {
  const Shape& first = sort.operand_shape(0);
  return first.ElementCount() == 0 || first.dim(sort[kDimensions][0]) == 1;
}

}  // namespace

bool SeesWholeBytes(const Instruction& bitcast_convert) {
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
      return SeesWholeBytes(hlo) ? ReuseKind::kOperand : ReuseKind::kNothing;
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kScatter:
      return ReuseKind::kWritesOver;
    case Opcode::kRngBitGenerator:
      return ReuseKind::kState;
    case Opcode::kSort:
      return HasNothingToSort(hlo) ? ReuseKind::kOperands : ReuseKind::kAfterOperands;
    case Opcode::kReduce:
      return FoldsOne(hlo) ? ReuseKind::kOperands : ReuseKind::kNothing;
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
      return ReceivedBuffer::kOwnUnlessAlone;
    case Opcode::kAllToAll:
      return collective.has(kDimensions) ? ReceivedBuffer::kOwn : ReceivedBuffer::kFromOthers;
    case Opcode::kCollectivePermute:
      return ReceivedBuffer::kFromSource;
    default:
      return ReceivedBuffer::kOwn;
  }
}

std::vector<InPlace> InPlaceOf(const Instruction& hlo) { return Found(hlo, 0); }

}  // namespace shoal::internal
