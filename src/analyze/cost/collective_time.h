// How long a collective takes: measured curves where there are some, else a model of the algorithms and protocols that
// the communication library chooses among, or of the rings of a torus.
#pragma once

#include "analyze/cost/machine.h"
#include "analyze/facts/logical_collective.h"

namespace shoal::internal {

// Where the members of a group are.
struct GroupTopology {
  int64_t members = 1, per_node = 1, nodes = 1;
  std::vector<int64_t> torus;  // how far the group reaches along each axis of a torus
  int64_t hops = 1;            // of a permute on a torus, at most
  bool permutes = false;
};
// The group, or the pairs, of the collective. `stretch`: so many times more devices than the module names take part
// along its outermost axis.
GroupTopology GroupTopologyOf(const Participants& participants, const Machine& machine, double scale_out);

enum class Fabric : uint8_t { kNode, kNetwork };

struct CollectiveTiming {
  double seconds = 0;
  double latency = 0;     // of it, what no bandwidth helps against
  std::string algorithm;  // "ring, Simple", "measured on 8 devices", "torus, 2 axes"
  Fabric fabric = Fabric::kNode;
};

// `kind` is that of the sync op; `bytes` of the result, of reduce-scatter and permutes of the operand.
CollectiveTiming CollectiveTime(Opcode kind, double bytes, const GroupTopology& place, const Machine& machine);

// The bytes CollectiveTime takes, of a collective with this payload on each device.
double BytesForTiming(Opcode kind, double payload, int64_t members);

}  // namespace shoal::internal
