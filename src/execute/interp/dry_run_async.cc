// What is sent, received and under way.
#include <algorithm>
#include <iterator>
#include <utility>

#include "analyze/facts/manual_regions.h"
#include "core/ops/custom_calls.h"
#include "core/ops/in_place.h"
#include "core/ops/traits.h"
#include "core/ops/transfer.h"
#include "execute/interp/dry_run.h"

namespace shoal::internal {
namespace {

// Leaves the device: what it holds itself, too, is never written again. True if it was its alone.
bool Leave(SizedValue& operand) {
  SizedValue given = std::exchange(operand, SizedValue());
  if (!given.IsArray() || given.IsAlone()) return true;
  given.Freeze();
  return false;
}

}  // namespace

SizedValue DryRun::Begin(const Instruction& collective, std::span<SizedValue> operands) {
  bool alone = true;
  for (SizedValue& operand : operands) alone = Leave(operand) && alone;
  return SizedValue::Pending(collective, alone);
}

SizedValue DryRun::End(SizedValue value) {
  if (!value.IsPending()) return value;
  SizedValue result = New(ResultShape(value.collective()));
  if (IsShared(value)) result.Freeze();
  return result;
}

SizedValue DryRun::EndAll(SizedValue value) {
  if (!value.IsTuple()) return End(std::move(value));
  std::vector<SizedValue> elements;
  for (int64_t i = 0; i < std::ssize(value.elements()); ++i) elements.push_back(EndAll(value.TakeElement(i)));
  return SizedValue::Tuple(std::move(elements));
}

bool DryRun::IsShared(const SizedValue& pending) const {
  const Instruction& hlo = pending.collective();
  const bool alone = pending.given_alone();
  switch (ReceivedFrom(hlo)) {
    case ReceivedBuffer::kOneForAll: {
      const int64_t members = participation_.MembersOf(hlo, device_);
      return members > 1 || (members == 1 && !alone);
    }
    case ReceivedBuffer::kOwnUnlessAlone:
      return !alone && participation_.MembersOf(hlo, device_) == 1;
    case ReceivedBuffer::kFromOthers:
      return !alone;
    case ReceivedBuffer::kFromSource:
      return participation_.IsTarget(hlo, device_);
    case ReceivedBuffer::kOwn:
      break;
  }
  return false;
}

SizedValue DryRun::Collective(OpFrame& step) {
  const std::optional<ChainKey> chain = ChainOf(step.hlo);
  const bool begins = BeginsChain(step.hlo);
  if (chain && !begins)
    if (auto carried = chains_.find(*chain); carried != chains_.end()) return carried->second.result;
  std::vector<SizedValue> operands;
  if (begins) operands.assign(step.operands.begin(), step.operands.end());
  SizedValue result = End(Begin(step.hlo, step.operands));
  if (begins) chains_[*chain] = {std::move(operands), result};
  return result;
}

// The parts that core/ops/async_pairs.h names: operands, result; and contexts.
SizedValue DryRun::Start(OpFrame& step) {
  const Instruction& hlo = step.hlo;
  const StartParts parts = StartPartsOf(hlo);
  const bool meets = IsCollective(hlo), to_host = hlo[kIsHostTransfer];
  SizedValue operands, result;
  if (parts.operands && !(meets && liveness_.IsUsedOnlyByDone(hlo)))
    operands = parts.operands_in_tuple ? SizedValue::Tuple({step.operands.begin(), step.operands.end()}) : step.operands[0];
  if (meets) {
    result = Begin(hlo, step.operands);
    if (!parts.result) return result;
  } else if (!parts.result) {  // a send
    if (!to_host) operands.Freeze();
  } else if (parts.operands) {  // a copy, which shares its memory with what is copied
    result = operands;
  } else if (to_host) {  // a recv: what another device sends comes with the done
    result = New(hlo.shape().element(*parts.result));
  }
  std::vector<SizedValue> all;
  for (int64_t i = 0; i < std::ssize(hlo.shape().elements()); ++i)
    all.push_back(i == parts.operands ? operands : i == parts.result ? result : New(hlo.shape().element(i)));
  return SizedValue::Tuple(std::move(all));
}

SizedValue DryRun::Done(OpFrame& step) {
  if (!IsCollective(step.hlo) && !GivesToken(step.hlo))
    return step.operands[0].TakeElement(ResultPartOf(step.hlo).value_or(0));
  SizedValue started = std::exchange(step.operands[0], SizedValue());
  if (IsCollective(step.hlo)) return End(started.IsTuple() ? started.TakeElement(1) : std::move(started));
  SizedValue data = started.TakeElement(0);
  if (data.IsNothing()) {
    data = New(step.hlo.shape().element(0));
    data.Freeze();
  }
  return SizedValue::Tuple({std::move(data), SizedValue()});
}

SizedValue DryRun::AsyncPart(OpFrame& step) {
  if (IsAsyncDone(step.hlo)) {
    SizedValue started = std::exchange(step.operands[0], SizedValue());
    return EndAll(started.TakeElement(1));
  }
  if (IsAsyncStart(step.hlo))
    return Bound(step, {std::make_move_iterator(step.operands.begin()), std::make_move_iterator(step.operands.end())},
                 SizedValue());
  const SizedValue before = step.operands[0].Element(0);
  std::vector<SizedValue> operands = before.IsTuple() ? before.elements() : std::vector<SizedValue>();
  operands.insert(operands.end(), step.operands.begin() + 1, step.operands.end());
  return Bound(step, std::move(operands), step.operands[0].Element(1));
}

// ((operands), result, context…) with what is bound so far. The computation runs once it has all its arguments.
SizedValue DryRun::Bound(OpFrame& step, std::vector<SizedValue> operands, SizedValue result) {
  const Instruction* start = step.hlo.has(kCalls) ? &step.hlo : AsyncStartOf(step.hlo);
  const Computation* computation = start == nullptr ? nullptr : (*start)[kCalls];
  if (computation != nullptr && result.IsNothing() && operands.size() == computation->parameters.size()) {
    const bool meets = std::any_of(computation->instructions.begin(), computation->instructions.end(),
                                   [](const Instruction* hlo) { return StartsCollective(*hlo); });
    std::vector<SizedValue> arguments = liveness_.IsUsedOnlyByDone(step.hlo) ? std::exchange(operands, {}) : operands;
    result = meets ? Wrapped(*computation, std::move(arguments)) : RunComputation(*computation, std::move(arguments));
  }
  std::vector<SizedValue> parts{SizedValue::Tuple(std::move(operands)), std::move(result)};
  for (const Shape* context : step.hlo.shape().elements().subspan(2)) parts.push_back(New(*context));
  return SizedValue::Tuple(std::move(parts));
}

// A computation whose collectives are begun, and waited for only where another op needs their values.
SizedValue DryRun::Wrapped(const Computation& computation, std::vector<SizedValue> arguments) {
  std::vector<SizedValue> values(computation.instructions.size());
  for (const Instruction* hlo : computation.instructions) {
    SizedValue& value = values[hlo->index];
    if (IsParameter(*hlo)) {
      value = std::move(arguments[static_cast<size_t>((*hlo)[kParameterNumber])]);
      continue;
    }
    if (IsConstant(*hlo)) {
      value = Uncounted(hlo->shape());
      continue;
    }
    std::vector<SizedValue> operands;
    for (const Instruction* operand : hlo->operands) operands.push_back(values[operand->index]);
    if (!IsTuple(*hlo) && !IsGetTupleElement(*hlo))
      for (SizedValue& operand : operands) operand = End(std::move(operand));
    OpFrame step{*hlo, operands};
    value = StartsCollective(*hlo) ? Begin(*hlo, operands) : Evaluate(step);
  }
  return std::move(values[computation.root->index]);
}

SizedValue DryRun::CustomCall(OpFrame& step) {
  const CustomCallFacts* facts = FactsOf(step.hlo);
  if (facts == nullptr) return NewResult(step);
  if (facts->Has(kStartsChain)) return ChainStart(step);
  if (facts->Has(kEndsChain)) return ChainDone(step);
  if (facts->Has(kReshards) && IsReshardCall(step.hlo)) return Reshard(step);
  if (!facts->Has(kReshards) && !facts->Has(kReturnsOperand)) return NewResult(step);
  if (step.operands.size() == 1 && (!step.hlo.shape().IsTuple() || step.operands[0].IsTuple()))
    return std::move(step.operands[0]);
  return SizedValue::Tuple({step.operands.begin(), step.operands.end()});
}

SizedValue DryRun::Reshard(OpFrame& step) {
  const std::vector<const Shape*> shapes = ReshardResults(step.hlo);
  std::vector<SizedValue> results;
  for (size_t i = 0; i < shapes.size() && i < step.operands.size(); ++i) {
    const bool is_same = Compatible(*shapes[i], step.hlo.operand_shape(i));
    if (IsGlobalToLocal(step.hlo)) {
      results.push_back(is_same ? step.operands[i] : New(*shapes[i]));
      continue;
    }
    const bool alone = Leave(step.operands[i]);
    results.push_back(New(*shapes[i]));
    if (!is_same || !alone) results.back().Freeze();
  }
  if (step.hlo.shape().IsTuple()) return SizedValue::Tuple(std::move(results));
  return results.empty() ? NewResult(step) : std::move(results[0]);
}

// (operands, result, context…) of the collective that begins the chain.
SizedValue DryRun::ChainStart(OpFrame& step) {
  size_t number = 0;
  const Instruction* collective = CollectiveOperand(step.hlo, &number);
  const Shape& shape = step.hlo.shape();
  if (collective == nullptr || !shape.IsTuple() || shape.elements().size() < 2) return std::move(step.operands[number]);
  std::vector<SizedValue> parts;
  const std::optional<ChainKey> key = ChainOf(*collective);
  if (auto chain = chains_.find(key.value_or(ChainKey())); key && chain != chains_.end())
    parts = chain->second.operands;
  else
    for (const Instruction* operand : collective->operands) parts.push_back(New(operand->shape()));
  if (parts.size() > 1) parts = {SizedValue::Tuple(std::move(parts))};
  parts.push_back(std::move(step.operands[number]));
  for (const Shape* context : shape.elements().subspan(2)) parts.push_back(New(*context));
  return SizedValue::Tuple(std::move(parts));
}

SizedValue DryRun::ChainDone(OpFrame& step) {
  size_t number = 0;
  const Instruction* collective = CollectiveOperand(step.hlo, &number);
  if (collective == nullptr) return NewResult(step);
  if (const std::optional<ChainKey> key = ChainOf(*collective)) chains_.erase(*key);
  return std::move(step.operands[number]);
}

}  // namespace shoal::internal
