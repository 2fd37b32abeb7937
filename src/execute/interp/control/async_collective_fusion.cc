// A TPU's async collective fusions contain a collective three times (chain.h): one runs it, two forward the result.

#include "analyze/facts/chain.h"
#include "execute/interp/control/device_collective.h"
#include "execute/interp/custom_calls/custom_call.h"

namespace shoal::internal {
namespace {

using CustomCall = Op<Opcode::kCustomCall>;

Diag NoCollective(const Call& call) {
  return ExecutionError(call.hlo, StrCat(call.hlo[CustomCall::kTarget], " must have a collective as an operand"));
}

}  // namespace

const Value* ChainedResult(const Call& call) {
  const std::optional<ChainKey> key = ChainOf(call.hlo);
  if (!key || call.device.chains.empty() || BeginsChain(call.hlo)) return nullptr;
  const auto chain = call.device.chains.find(*key);
  return chain == call.device.chains.end() ? nullptr : &chain->second.result;
}

void KeepForChain(Device& device, const Instruction& hlo, std::vector<Value> operands, const Value& result) {
  device.chains[*ChainOf(hlo)] = {std::move(operands), result};
}

// Returns (operand, result, flags and semaphores…).
Result<Value> AsyncCollectiveStart(Call& call) {
  size_t number = 0;
  const Instruction* collective = CollectiveOperand(call.hlo, &number);
  if (collective == nullptr) return NoCollective(call);
  const std::optional<ChainKey> key = ChainOf(*collective);
  const Shape& shape = call.hlo.shape();
  if (!shape.IsTuple() || shape.elements().size() < 2) return std::move(call.operands[number]);
  std::vector<Value> parts;
  if (const auto chain = call.device.chains.find(key.value_or(ChainKey())); key && chain != call.device.chains.end()) {
    parts = chain->second.operands;
  } else {  // without a chain, these operands are not used again
    for (const Instruction* operand : collective->operands) parts.push_back(ZeroValue(operand->shape()));
  }
  if (parts.size() > 1) parts = {Value::Tuple(std::move(parts))};
  parts.push_back(std::move(call.operands[number]));
  for (const Shape* context : shape.elements().subspan(2)) parts.push_back(ZeroValue(*context));
  return Value::Tuple(std::move(parts));
}

Result<Value> AsyncCollectiveDone(Call& call) {
  size_t number = 0;
  const Instruction* collective = CollectiveOperand(call.hlo, &number);
  if (collective == nullptr) return NoCollective(call);
  if (const std::optional<ChainKey> key = ChainOf(*collective)) call.device.chains.erase(*key);
  return std::move(call.operands[number]);
}

}  // namespace shoal::internal
