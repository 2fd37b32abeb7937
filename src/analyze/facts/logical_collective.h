// The logical collectives of a module. Each collective is listed once, even if it consists of a start and a done, is
// wrapped in an async computation, or is spread over the async collective fusions of a TPU.
#pragma once

#include "analyze/facts/async_regions.h"
#include "analyze/facts/device_mesh.h"
#include "analyze/facts/execution_counts.h"
#include "analyze/facts/participants.h"
#include "analyze/facts/wire_bytes.h"

namespace shoal::internal {

struct LogicalCollective {
  const Instruction* hlo = nullptr;    // the collective op, which may be in an async computation or a fusion
  Opcode kind{};                       // opcode of the sync form, such as kAllReduce for all-reduce-start
  const Instruction* start = nullptr;  // the first instruction: `hlo`, the async-start, or the fusion
  const Instruction* done = nullptr;   // the last instruction; equal to `start` if the collective is sync
  double times = 1;                    // executions per step
  int64_t payload_bytes = 0;           // bytes of one device's operands, per execution
  const Participants* participants = nullptr;

  bool async() const { return start != done; }
  const std::vector<DeviceGroup>& groups() const { return participants->groups; }
  const std::vector<DevicePair>& pairs() const { return participants->pairs; }
  // Returns the mesh axis, such as "data=8". For a permute, also returns the pattern, as in "data=8, ring".
  std::string axis() const {
    return participants->pattern.empty() ? participants->axis : participants->axis + ", " + participants->pattern;
  }

  // The traffic that the runtime counts on a device per execution.
  Traffic TrafficOn(int64_t device) const;
  int64_t WireBytes(int64_t device) const { return TrafficOn(device).wire_bytes; }
  // Like WireBytes, but for a ring algorithm.
  int64_t RingBytes(int64_t device) const;
  // The maximum of WireBytes and of RingBytes over all devices.
  int64_t MaxWireBytes() const;
  int64_t MaxRingBytes() const;
};

struct ModuleCollectives {
  std::vector<LogicalCollective> all;    // grouped by computation, and in execution order within a computation
  ParticipantTable participants;         // all collectives point into this table
  std::optional<DeviceMesh> mesh;        // recovered from the groups of the collectives
  std::vector<std::string> assumptions;  // each assumption is one sentence
};

// Excludes transfers to and from the host. A send and its matching recv count once, at the send.
ModuleCollectives CollectivesOf(const Module& module, const ExecutionCounts& executions, const DeviceGrid& grid);

// True for ops that communicate between devices, such as all-reduce, all-reduce-start and send. False for done ops.
bool IsCommunication(const Instruction& hlo);

}  // namespace shoal::internal
