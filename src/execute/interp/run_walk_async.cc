// What is sent, received and under way.
#include <algorithm>
#include <iterator>
#include <utility>

#include "analyze/facts/manual_regions.h"
#include "core/ops/custom_calls.h"
#include "core/ops/in_place.h"
#include "core/ops/traits.h"
#include "core/ops/transfer.h"
#include "execute/interp/run_walk.h"

namespace shoal {
namespace {

// Leaves the device: what it holds itself, too, is never written again. True if it was its alone.
bool Leave(HeldValue& operand) {
  HeldValue given = std::exchange(operand, HeldValue());
  if (!given.IsArray() || given.IsAlone()) return true;
  given.Fix();
  return false;
}

}  // namespace

HeldValue RunWalk::Begin(const Instruction& collective, std::span<HeldValue> operands) {
  bool alone = true;
  for (HeldValue& operand : operands) alone = Leave(operand) && alone;
  return HeldValue::UnderWay(collective, alone);
}

HeldValue RunWalk::End(HeldValue value) {
  if (!value.IsUnderWay()) return value;
  HeldValue result = New(ResultShape(value.collective()));
  if (IsShared(value)) result.Fix();
  return result;
}

HeldValue RunWalk::EndAll(HeldValue value) {
  if (!value.IsTuple()) return End(std::move(value));
  std::vector<HeldValue> elements;
  for (int64_t i = 0; i < std::ssize(value.elements()); ++i) elements.push_back(EndAll(value.TakeElement(i)));
  return HeldValue::Tuple(std::move(elements));
}

bool RunWalk::IsShared(const HeldValue& under_way) const {
  const Instruction& hlo = under_way.collective();
  const bool alone = under_way.given_alone();
  switch (ReceivedFrom(hlo)) {
    case Received::kOneForAll: {
      const int64_t members = participation_.MembersOf(hlo, device_);
      return members > 1 || (members == 1 && !alone);
    }
    case Received::kOwnUnlessAlone:
      return !alone && participation_.MembersOf(hlo, device_) == 1;
    case Received::kFromOthers:
      return !alone;
    case Received::kFromSource:
      return participation_.IsTarget(hlo, device_);
    case Received::kOwn:
      break;
  }
  return false;
}

HeldValue RunWalk::Collective(Step& step) {
  const std::optional<ChainKey> chain = ChainOf(step.hlo);
  const bool begins = BeginsChain(step.hlo);
  if (chain && !begins)
    if (auto carried = chains_.find(*chain); carried != chains_.end()) return carried->second.result;
  std::vector<HeldValue> operands;
  if (begins) operands.assign(step.operands.begin(), step.operands.end());
  HeldValue result = End(Begin(step.hlo, step.operands));
  if (begins) chains_[*chain] = {std::move(operands), result};
  return result;
}

// The parts that core/ops/async_pairs.h names: operands, result; and contexts.
HeldValue RunWalk::Start(Step& step) {
  const Instruction& hlo = step.hlo;
  const StartParts parts = StartPartsOf(hlo);
  const bool meets = IsCollective(hlo), to_host = hlo[kIsHostTransfer];
  HeldValue operands, result;
  if (parts.operands && !(meets && liveness_.OnlyEnded(hlo)))
    operands = parts.operands_in_tuple ? HeldValue::Tuple({step.operands.begin(), step.operands.end()}) : step.operands[0];
  if (meets) {
    result = Begin(hlo, step.operands);
    if (!parts.result) return result;
  } else if (!parts.result) {  // a send
    if (!to_host) operands.Fix();
  } else if (parts.operands) {  // a copy, which shares its memory with what is copied
    result = operands;
  } else if (to_host) {  // a recv: what another device sends comes with the done
    result = New(hlo.shape().element(*parts.result));
  }
  std::vector<HeldValue> all;
  for (int64_t i = 0; i < std::ssize(hlo.shape().elements()); ++i)
    all.push_back(i == parts.operands ? operands : i == parts.result ? result : New(hlo.shape().element(i)));
  return HeldValue::Tuple(std::move(all));
}

HeldValue RunWalk::Done(Step& step) {
  if (!IsCollective(step.hlo) && !GivesToken(step.hlo))
    return step.operands[0].TakeElement(ResultPartOf(step.hlo).value_or(0));
  HeldValue started = std::exchange(step.operands[0], HeldValue());
  if (IsCollective(step.hlo)) return End(started.IsTuple() ? started.TakeElement(1) : std::move(started));
  HeldValue data = started.TakeElement(0);
  if (data.IsNothing()) {
    data = New(step.hlo.shape().element(0));
    data.Fix();
  }
  return HeldValue::Tuple({std::move(data), HeldValue()});
}

HeldValue RunWalk::AsyncPart(Step& step) {
  if (IsAsyncDone(step.hlo)) {
    HeldValue started = std::exchange(step.operands[0], HeldValue());
    return EndAll(started.TakeElement(1));
  }
  if (IsAsyncStart(step.hlo))
    return Bound(step, {std::make_move_iterator(step.operands.begin()), std::make_move_iterator(step.operands.end())},
                 HeldValue());
  const HeldValue before = step.operands[0].Element(0);
  std::vector<HeldValue> operands = before.IsTuple() ? before.elements() : std::vector<HeldValue>();
  operands.insert(operands.end(), step.operands.begin() + 1, step.operands.end());
  return Bound(step, std::move(operands), step.operands[0].Element(1));
}

// ((operands), result, context…) with what is bound so far. The computation runs once it has all its arguments.
HeldValue RunWalk::Bound(Step& step, std::vector<HeldValue> operands, HeldValue result) {
  const Instruction* start = step.hlo.has(kCalls) ? &step.hlo : AsyncStartOf(step.hlo);
  const Computation* computation = start == nullptr ? nullptr : (*start)[kCalls];
  if (computation != nullptr && result.IsNothing() && operands.size() == computation->parameters.size()) {
    const bool meets = std::any_of(computation->instructions.begin(), computation->instructions.end(),
                                   [](const Instruction* hlo) { return BeginsCollective(*hlo); });
    std::vector<HeldValue> arguments = liveness_.OnlyEnded(step.hlo) ? std::exchange(operands, {}) : operands;
    result = meets ? Wrapped(*computation, std::move(arguments)) : RunComputation(*computation, std::move(arguments));
  }
  std::vector<HeldValue> parts{HeldValue::Tuple(std::move(operands)), std::move(result)};
  for (const Shape* context : step.hlo.shape().elements().subspan(2)) parts.push_back(New(*context));
  return HeldValue::Tuple(std::move(parts));
}

// A computation whose collectives are begun, and waited for only where another op needs their values.
HeldValue RunWalk::Wrapped(const Computation& computation, std::vector<HeldValue> arguments) {
  std::vector<HeldValue> values(computation.instructions.size());
  for (const Instruction* hlo : computation.instructions) {
    HeldValue& value = values[hlo->index];
    if (IsParameter(*hlo)) {
      value = std::move(arguments[static_cast<size_t>((*hlo)[kParameterNumber])]);
      continue;
    }
    if (IsConstant(*hlo)) {
      value = Uncounted(hlo->shape());
      continue;
    }
    std::vector<HeldValue> operands;
    for (const Instruction* operand : hlo->operands) operands.push_back(values[operand->index]);
    if (!IsTuple(*hlo) && !IsGetTupleElement(*hlo))
      for (HeldValue& operand : operands) operand = End(std::move(operand));
    Step step{*hlo, operands};
    value = BeginsCollective(*hlo) ? Begin(*hlo, operands) : Evaluate(step);
  }
  return std::move(values[computation.root->index]);
}

HeldValue RunWalk::CustomCall(Step& step) {
  const CustomCallFacts* facts = FactsOf(step.hlo);
  if (facts == nullptr) return NewResult(step);
  if (facts->Has(kStartsChain)) return ChainStart(step);
  if (facts->Has(kEndsChain)) return ChainDone(step);
  if (facts->Has(kReshards) && Reshards(step.hlo)) return Reshard(step);
  if (!facts->Has(kReshards) && !facts->Has(kGivesBack)) return NewResult(step);
  if (step.operands.size() == 1 && (!step.hlo.shape().IsTuple() || step.operands[0].IsTuple()))
    return std::move(step.operands[0]);
  return HeldValue::Tuple({step.operands.begin(), step.operands.end()});
}

HeldValue RunWalk::Reshard(Step& step) {
  const std::vector<const Shape*> shapes = ReshardResults(step.hlo);
  std::vector<HeldValue> results;
  for (size_t i = 0; i < shapes.size() && i < step.operands.size(); ++i) {
    const bool is_same = Compatible(*shapes[i], step.hlo.operand_shape(i));
    if (TakesPart(step.hlo)) {
      results.push_back(is_same ? step.operands[i] : New(*shapes[i]));
      continue;
    }
    const bool alone = Leave(step.operands[i]);
    results.push_back(New(*shapes[i]));
    if (!is_same || !alone) results.back().Fix();
  }
  if (step.hlo.shape().IsTuple()) return HeldValue::Tuple(std::move(results));
  return results.empty() ? NewResult(step) : std::move(results[0]);
}

// (operands, result, context…) of the collective that begins the chain.
HeldValue RunWalk::ChainStart(Step& step) {
  size_t number = 0;
  const Instruction* collective = CollectiveOperand(step.hlo, &number);
  const Shape& shape = step.hlo.shape();
  if (collective == nullptr || !shape.IsTuple() || shape.elements().size() < 2) return std::move(step.operands[number]);
  std::vector<HeldValue> parts;
  const std::optional<ChainKey> key = ChainOf(*collective);
  if (auto chain = chains_.find(key.value_or(ChainKey())); key && chain != chains_.end())
    parts = chain->second.operands;
  else
    for (const Instruction* operand : collective->operands) parts.push_back(New(operand->shape()));
  if (parts.size() > 1) parts = {HeldValue::Tuple(std::move(parts))};
  parts.push_back(std::move(step.operands[number]));
  for (const Shape* context : shape.elements().subspan(2)) parts.push_back(New(*context));
  return HeldValue::Tuple(std::move(parts));
}

HeldValue RunWalk::ChainDone(Step& step) {
  size_t number = 0;
  const Instruction* collective = CollectiveOperand(step.hlo, &number);
  if (collective == nullptr) return NewResult(step);
  if (const std::optional<ChainKey> key = ChainOf(*collective)) chains_.erase(*key);
  return std::move(step.operands[number]);
}

}  // namespace shoal
