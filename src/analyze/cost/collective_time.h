// The predicted time of a collective, from measured curves if available, else from a model of NCCL or of a torus.
#pragma once

#include "analyze/cost/machine.h"
#include "analyze/facts/logical_collective.h"

namespace shoal::internal {

// The extent of a group of devices over the nodes and torus axes of a machine.
struct GroupTopology {
  int64_t members = 1, per_node = 1, nodes = 1;
  std::vector<int64_t> torus;  // extent of the group along each axis of a torus
  int64_t hops = 1;            // for a permute on a torus: the longest path
  bool permutes = false;       // source-target pairs instead of a group
};
// The topology of the group, or of the pairs, of a collective. `scale_out` is the factor by which the machine has more
// devices than the module; groups that span nodes grow by it.
GroupTopology GroupTopologyOf(const Participants& participants, const Machine& machine, double scale_out);

enum class Fabric : uint8_t { kNode, kNetwork };

struct CollectiveTiming {
  double seconds = 0;
  double latency = 0;     // the part that does not depend on bandwidth
  std::string algorithm;  // "ring, Simple", "measured on 8 devices", "torus, 2 axes"
  Fabric fabric = Fabric::kNode;
};

// `kind` is the synchronous opcode; `bytes` is the size of the result, for reduce-scatter and permutes of the operand.
CollectiveTiming CollectiveTime(Opcode kind, double bytes, const GroupTopology& topology, const Machine& machine);

// The `bytes` argument of CollectiveTime for a collective with this payload on each device.
double BytesForTiming(Opcode kind, double payload, int64_t members);

}  // namespace shoal::internal
