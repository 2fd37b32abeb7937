// Predicts the time of a collective from measured curves if available, else from a model of NCCL or of a torus.
#pragma once

#include "analyze/cost/machine.h"
#include "analyze/facts/logical_collective.h"

namespace shoal::internal {

// The extent of a group of devices over the nodes and torus axes of a machine.
struct GroupTopology {
  int64_t members = 1, per_node = 1, nodes = 1;
  std::vector<int64_t> torus;  // extent of the group along each axis of a torus
  int64_t hops = 1;            // length of the longest path of a permute on a torus
  bool permutes = false;       // true if the collective has source-target pairs instead of groups
};
// Returns the topology of a collective's groups or pairs. Groups that span nodes grow by the factor `scale_out`, the
// ratio of the device count of the machine to that of the module.
GroupTopology GroupTopologyOf(const Participants& participants, const Machine& machine, double scale_out);

enum class Fabric : uint8_t { kNode, kNetwork };

struct CollectiveTiming {
  double seconds = 0;
  double latency = 0;     // the part that does not depend on bandwidth
  std::string algorithm;  // "ring, Simple", "measured on 8 devices", "torus, 2 axes"
  Fabric fabric = Fabric::kNode;
};

// `kind` is the synchronous opcode. `bytes` is the operand size of a reduce-scatter or permute, else the result size.
CollectiveTiming CollectiveTime(Opcode kind, double bytes, const GroupTopology& topology, const Machine& machine);

// Returns the `bytes` argument of CollectiveTime for a collective whose payload on each device is `payload`.
double BytesForTiming(Opcode kind, double payload, int64_t members);

}  // namespace shoal::internal
