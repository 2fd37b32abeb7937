// Collectives as seen from one device. Begin registers the device's arrival without waiting, and End waits for the
// result. A synchronous op calls both; a start calls Begin, its done calls End. A pending collective is a Value.
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

// Starts the collective and returns a pending value. call.hlo is the collective or its start op.
Result<Value> Begin(Call& call);
// Waits for a value from Begin. `at` is the waiting instruction. Returns values that are not pending unchanged.
Result<Value> End(Device& device, const Instruction& at, Value value);

// True if the tuple of the start must contain its operands because they may be read again.
bool KeepsOperands(const Call& start);
// Returns a single array, or a tuple of arrays if the shape is a tuple.
Value FromArrays(const Shape& shape, Arrays arrays);
Arrays TakeArrays(Call& call);
// Arrays in transit are not charged to any device. CollectiveRuntime::Wait charges them to the receiver.
void UnchargeFromDevice(Arrays& arrays);
int64_t TotalBytes(std::span<const Array> arrays);

// Number of members of the device's group; 0 if the device is in no group.
Result<size_t> MembersOf(const Call& call);
// True if some members of the device's group are in other processes.
bool SpansProcesses(const Call& call);
// Computes all results from all contributions. Within a process, `local` combines them: all at the end, or each as soon
// as possible. Between the processes of a job, `exchange` is used.
struct CombineRule {
  std::variant<Combine, Accumulate> local;
  MakeExchange exchange;  // owns its captures, because it may be used after the call
};
// Arrives at the rendezvous of the device's group. All operands are payload.
Result<Value> BeginInGroup(Call& call, Arrays contribution, const CombineRule& rule);
// Bytes that a device receives (see Traffic) as member `position` of n if it contributes `payload` bytes.
using WireBytes = std::function<int64_t(int64_t n, int64_t position, int64_t payload)>;
// As above, but only the first `payload_count` arrays are payload. The others specify its destinations.
Result<Value> BeginInGroup(Call& call, Arrays contribution, size_t payload_count, const WireBytes& wire_bytes,
                           const CombineRule& rule);

Result<Value> BeginAllReduce(Call& call);
Result<Value> BeginReduceScatter(Call& call);
Result<Value> BeginCollectiveReduce(Call& call);
Result<Value> BeginAllGather(Call& call);
Result<Value> BeginAllToAll(Call& call);
Result<Value> BeginRaggedAllToAll(Call& call);
Result<Value> BeginCollectiveBroadcast(Call& call);
Result<Value> BeginCollectivePermute(Call& call);

// Copies the part [start, start + size) of an array along one dimension.
Array PartOf(const Array& array, int64_t dim, int64_t start, int64_t size);
// Like PartOf, but returns a view if the part is contiguous. The array must outlive the view.
Array PartOrView(const Array& array, int64_t dim, int64_t start, int64_t size);
Diag DifferentSizes(const Instruction& hlo, const std::string& a, const std::string& b);

// The previous fusion's result in a TPU chain (async_collective_fusion.cc) if this collective repeats it, else null.
const Value* ChainedResult(const Call& call);
// Records operands and result of the collective with which such a chain begins.
void KeepForChain(Device& device, const Instruction& hlo, std::vector<Value> operands, const Value& result);

}  // namespace shoal::internal
