// Collectives, seen from one device. Each begins: the device arrives and may go on; and ends: it waits for the result.
// The plain form of an op is both at once, a start begins and a done ends. What is begun travels as a Value.
#pragma once

#include <variant>

#include "analyze/facts/chain.h"
#include "core/ops/traits.h"
#include "execute/collectives/exchange.h"
#include "execute/collectives/roots.h"
#include "execute/interp/device.h"

namespace shoal::internal {

// A collective between its beginning and its end.
struct Pending {
  std::vector<Handle> handles;
  // The op's value from what each handle gave.
  std::function<Result<Value>(std::vector<Arrays> came)> assemble;
};

// Arrives; call.hlo is the collective or its start. The value is under way.
Result<Value> Begin(Call& call);
// Waits for what Begin gave; `at` is where the device is. A value that is not under way is already what it will be.
Result<Value> End(Device& device, const Instruction& at, Value value);

// Whether the value of this start must have its operands, as its shape says: somebody may look at them.
bool KeepsOperands(const Call& start);
// One array, or a tuple of them, as the shape asks.
Value FromArrays(const Shape& shape, Arrays arrays);
// The operands' arrays, taken from the call.
Arrays TakeArrays(Call& call);
// What is on its way between devices counts for none; World::Wait lets it count where it arrives.
void UnchargeFromDevice(Arrays& arrays);
int64_t TotalBytes(std::span<const Array> arrays);

// Of the device's group; 0 if it is in none.
Result<size_t> MembersOf(const Call& call);
// Whether some of them are in other processes.
bool SpansProcesses(const Call& call);
// How everybody's contributions become everybody's results: all together, or one after the other; and between the
// processes of a job.
struct CombineRule {
  std::variant<Combine, Accumulate> here;
  MakeExchange between;  // keeps what it needs: it may be used after the call
};
// Arrives in the device's group with operands that are all payload.
Result<Value> BeginInGroup(Call& call, Arrays contribution, const CombineRule& together);
// What the device is to receive, as Traffic defines it, as member `position` of n that comes with `payload` bytes.
using WireBytes = std::function<int64_t(int64_t n, int64_t position, int64_t payload)>;
// The same where that does not follow from the payload alone. Of the contribution, `data` arrays are payload; others
// say where it goes.
Result<Value> BeginInGroup(Call& call, Arrays contribution, size_t data, const WireBytes& wire_bytes,
                           const CombineRule& together);

// The beginnings, by family.
Result<Value> BeginAllReduce(Call& call);
Result<Value> BeginReduceScatter(Call& call);
Result<Value> BeginCollectiveReduce(Call& call);
Result<Value> BeginAllGather(Call& call);
Result<Value> BeginAllToAll(Call& call);
Result<Value> BeginRaggedAllToAll(Call& call);
Result<Value> BeginCollectiveBroadcast(Call& call);
Result<Value> BeginCollectivePermute(Call& call);

// The part of an array from `start` on along one dimension.
Array PartOf(const Array& array, int64_t dim, int64_t start, int64_t size);
// The same without a copy where its elements lie side by side; then the array must outlive it.
Array PartOrView(const Array& array, int64_t dim, int64_t start, int64_t size);
Diag DifferentSizes(const Instruction& hlo, const std::string& a, const std::string& b);

// Of a member of a TPU's async collective fusion that repeats what another fusion began: its result; else null.
// (async_collective_fusion.cc)
const Value* ChainedResult(const Call& call);
// Keeps operands and result of a collective that begins such a chain.
void KeepForChain(Device& device, const Instruction& hlo, std::vector<Value> operands, const Value& result);

}  // namespace shoal::internal
