// Prepares two modules to run on equal inputs, and compares their results. Either both have equal parameter shapes, or
// one is the whole module and the other its partitioned form.
#pragma once

#include "execute/data/compare.h"
#include "execute/data/inputs.h"
#include "execute/data/output_shards.h"
#include "execute/data/outputs.h"

namespace shoal::internal {

// A module and the devices it runs on.
struct ModuleOnDevices {
  const Module& module;
  DeviceGrid grid;
};

// The shards of the whole module's parameters that the partitioned module takes, by leaf.
struct Partitioning {
  bool is_split = false;  // false: all parameters have equal shapes
  std::vector<ShardGrid> parameters;
  std::vector<std::optional<ShardGrid>> annotated;  // as `parameters`, but only those with a sharding
  std::vector<std::string> notes;                   // one sentence for each assumed sharding
};

// Fails if the parameters cannot be shards of the whole module's.
Result<Partitioning> PartitioningOf(const Module& whole, const ModuleOnDevices& parts);

// The shards of the whole module's arguments for each device of the partitioned module; with a placement, empty for
// devices of other processes.
Arguments SplitArguments(const std::vector<Value>& whole, const ModuleOnDevices& parts,
                         const Partitioning& partitioning, const Placement* placement = nullptr);

// Regroups the arguments for the other module, whose parameters may be tuples of the same arrays. The arguments of a
// single device are passed to all devices.
Arguments RegroupArguments(const Arguments& whole, const ModuleOnDevices& parts);

// The comparison of one output. If several devices have the whole array, the one with the largest difference counts.
struct OutputComparison {
  int64_t number = 0;
  Array a, b;
  int64_t device = 0;  // the device of `b`, unless it was reassembled from several
  std::string note;    // describes the reassembly
  Difference difference;
};
// Compares the arrays of one device; updates `worst` if they differ more. Call it for each device in order.
void TrackWorst(const Array& a, const Array& b, int64_t device, const ErrorBounds& bounds, OutputComparison& worst);
// `whole` has results for one device, or for as many as the other module. Shards are reassembled according to
// OutputShards. If several devices hold copies of a shard, every copy is compared.
Result<std::vector<OutputComparison>> CompareResults(const Module& whole, const std::vector<Value>& whole_results,
                                                     const ModuleOnDevices& parts,
                                                     const std::vector<Value>& part_results,
                                                     const Partitioning& partitioning, const ErrorBounds& bounds);
// Compares the outputs of a run with a recorded result, within the default bounds. Fails if dimensions differ.
Result<std::vector<OutputComparison>> CompareWithLiteral(const Literal& recorded, std::span<const Output> outputs);

}  // namespace shoal::internal
