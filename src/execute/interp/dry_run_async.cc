// Dry run of collectives, transfers and pending values.
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

// Sends an array to other devices. If the sender keeps a copy, freezes it. Returns true if there was no other owner.
bool ReleaseOperand(SizedValue& operand) {
  SizedValue array = std::exchange(operand, SizedValue());
  if (!array.IsArray() || array.IsUnique()) return true;
  array.Freeze();
  return false;
}

}  // namespace

SizedValue DryRun::Begin(const Instruction& collective, std::span<SizedValue> operands) {
  bool is_unshared = true;
  for (SizedValue& operand : operands) is_unshared = ReleaseOperand(operand) && is_unshared;
  return SizedValue::Pending(collective, is_unshared);
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
  const bool is_unshared = pending.operands_unshared();
  switch (ReceivedFrom(hlo)) {
    case ReceivedBuffer::kOneForAll: {
      const int64_t members = participation_.MembersOf(hlo, device_);
      return members > 1 || (members == 1 && !is_unshared);
    }
    case ReceivedBuffer::kOwnUnlessSingle:
      return !is_unshared && participation_.MembersOf(hlo, device_) == 1;
    case ReceivedBuffer::kFromOthers:
      return !is_unshared;
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
    if (auto previous = chains_.find(*chain); previous != chains_.end()) return previous->second.result;
  std::vector<SizedValue> operands;
  if (begins) operands.assign(step.operands.begin(), step.operands.end());
  SizedValue result = End(Begin(step.hlo, step.operands));
  if (begins) chains_[*chain] = {std::move(operands), result};
  return result;
}

// Returns the tuple of core/ops/async_pairs.h: operands, result, contexts.
SizedValue DryRun::Start(OpFrame& step) {
  const Instruction& hlo = step.hlo;
  const StartParts parts = StartPartsOf(hlo);
  const bool is_collective = IsCollective(hlo), to_host = hlo[kIsHostTransfer];
  SizedValue operands, result;
  if (parts.operands && !(is_collective && liveness_.IsUsedOnlyByDone(hlo)))
    operands = parts.operands_in_tuple ? SizedValue::Tuple({step.operands.begin(), step.operands.end()}) : step.operands[0];
  if (is_collective) {
    result = Begin(hlo, step.operands);
    if (!parts.result) return result;
  } else if (!parts.result) {  // a send
    if (!to_host) operands.Freeze();
  } else if (parts.operands) {  // a copy that shares memory with its source
    result = operands;
  } else if (to_host) {  // a recv from the host; data of another device arrives at the done op
    result = New(hlo.shape().element(*parts.result));
  }
  std::vector<SizedValue> all;
  for (int64_t i = 0; i < std::ssize(hlo.shape().elements()); ++i)
    all.push_back(i == parts.operands ? operands : i == parts.result ? result : New(hlo.shape().element(i)));
  return SizedValue::Tuple(std::move(all));
}

SizedValue DryRun::Done(OpFrame& step) {
  if (!IsCollective(step.hlo) && !ReturnsToken(step.hlo))
    return step.operands[0].TakeElement(ResultPartOf(step.hlo).value_or(0));
  SizedValue started = std::exchange(step.operands[0], SizedValue());
  if (IsCollective(step.hlo)) return End(started.IsTuple() ? started.TakeElement(1) : std::move(started));
  SizedValue data = started.TakeElement(0);
  if (data.IsEmpty()) {
    data = New(step.hlo.shape().element(0));
    data.Freeze();
  }
  return SizedValue::Tuple({std::move(data), SizedValue()});
}

SizedValue DryRun::AsyncOp(OpFrame& step) {
  if (IsAsyncDone(step.hlo)) {
    SizedValue started = std::exchange(step.operands[0], SizedValue());
    return EndAll(started.TakeElement(1));
  }
  if (IsAsyncStart(step.hlo))
    return Bind(step, {std::make_move_iterator(step.operands.begin()), std::make_move_iterator(step.operands.end())},
                SizedValue());
  const SizedValue previous = step.operands[0].Element(0);
  std::vector<SizedValue> operands = previous.IsTuple() ? previous.elements() : std::vector<SizedValue>();
  operands.insert(operands.end(), step.operands.begin() + 1, step.operands.end());
  return Bind(step, std::move(operands), step.operands[0].Element(1));
}

// Returns ((operands), result, context…) with the operands bound so far. Runs the computation once all are bound.
SizedValue DryRun::Bind(OpFrame& step, std::vector<SizedValue> operands, SizedValue result) {
  const Instruction* start = step.hlo.has(kCalls) ? &step.hlo : AsyncStartOf(step.hlo);
  const Computation* computation = start == nullptr ? nullptr : (*start)[kCalls];
  if (computation != nullptr && result.IsEmpty() && operands.size() == computation->parameters.size()) {
    const bool is_collective = std::any_of(computation->instructions.begin(), computation->instructions.end(),
                                           [](const Instruction* hlo) { return StartsCollective(*hlo); });
    std::vector<SizedValue> arguments = liveness_.IsUsedOnlyByDone(step.hlo) ? std::exchange(operands, {}) : operands;
    result = is_collective ? RunWrapped(*computation, std::move(arguments))
                           : RunComputation(*computation, std::move(arguments));
  }
  std::vector<SizedValue> parts{SizedValue::Tuple(std::move(operands)), std::move(result)};
  for (const Shape* context : step.hlo.shape().elements().subspan(2)) parts.push_back(New(*context));
  return SizedValue::Tuple(std::move(parts));
}

// Starts the collectives of a computation. Waits for a collective only if a non-collective op needs its value.
SizedValue DryRun::RunWrapped(const Computation& computation, std::vector<SizedValue> arguments) {
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
    const bool same_shape = Compatible(*shapes[i], step.hlo.operand_shape(i));
    if (IsGlobalToLocal(step.hlo)) {
      results.push_back(same_shape ? step.operands[i] : New(*shapes[i]));
      continue;
    }
    const bool is_unshared = ReleaseOperand(step.operands[i]);
    results.push_back(New(*shapes[i]));
    if (!same_shape || !is_unshared) results.back().Freeze();
  }
  if (step.hlo.shape().IsTuple()) return SizedValue::Tuple(std::move(results));
  return results.empty() ? NewResult(step) : std::move(results[0]);
}

// Returns (operands, result, context…) of the collective with which the chain begins.
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
