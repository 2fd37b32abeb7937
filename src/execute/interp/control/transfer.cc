// send and recv, between devices or with the host; infeed and outfeed. A send delivers its data without waiting. The
// host supplies generated numbers, which are deterministic, and accepts all data.
#include "analyze/facts/wire_bytes.h"
#include "execute/interp/control/device_collective.h"
#include "execute/interp/custom_calls/custom_call.h"

namespace shoal::internal {
namespace {

// Returns the value of a transfer in flight: (data, context, token).
Value InFlight(Value data) {
  return Value::Tuple({std::move(data), Array::Scalar<uint32_t>(ElementType::kU32, 0), Value()});
}

// Generates data from the host, which differs between calls.
Value GenerateHostData(Device& device, const Shape& shape) {
  uint64_t leaf = static_cast<uint64_t>(device.id()) << 48 | static_cast<uint64_t>(device.host_reads++) << 16;
  return GeneratedValue("host", leaf, shape);
}

Arrays ArraysOf(const Value& value) {
  std::vector<Value> leaves;
  AppendLeaves(value, leaves);
  Arrays arrays;
  for (Value& leaf : leaves)
    if (leaf.IsArray()) arrays.push_back(std::move(leaf.array()));
  return arrays;
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kSend>(Call& call) {
  CollectiveRuntime& world = call.device.world();
  if (!call.hlo[kIsHostTransfer]) {
    SHOAL_ASSIGN(routes, world.RoutesOf(call.hlo));
    const Arrays arrays = ArraysOf(call.operands[0]);
    const auto& from = routes->from[static_cast<size_t>(call.device.id())];
    for (const Route* route : from) {
      Arrays sent = arrays;
      UnchargeFromDevice(sent);
      world.Deliver(call.hlo, *route, std::move(sent));
    }
    world.Count(call.device.id(), call.hlo.opcode, {1, std::ssize(from) * TotalBytes(arrays), 0});
  }
  return InFlight(std::move(call.operands[0]));
}

template <>
Result<Value> Evaluate<Opcode::kSendDone>(Call&) {
  return Value();
}

template <>
Result<Value> Evaluate<Opcode::kRecv>(Call& call) {
  Device& device = call.device;
  const Shape& data = call.hlo.shape().element(0);
  if (call.hlo[kIsHostTransfer]) return InFlight(GenerateHostData(device, data));
  SHOAL_ASSIGN(routes, device.world().RoutesOf(call.hlo));
  auto pending = std::make_shared<Pending>();
  int64_t wire = 0;
  for (const Route* route : routes->to[static_cast<size_t>(device.id())]) {
    pending->handles.push_back(device.world().Expect(call.hlo, *route));
    if (route->source != route->target) wire += PayloadOf(call.hlo);
  }
  device.world().Count(device.id(), call.hlo.opcode, {0, 0, wire});
  pending->assemble = [&data](std::vector<Arrays> received) -> Result<Value> {
    if (received.empty()) return ZeroValue(data);
    size_t next = 0;
    const std::vector<Value> leaves(received[0].begin(), received[0].end());
    return FromLeaves(data, leaves, next);
  };
  return InFlight(Value::Pending(std::move(pending)));
}

template <>
Result<Value> Evaluate<Opcode::kRecvDone>(Call& call) {
  Value in_flight = std::exchange(call.operands[0], Value());
  SHOAL_ASSIGN(data, End(call.device, call.hlo, in_flight.TakeElement(0)));
  return Value::Tuple({std::move(data), Value()});
}

template <>
Result<Value> Evaluate<Opcode::kInfeed>(Call& call) {
  return Value::Tuple({GenerateHostData(call.device, call.hlo.shape().element(0)), Value()});
}

template <>
Result<Value> Evaluate<Opcode::kOutfeed>(Call& call) {
  if (call.device.settings().outfeed)
    SHOAL_TRY(call.device.settings().outfeed(call.device, call.hlo, call.operands[0]));
  return Value();
}

}  // namespace shoal::internal
