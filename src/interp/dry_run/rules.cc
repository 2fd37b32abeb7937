// What each op does with memory.
#include <algorithm>

#include "interp/custom_calls/custom_call.h"
#include "interp/custom_calls/reshard.h"
#include "interp/dry_run/dry_device.h"
#include "interp/movement/bitcast.h"
#include "ops/traits.h"

namespace shoal {
namespace {

// What writes into an array it was given: into the same one, or, where others hold it, into a new one.
Array Written(Array array) { return array.unique() ? std::move(array) : Imagined(array.type(), array.dims()); }

}  // namespace

Value DryDevice::New(DryCall& call) {
  if (call.hlo.shape().IsArray() && call.hlo.shape().has_dynamic()) out_.guesses.push_back(&call.hlo);
  return Imagined(call.hlo.shape());
}

Value DryDevice::HandOn(DryCall& call) { return std::move(call.operands[0]); }

Value DryDevice::Share(DryCall& call) {
  return Value(
      call.operands[0].array().WithDims(ToDims(call.hlo.shape().dims())).WithType(call.hlo.shape().element_type()));
}

Value DryDevice::Elementwise(DryCall& call) {
  const Shape& shape = call.hlo.shape();
  for (Value& operand : call.operands)
    if (operand.array().count() != shape.ElementCount())
      operand = Imagined(operand.array().type(), shape.dims());  // a scalar, spread out
  for (Value& operand : call.operands) {
    if (!operand.array().unique() || operand.array().element_bytes() != StorageBytes(shape.element_type())) continue;
    return Value(std::move(operand.array()).WithType(shape.element_type()));
  }
  return Imagined(shape);
}

Value DryDevice::Bitcast(DryCall& call) {
  const Shape &from = call.hlo.operand_shape(0), &to = call.hlo.shape();
  if (!to.IsArray()) return HandOn(call);
  const bool same_bytes = BitWidth(from.element_type()) == BitWidth(to.element_type());
  return same_bytes && IsReshape(from, to) ? Share(call) : New(call);
}

Value DryDevice::BitcastConvert(DryCall& call) {
  const Shape &from = call.hlo.operand_shape(0), &to = call.hlo.shape();
  return BitWidth(from.element_type()) == BitWidth(to.element_type()) ? Share(call) : New(call);
}

Value DryDevice::Tuple(DryCall& call) {
  return Value::Tuple({std::make_move_iterator(call.operands.begin()), std::make_move_iterator(call.operands.end())});
}

Value DryDevice::Element(DryCall& call) {
  return call.operands[0].element(ElementIndexOf(call.hlo));
}

Value DryDevice::UpdateSlice(DryCall& call) { return Value(Written(std::move(call.operands[0].array()))); }

Value DryDevice::Scatter(DryCall& call) {
  std::vector<Value> results;
  for (size_t k = 0; k < call.operands.size() / 2; ++k)
    results.push_back(Value(Written(std::move(call.operands[k].array()))));
  return call.hlo.shape().IsTuple() ? Value::Tuple(std::move(results)) : std::move(results[0]);
}

Value DryDevice::RandomBits(DryCall& call) {
  if (!call.operands[0].IsArray()) return New(call);  // which run refuses
  Array state = Written(std::move(call.operands[0].array()));
  const Shape& shape = call.hlo.shape();
  if (!shape.IsTuple()) return Imagined(shape);
  return Value::Tuple({Value(std::move(state)), Imagined(shape.element(1))});
}

Value DryDevice::Sort(DryCall& call) {
  const Array& first = call.operands[0].array();
  if (first.count() == 0 || first.dim(call.hlo[kDimensions][0]) == 1)
    return call.hlo.shape().IsTuple() ? Tuple(call) : HandOn(call);
  for (Value& operand : call.operands) operand = Value();
  return New(call);
}

Value DryDevice::Reduce(DryCall& call) {
  int64_t folded = 1;
  for (int64_t d : call.hlo[kDimensions]) folded *= call.operands[0].array().dim(d);
  const size_t n = call.operands.size() / 2;
  bool hands_on = folded == 1 && call.operands[0].array().count() > 0;
  for (size_t k = 0; k < n && hands_on; ++k) {
    const Instruction* accumulator = call.hlo[kToApply]->parameters[k];
    hands_on = accumulator->shape().element_type() == call.operands[k].array().type();
  }
  if (!hands_on) return New(call);
  std::vector<Value> results;
  const Dims dims = ToDims((call.hlo.shape().IsTuple() ? call.hlo.shape().element(0) : call.hlo.shape()).dims());
  for (size_t k = 0; k < n; ++k) results.push_back(Value(call.operands[k].array().WithDims(dims)));
  return call.hlo.shape().IsTuple() ? Value::Tuple(std::move(results)) : std::move(results[0]);
}

Value DryDevice::SetDimensionSize(DryCall& call) {
  out_.guesses.push_back(&call.hlo);
  return HandOn(call);
}

Value DryDevice::CustomCall(DryCall& call) {
  const CustomCallRow* row = FindCustomCall(TargetOf(call.hlo));
  if (row != nullptr && row->evaluate == &AsyncCollectiveStart) return ChainStart(call);
  if (row != nullptr && row->evaluate == &AsyncCollectiveDone) return ChainDone(call);
  if (row != nullptr && row->evaluate == &shoal::Reshard && Reshards(call.hlo)) return Reshard(call);
  const bool is_same = row != nullptr && (row->evaluate == &PassThrough || row->evaluate == &shoal::Reshard);
  if (!is_same) return New(call);
  const bool is_one = call.operands.size() == 1 && (!call.hlo.shape().IsTuple() || call.operands[0].IsTuple());
  return is_one ? HandOn(call) : Tuple(call);
}

DryDevice::Rule DryDevice::RuleOf(Opcode opcode) {
  static const std::unordered_map<Opcode, Rule> rules = {
      {Opcode::kAddDependency, &DryDevice::HandOn},
      {Opcode::kAllGather, &DryDevice::Collective},
      {Opcode::kAllGatherDone, &DryDevice::Done},
      {Opcode::kAllGatherStart, &DryDevice::Start},
      {Opcode::kAllReduce, &DryDevice::Collective},
      {Opcode::kAllReduceDone, &DryDevice::Done},
      {Opcode::kAllReduceStart, &DryDevice::Start},
      {Opcode::kAllToAll, &DryDevice::Collective},
      {Opcode::kAsyncDone, &DryDevice::AsyncDone},
      {Opcode::kAsyncStart, &DryDevice::AsyncStart},
      {Opcode::kAsyncUpdate, &DryDevice::AsyncUpdate},
      {Opcode::kBitcast, &DryDevice::Bitcast},
      {Opcode::kBitcastConvert, &DryDevice::BitcastConvert},
      {Opcode::kCall, &DryDevice::CallOp},
      {Opcode::kCollectiveBroadcast, &DryDevice::Collective},
      {Opcode::kCollectivePermute, &DryDevice::Collective},
      {Opcode::kCollectivePermuteDone, &DryDevice::Done},
      {Opcode::kCollectivePermuteStart, &DryDevice::Start},
      {Opcode::kCollectiveReduce, &DryDevice::Collective},
      {Opcode::kConditional, &DryDevice::Conditional},
      {Opcode::kCopy, &DryDevice::HandOn},
      {Opcode::kCopyDone, &DryDevice::CopyDone},
      {Opcode::kCopyStart, &DryDevice::CopyStart},
      {Opcode::kCustomCall, &DryDevice::CustomCall},
      {Opcode::kDomain, &DryDevice::HandOn},
      {Opcode::kDynamicReshape, &DryDevice::Share},
      {Opcode::kDynamicUpdateSlice, &DryDevice::UpdateSlice},
      {Opcode::kFusion, &DryDevice::Fusion},
      {Opcode::kGetTupleElement, &DryDevice::Element},
      {Opcode::kOptimizationBarrier, &DryDevice::HandOn},
      {Opcode::kRaggedAllToAll, &DryDevice::Collective},
      {Opcode::kRecv, &DryDevice::Recv},
      {Opcode::kRecvDone, &DryDevice::RecvDone},
      {Opcode::kReduce, &DryDevice::Reduce},
      {Opcode::kReduceScatter, &DryDevice::Collective},
      {Opcode::kReshape, &DryDevice::Share},
      {Opcode::kRngBitGenerator, &DryDevice::RandomBits},
      {Opcode::kScatter, &DryDevice::Scatter},
      {Opcode::kSend, &DryDevice::Send},
      {Opcode::kSetDimensionSize, &DryDevice::SetDimensionSize},
      {Opcode::kSort, &DryDevice::Sort},
      {Opcode::kTuple, &DryDevice::Tuple},
      {Opcode::kWhile, &DryDevice::While},
  };
  auto found = rules.find(opcode);
  return found == rules.end() ? nullptr : found->second;
}

}  // namespace shoal
