// What is sent, received and under way.
#include <algorithm>
#include <iterator>
#include <utility>

#include "interp/custom_calls/reshard.h"
#include "interp/dry_run/dry_device.h"
#include "ops/traits.h"

namespace shoal {

Value DryDevice::CopyStart(DryCall& call) {
  std::vector<Value> parts{call.operands[0], call.operands[0]};
  for (const Shape* context : call.hlo.shape().elements().subspan(2)) parts.push_back(Imagined(*context));
  return Value::Tuple(std::move(parts));
}

Value DryDevice::CopyDone(DryCall& call) { return call.operands[0].TakeElement(0); }

Value DryDevice::Send(DryCall& call) {
  if (!call.hlo[kIsHostTransfer]) Fix(call.operands[0]);
  return Value::Tuple({std::move(call.operands[0]), Imagined(ElementType::kU32, {}), Value()});
}

Value DryDevice::Recv(DryCall& call) {
  Value data = call.hlo[kIsHostTransfer] ? Imagined(call.hlo.shape().element(0)) : Value();
  return Value::Tuple({std::move(data), Imagined(ElementType::kU32, {}), Value()});
}

Value DryDevice::RecvDone(DryCall& call) {
  Value started = std::exchange(call.operands[0], Value());
  Value data = started.TakeElement(0);
  if (data.IsToken()) {
    data = Imagined(call.hlo.shape().element(0));
    Fix(data);
  }
  return Value::Tuple({std::move(data), Value()});
}

bool DryDevice::Leave(Value& operand) {
  Value given = std::exchange(operand, Value());
  if (!given.IsArray() || given.array().unique()) return true;
  given.array().Fix();
  return false;
}

Value DryDevice::Begin(const Instruction& hlo, std::span<Value> operands) {
  auto pending = std::make_shared<Pending>(Pending{&hlo, true});
  for (Value& operand : operands) pending->alone = Leave(operand) && pending->alone;
  return Value::UnderWay(std::move(pending));
}

Value DryDevice::End(Value value) {
  if (!value.IsUnderWay()) return value;
  const Pending pending = *std::static_pointer_cast<Pending>(value.under_way());
  Value result = Imagined(ResultShape(*pending.hlo));
  if (IsShared(pending)) Fix(result);
  return result;
}

Value DryDevice::EndAll(Value value) {
  if (!value.IsTuple()) return End(std::move(value));
  std::vector<Value> elements;
  for (int64_t i = 0; i < std::ssize(value.elements()); ++i) elements.push_back(EndAll(value.TakeElement(i)));
  return Value::Tuple(std::move(elements));
}

bool DryDevice::IsShared(const Pending& pending) {
  const Opcode kind = KindOf(pending.hlo->opcode);
  if (kind == Opcode::kCollectivePermute) return participation_.IsTarget(*pending.hlo, id_);
  const int64_t members = participation_.MembersOf(*pending.hlo, id_);
  static constexpr Opcode kForAll[] = {Opcode::kAllGather, Opcode::kAllReduce, Opcode::kCollectiveBroadcast};
  if (std::find(std::begin(kForAll), std::end(kForAll), kind) != std::end(kForAll))
    return members > 1 || (members == 1 && !pending.alone);
  if (kind == Opcode::kAllToAll && !pending.hlo->has(kDimensions)) return !pending.alone;
  return members == 1 && !pending.alone && kind == Opcode::kReduceScatter;
}

Value DryDevice::Reshard(DryCall& call) {
  const std::vector<const Shape*> shapes = ReshardResults(call.hlo);
  std::vector<Value> results;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const bool is_same = Compatible(*shapes[i], call.hlo.operand_shape(i));
    if (TakesPart(call.hlo)) {
      results.push_back(is_same ? call.operands[i] : Imagined(*shapes[i]));
      continue;
    }
    const bool alone = Leave(call.operands[i]);
    results.push_back(Imagined(*shapes[i]));
    if (!is_same || !alone) Fix(results.back());
  }
  return call.hlo.shape().IsTuple() ? Value::Tuple(std::move(results)) : std::move(results[0]);
}

Value DryDevice::Collective(DryCall& call) {
  const std::optional<ChainKey> chain = ChainOf(call.hlo);
  const bool begins = BeginsChain(call.hlo);
  if (chain && !begins)
    if (auto carried = chains_.find(*chain); carried != chains_.end()) return carried->second.second;
  std::vector<Value> operands;
  if (begins) operands.assign(call.operands.begin(), call.operands.end());
  Value result = End(Begin(call.hlo, call.operands));
  if (begins) chains_[*chain] = {std::move(operands), result};
  return result;
}

