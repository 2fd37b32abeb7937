// The collectives of a module: each logical one once, whatever its form (sync, start and done, wrapped in an async
// computation, spread over the fusions of a TPU).
#pragma once

#include "analyze/facts/async_regions.h"
#include "analyze/facts/device_mesh.h"
#include "analyze/facts/execution_counts.h"
#include "analyze/facts/participants.h"
#include "analyze/facts/wire_bytes.h"

namespace shoal::internal {

struct LogicalCollective {
  const Instruction* hlo = nullptr;    // the collective itself, also where it stands in a wrapper or fusion
  Opcode kind{};                       // of its sync form: kAllReduce for all-reduce-start
  const Instruction* start = nullptr;  // where it begins: itself, its start, the async-start, the fusion
  const Instruction* done = nullptr;   // where it ends; the same as start when it is sync
  double times = 1;                    // it runs per step
  int64_t payload_bytes = 0;           // of the operands of one device, each time
  const Participants* participants = nullptr;   // whom

  bool async() const { return start != done; }
  const std::vector<DeviceGroup>& groups() const { return participants->groups; }
  const std::vector<DevicePair>& pairs() const { return participants->pairs; }
  // "data=8"; of a permute also how it moves: "data=8, ring"
  std::string axis() const { return participants->pattern.empty() ? participants->axis : participants->axis + ", " + participants->pattern; }

  // What the runtime counts on a device each time it runs.
  Traffic TrafficOn(int64_t device) const;
  int64_t WireBytes(int64_t device) const { return TrafficOn(device).wire_bytes; }
  // The same on a ring.
  int64_t RingBytes(int64_t device) const;
  // Of the device that receives most, the direct way and on a ring.
  int64_t MostWireBytes() const;
  int64_t MostRingBytes() const;
};

struct ModuleCollectives {
  std::vector<LogicalCollective> all;       // in the order of execution, computation by computation
  ParticipantTable memberships;               // that the uses share
  std::optional<DeviceMesh> mesh;        // that their groups show
  std::vector<std::string> assumptions;  // one sentence each
};

// Transfers to and from the host are left out; a send and the recv it meets count as one, where the send is.
ModuleCollectives CollectivesOf(const Module& module, const ExecutionCounts& executions, const DeviceGrid& grid);

// all-reduce, all-reduce-start, send, …: an op that makes devices talk, done ones aside.
bool IsCommunication(const Instruction& hlo);

}  // namespace shoal::internal
