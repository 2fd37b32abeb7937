#include "execute/interp/control/device_collective.h"

#include <algorithm>

#include "analyze/facts/wire_bytes.h"
#include "execute/collectives/small_message_collective.h"
#include "execute/interp/control/operand_fold.h"
#include "execute/interp/declared_shape.h"

namespace shoal::internal {
namespace {

struct CollectiveHandler {
  Opcode kind;
  Evaluator begin;
  std::optional<SmallCollectiveTraits> small;  // set if the op supports small messages between processes
};
constexpr CollectiveHandler kHandlers[] = {
    {Opcode::kAllGather, &BeginAllGather, SmallCollectiveTraits{.shares = true}},
    {Opcode::kAllReduce, &BeginAllReduce, SmallCollectiveTraits{.folds = true, .shares = true}},
    {Opcode::kAllToAll, &BeginAllToAll, SmallCollectiveTraits{.splits = true}},
    {Opcode::kCollectiveBroadcast, &BeginCollectiveBroadcast, {}},
    {Opcode::kCollectivePermute, &BeginCollectivePermute, {}},
    {Opcode::kCollectiveReduce, &BeginCollectiveReduce, {}},
    {Opcode::kRaggedAllToAll, &BeginRaggedAllToAll, {}},
    {Opcode::kReduceScatter, &BeginReduceScatter, SmallCollectiveTraits{.folds = true, .splits = true}},
};

const CollectiveHandler* FindHandler(const Instruction& hlo) {
  const Opcode kind = KindOf(hlo.opcode);
  auto it = std::find_if(std::begin(kHandlers), std::end(kHandlers),
                         [&](const CollectiveHandler& each) { return each.kind == kind; });
  return it == std::end(kHandlers) ? nullptr : it;
}

// Returns the instruction's SmallMessageCollective, created at first use. Null if the collective is not eligible.
SmallMessageCollective* SmallCollectiveOf(const Call& call) {
  if (call.device.polling_device == nullptr) return nullptr;  // all devices are in this process
  const auto [found, is_new] = call.device.small_collectives.try_emplace(&call.hlo);
  if (!is_new) return found->second.get();
  if (const std::optional<SmallCollectiveTraits>& traits = FindHandler(call.hlo)->small)
    found->second = SmallMessageCollective::New(call.device.world(), call.hlo, call.device.id(), *traits,
                                                traits->folds ? FoldLocally(call) : nullptr);
  return found->second.get();
}

Result<Value> EvaluateSync(Call& call) {
  if (SmallMessageCollective* small = SmallCollectiveOf(call); small != nullptr && small->TryStart(call.operands))
    return small->Take(call.operands);
  if (const Value* chained = ChainedResult(call)) return *chained;
  std::vector<Value> operands;
  const bool begins_chain = BeginsChain(call.hlo);
  if (begins_chain) operands.assign(call.operands.begin(), call.operands.end());
  SHOAL_ASSIGN(started, Begin(call));
  SHOAL_ASSIGN(value, End(call.device, call.hlo, std::move(started)));
  if (begins_chain) KeepForChain(call.device, call.hlo, std::move(operands), value);
  return std::move(value);
}

// Returns (operands, result, context…) in the form of StartPartsOf, or only the result.
Result<Value> EvaluateStart(Call& call) {
  const StartParts starts = StartPartsOf(call.hlo);
  std::vector<Value> parts(1);
  if (starts.operands && KeepsOperands(call))
    parts[0] = starts.operands_in_tuple ? Value::Tuple({call.operands.begin(), call.operands.end()}) : call.operands[0];
  SHOAL_ASSIGN(started, Begin(call));
  if (!starts.result) return std::move(started);
  parts.push_back(std::move(started));
  for (const Shape* context : call.hlo.shape().elements().subspan(2)) parts.push_back(ZeroValue(*context));
  return Value::Tuple(std::move(parts));
}

Result<Value> EvaluateDone(Call& call) {
  Value started = std::move(call.operands[0]);
  call.operands[0] = Value();
  // An all-reduce-start whose shape has no operands returns the pending result itself.
  if (started.IsTuple()) started = started.TakeElement(1);
  return End(call.device, call.hlo, std::move(started));
}

// The error for a module that was compiled for groups of a different size.
Diag GroupSizeMismatch(const Instruction& hlo, int64_t members, const Value& value, const Shape& declared) {
  std::vector<std::string> operands;
  for (const Instruction* operand : hlo.operands) operands.push_back(ToString(operand->shape()));
  return ExecutionError(hlo, StrCat(Text(hlo.opcode), " in a group of ", members, members == 1 ? " device" : " devices",
                                    " returns ", ToString(value), " from operands ", StrJoin(operands, ", "),
                                    ", but its declared shape is ", ToString(declared),
                                    "; the module was compiled for groups of another size"));
}

Value Id(int64_t id) { return Array::Scalar<uint32_t>(ElementType::kU32, static_cast<uint32_t>(id)); }

}  // namespace

bool KeepsOperands(const Call& start) {
  return start.device.settings().observer != nullptr || !start.device.plans().liveness().IsUsedOnlyByDone(start.hlo);
}

Result<Value> Begin(Call& call) { return FindHandler(call.hlo)->begin(call); }

Result<Value> End(Device& device, const Instruction& at, Value value) {
  if (!value.IsPending()) return value;
  auto pending = std::static_pointer_cast<Pending>(value.pending());
  value = Value();
  const bool keep = pending.use_count() > 1;  // another owner of the pending value may also call End
  std::vector<Arrays> received;
  for (const Handle& handle : pending->handles) {
    SHOAL_ASSIGN(arrays, device.world().Wait(device.id(), at, device.control_flow_state(), handle, keep));
    received.push_back(std::move(arrays));
  }
  return pending->assemble(std::move(received));
}

Value FromArrays(const Shape& shape, Arrays arrays) {
  if (!shape.IsTuple()) return std::move(arrays[0]);
  return Value::Tuple({std::make_move_iterator(arrays.begin()), std::make_move_iterator(arrays.end())});
}

Arrays TakeArrays(Call& call) {
  Arrays arrays;
  for (Value& operand : call.operands) arrays.push_back(std::move(operand.array()));
  return arrays;
}

void UnchargeFromDevice(Arrays& arrays) {
  for (Array& array : arrays) array.ChargeTo(nullptr);
}

int64_t TotalBytes(std::span<const Array> arrays) {
  int64_t bytes = 0;
  for (const Array& array : arrays) bytes += array.bytes();
  return bytes;
}

Result<size_t> MembersOf(const Call& call) {
  SHOAL_ASSIGN(groups, call.device.world().GroupsOf(call.hlo));
  const int64_t group = groups->members[static_cast<size_t>(call.device.id())].group;
  return group < 0 ? 0 : groups->all[static_cast<size_t>(group)].size();
}

bool SpansProcesses(const Call& call) {
  const Result<const Groups*> groups = call.device.world().GroupsOf(call.hlo);
  if (!groups.ok()) return false;  // reported when the device arrives
  const int64_t group = (*groups)->members[static_cast<size_t>(call.device.id())].group;
  return group >= 0 && call.device.world().LayoutOf(*(*groups)->rendezvous[static_cast<size_t>(group)]) != nullptr;
}

Result<Value> BeginInGroup(Call& call, Arrays contribution, const CombineRule& rule) {
  const size_t payload_count = contribution.size();
  auto wire_bytes = [kind = KindOf(call.hlo.opcode)](int64_t n, int64_t position, int64_t payload) {
    return DirectBytes(kind, {n, payload, 0, position});
  };
  return BeginInGroup(call, std::move(contribution), payload_count, wire_bytes, rule);
}

Result<Value> BeginInGroup(Call& call, Arrays contribution, size_t payload_count, const WireBytes& wire_bytes,
                           const CombineRule& rule) {
  Device& device = call.device;
  SHOAL_ASSIGN(groups, device.world().GroupsOf(call.hlo));
  const Groups::Member member = groups->members[static_cast<size_t>(device.id())];
  auto pending = std::make_shared<Pending>();
  const Shape& result = ResultShape(call.hlo);
  if (member.group < 0) {  // only collective-broadcast allows devices without a group
    pending->assemble = [&result](const std::vector<Arrays>&) -> Result<Value> { return ZeroValue(result); };
    return Value::Pending(std::move(pending));
  }
  const auto group = static_cast<size_t>(member.group);
  const int64_t payload = TotalBytes(std::span(contribution).first(payload_count));
  const int64_t members = std::ssize(groups->all[group]);
  device.world().Count(device.id(), call.hlo.opcode, {1, payload, wire_bytes(members, member.rank, payload)});
  UnchargeFromDevice(contribution);
  Rendezvous& rendezvous = *groups->rendezvous[group];
  auto arrive = [&](const auto& combine) {
    return device.world().Arrive(call.hlo, rendezvous, member.rank, std::move(contribution), combine);
  };
  if (device.world().LayoutOf(rendezvous) != nullptr) {
    pending->handles.push_back(arrive(rule.exchange));
  } else {
    SHOAL_ASSIGN(handle, std::visit(arrive, rule.local));
    pending->handles.push_back(std::move(handle));
  }
  pending->assemble = [&result, &hlo = call.hlo, members](std::vector<Arrays> received) -> Result<Value> {
    Value value = FromArrays(result, std::move(received[0]));
    if (HasShape(value, result)) return value;
    return GroupSizeMismatch(hlo, members, value, result);
  };
  return Value::Pending(std::move(pending));
}

template <>
Result<Value> Evaluate<Opcode::kAllGather>(Call& call) {
  return EvaluateSync(call);
}
template <>
Result<Value> Evaluate<Opcode::kAllGatherStart>(Call& call) {
  return EvaluateStart(call);
}
template <>
Result<Value> Evaluate<Opcode::kAllGatherDone>(Call& call) {
  return EvaluateDone(call);
}
template <>
Result<Value> Evaluate<Opcode::kAllReduce>(Call& call) {
  return EvaluateSync(call);
}
template <>
Result<Value> Evaluate<Opcode::kAllReduceStart>(Call& call) {
  return EvaluateStart(call);
}
template <>
Result<Value> Evaluate<Opcode::kAllReduceDone>(Call& call) {
  return EvaluateDone(call);
}
template <>
Result<Value> Evaluate<Opcode::kReduceScatter>(Call& call) {
  return EvaluateSync(call);
}
template <>
Result<Value> Evaluate<Opcode::kCollectiveReduce>(Call& call) {
  return EvaluateSync(call);
}
template <>
Result<Value> Evaluate<Opcode::kAllToAll>(Call& call) {
  return EvaluateSync(call);
}
template <>
Result<Value> Evaluate<Opcode::kRaggedAllToAll>(Call& call) {
  return EvaluateSync(call);
}
template <>
Result<Value> Evaluate<Opcode::kCollectiveBroadcast>(Call& call) {
  return EvaluateSync(call);
}
template <>
Result<Value> Evaluate<Opcode::kCollectivePermute>(Call& call) {
  return EvaluateSync(call);
}
template <>
Result<Value> Evaluate<Opcode::kCollectivePermuteStart>(Call& call) {
  return EvaluateStart(call);
}
template <>
Result<Value> Evaluate<Opcode::kCollectivePermuteDone>(Call& call) {
  return EvaluateDone(call);
}

template <>
Result<Value> Evaluate<Opcode::kPartitionId>(Call& call) {
  return Id(call.device.partition());
}
template <>
Result<Value> Evaluate<Opcode::kReplicaId>(Call& call) {
  return Id(call.device.replica());
}

}  // namespace shoal::internal
