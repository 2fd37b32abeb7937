// Collectives, seen from one device. Begin registers the device's arrival without waiting. End waits for the result. A
// synchronous op does both; a start op begins and its done op ends. A pending collective is passed as a Value.
#pragma once

#include <variant>

#include "analyze/facts/chain.h"
#include "core/ops/traits.h"
#include "execute/collectives/exchange.h"
#include "execute/collectives/roots.h"
#include "execute/interp/device.h"

namespace shoal::internal {

// A collective between Begin and End.
struct Pending {
  std::vector<Handle> handles;
  // Builds the op's value from the arrays received through each handle.
  std::function<Result<Value>(std::vector<Arrays> received)> assemble;
};

// Starts the collective and returns a pending value. call.hlo is the collective or its start.
Result<Value> Begin(Call& call);
// Waits for a value from Begin. `at` is the waiting instruction. A value that is not pending is returned unchanged.
Result<Value> End(Device& device, const Instruction& at, Value value);

// True if the start's tuple must contain its operands because they may be read again.
bool KeepsOperands(const Call& start);
// Returns a single array, or a tuple of arrays if the shape is a tuple.
Value FromArrays(const Shape& shape, Arrays arrays);
// Moves the operands' arrays out of the call.
Arrays TakeArrays(Call& call);
// Arrays in transit are charged to no device. CollectiveRuntime::Wait charges them to the receiver.
void UnchargeFromDevice(Arrays& arrays);
int64_t TotalBytes(std::span<const Array> arrays);

// Number of members of the device's group; 0 if it is in none.
Result<size_t> MembersOf(const Call& call);
// True if some members of the device's group are in other processes.
bool SpansProcesses(const Call& call);
// Computes all results from all contributions. Within a process, `local` combines them all at the end, or one after the
// other. Between the processes of a job, `exchange` is used.
struct CombineRule {
  std::variant<Combine, Accumulate> local;
  MakeExchange exchange;  // owns its captures: it may be used after the call
};
// Arrives in the device's group. All operands are payload.
Result<Value> BeginInGroup(Call& call, Arrays contribution, const CombineRule& rule);
// Bytes that the device will receive (see Traffic) as member `position` of n that contributes `payload` bytes.
using WireBytes = std::function<int64_t(int64_t n, int64_t position, int64_t payload)>;
// As above, but only the first `payload_count` arrays are payload; the others specify its destinations.
Result<Value> BeginInGroup(Call& call, Arrays contribution, size_t payload_count, const WireBytes& wire_bytes,
                           const CombineRule& rule);

// Begin for each kind of collective.
Result<Value> BeginAllReduce(Call& call);
Result<Value> BeginReduceScatter(Call& call);
Result<Value> BeginCollectiveReduce(Call& call);
Result<Value> BeginAllGather(Call& call);
Result<Value> BeginAllToAll(Call& call);
Result<Value> BeginRaggedAllToAll(Call& call);
Result<Value> BeginCollectiveBroadcast(Call& call);
Result<Value> BeginCollectivePermute(Call& call);

// A copy of [start, start + size) of an array along one dimension.
Array PartOf(const Array& array, int64_t dim, int64_t start, int64_t size);
// As PartOf, but a view where the part is contiguous. The array must outlive the view.
Array PartOrView(const Array& array, int64_t dim, int64_t start, int64_t size);
Diag DifferentSizes(const Instruction& hlo, const std::string& a, const std::string& b);

// A previous fusion's result in a TPU chain (async_collective_fusion.cc), if this collective repeats it; else null.
const Value* ChainedResult(const Call& call);
// Records operands and result of the collective that starts such a chain.
void KeepForChain(Device& device, const Instruction& hlo, std::vector<Value> operands, const Value& result);

}  // namespace shoal::internal