Value DryDevice::ChainStart(DryCall& call) {
  size_t number = 0;
  const Instruction* collective = CollectiveOperand(call.hlo, &number);
  const Shape& shape = call.hlo.shape();
  if (collective == nullptr || !shape.IsTuple() || shape.elements().size() < 2) return std::move(call.operands[number]);
  std::vector<Value> parts;
  const std::optional<ChainKey> key = ChainOf(*collective);
  if (auto chain = chains_.find(key.value_or(ChainKey())); key && chain != chains_.end())
    parts = chain->second.first;
  else
    for (const Instruction* operand : collective->operands) parts.push_back(Imagined(operand->shape()));
  if (parts.size() > 1) parts = {Value::Tuple(std::move(parts))};
  parts.push_back(std::move(call.operands[number]));
  for (const Shape* context : shape.elements().subspan(2)) parts.push_back(Imagined(*context));
  return Value::Tuple(std::move(parts));
}

Value DryDevice::ChainDone(DryCall& call) {
  size_t number = 0;
  const Instruction* collective = CollectiveOperand(call.hlo, &number);
  if (collective == nullptr) return New(call);
  if (const std::optional<ChainKey> key = ChainOf(*collective)) chains_.erase(*key);
  return std::move(call.operands[number]);
}

Value DryDevice::Start(DryCall& call) {
  const bool is_result = !HasAsyncShape(call.hlo) && KindOf(call.hlo.opcode) == Opcode::kAllReduce;
  const bool is_first =
      !HasAsyncShape(call.hlo) && (!call.hlo[kPermuteSliceSizes].empty() || call.operands.size() == 1);
  std::vector<Value> parts(1);
  if (!is_result && !plans_.OnlyEnded(call.hlo))
    parts[0] = is_first ? call.operands[0] : Value::Tuple({call.operands.begin(), call.operands.end()});
  Value begun = Begin(call.hlo, call.operands);
  if (is_result) return begun;
  parts.push_back(std::move(begun));
  for (const Shape* context : call.hlo.shape().elements().subspan(2)) parts.push_back(Imagined(*context));
  return Value::Tuple(std::move(parts));
}

Value DryDevice::Done(DryCall& call) {
  Value started = std::exchange(call.operands[0], Value());
  if (started.IsTuple()) started = started.TakeElement(1);
  return End(std::move(started));
}

Value DryDevice::Wrapped(const Computation& computation, std::vector<Value> arguments) {
  std::vector<Value> values(computation.instructions.size());
  for (const Instruction* hlo : computation.instructions) {
    Value& value = values[hlo->index];
    if (IsParameter(*hlo)) {
      value = std::move(arguments[static_cast<size_t>((*hlo)[kParameterNumber])]);
      continue;
    }
    if (IsConstant(*hlo)) {
      value = Uncounted(hlo->shape());
      continue;
    }
    std::vector<Value> operands;
    for (const Instruction* operand : hlo->operands) operands.push_back(values[operand->index]);
    static constexpr Opcode kHandOn[] = {Opcode::kTuple, Opcode::kGetTupleElement};
    if (std::find(std::begin(kHandOn), std::end(kHandOn), hlo->opcode) == std::end(kHandOn))
      for (Value& operand : operands) operand = End(std::move(operand));
    DryCall call{*hlo, operands};
    value = BeginsCollective(*hlo) ? Begin(*hlo, operands) : Evaluate(call);
  }
  return std::move(values[computation.root->index]);
}

Value DryDevice::Bound(DryCall& call, std::vector<Value> operands, Value result) {
  const Instruction* start = call.hlo.has(kCalls) ? &call.hlo : AsyncStartOf(call.hlo);
  const Computation* computation = start == nullptr ? nullptr : (*start)[kCalls];
  if (computation != nullptr && result.IsToken() && operands.size() == computation->parameters.size()) {
    const bool meets = std::any_of(computation->instructions.begin(), computation->instructions.end(),
                                   [](const Instruction* hlo) { return BeginsCollective(*hlo); });
    std::vector<Value> arguments = plans_.OnlyEnded(call.hlo) ? std::exchange(operands, {}) : operands;
    result = meets ? Wrapped(*computation, std::move(arguments)) : Run(*computation, std::move(arguments));
  }
  std::vector<Value> parts{Value::Tuple(std::move(operands)), std::move(result)};
  for (const Shape* context : call.hlo.shape().elements().subspan(2)) parts.push_back(Imagined(*context));
  return Value::Tuple(std::move(parts));
}

Value DryDevice::AsyncStart(DryCall& call) {
  return Bound(call, {std::make_move_iterator(call.operands.begin()), std::make_move_iterator(call.operands.end())},
               Value());
}

Value DryDevice::AsyncUpdate(DryCall& call) {
  std::vector<Value> operands = call.operands[0].element(0).elements();
  operands.insert(operands.end(), call.operands.begin() + 1, call.operands.end());
  return Bound(call, std::move(operands), call.operands[0].element(1));
}

Value DryDevice::AsyncDone(DryCall& call) {
  Value started = std::exchange(call.operands[0], Value());
  return EndAll(started.TakeElement(1));
}

}  // namespace shoal
