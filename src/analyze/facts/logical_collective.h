// The logical collectives of a module. Each appears once, in any form: sync, start and done, wrapped in an async
// computation, or split over a TPU's async collective fusions.
#pragma once

#include "analyze/facts/async_regions.h"
#include "analyze/facts/device_mesh.h"
#include "analyze/facts/execution_counts.h"
#include "analyze/facts/participants.h"
#include "analyze/facts/wire_bytes.h"

namespace shoal::internal {

struct LogicalCollective {
  const Instruction* hlo = nullptr;    // the collective itself, even if it is in an async computation or fusion
  Opcode kind{};                       // opcode of the sync form: kAllReduce for all-reduce-start
  const Instruction* start = nullptr;  // the first instruction: `hlo`, the async-start, or the fusion
  const Instruction* done = nullptr;   // the last instruction; equal to `start` if the collective is sync
  double times = 1;                    // executions per step
  int64_t payload_bytes = 0;           // bytes of the operands of one device, per execution
  const Participants* participants = nullptr;

  bool async() const { return start != done; }
  const std::vector<DeviceGroup>& groups() const { return participants->groups; }
  const std::vector<DevicePair>& pairs() const { return participants->pairs; }
  // "data=8"; for a permute with its pattern: "data=8, ring"
  std::string axis() const {
    return participants->pattern.empty() ? participants->axis : participants->axis + ", " + participants->pattern;
  }

  // The traffic that the runtime counts on a device per execution.
  Traffic TrafficOn(int64_t device) const;
  int64_t WireBytes(int64_t device) const { return TrafficOn(device).wire_bytes; }
  // As WireBytes, but on a ring.
  int64_t RingBytes(int64_t device) const;
  // The maximum over all devices, for direct exchange and on a ring.
  int64_t MaxWireBytes() const;
  int64_t MaxRingBytes() const;
};

struct ModuleCollectives {
  std::vector<LogicalCollective> all;    // in execution order, computation by computation
  ParticipantTable participants;          // shared by the collectives
  std::optional<DeviceMesh> mesh;        // recovered from their groups
  std::vector<std::string> assumptions;  // one sentence each
};

// Excludes transfers to and from the host. A send and its matching recv count once, at the send.
ModuleCollectives CollectivesOf(const Module& module, const ExecutionCounts& executions, const DeviceGrid& grid);

// True for ops that communicate between devices, except done ops: all-reduce, all-reduce-start, send, …
bool IsCommunication(const Instruction& hlo);

}  // namespace shoal::internal
