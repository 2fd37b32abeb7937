// Prepares two modules to run on equal inputs, and compares their results. Either the modules have equal parameter
// shapes, or one is the whole module and the other its partitioned form.
#pragma once

#include "analyze/facts/infer_devices.h"
#include "execute/data/compare.h"
#include "execute/data/inputs.h"
#include "execute/data/output_shards.h"
#include "execute/data/outputs.h"

namespace shoal::internal {

// A module and the devices on which it runs.
struct ModuleOnDevices {
  const Module& module;
  DeviceGrid grid;
};

// The shards, by leaf, into which the whole module's parameters are split for the partitioned module.
struct Partitioning {
  bool is_split = false;  // false: all parameters have equal shapes
  std::vector<ShardGrid> parameters;
  std::vector<std::optional<ShardGrid>> annotated;  // like `parameters`, but only leaves with a sharding
  std::vector<std::string> notes;                   // one sentence for each assumed sharding
  const Module* shardings = nullptr;                // as in PartitionedPair
};

// Fails if the partitioned module's parameters cannot be shards of the whole module's parameters. The shardings of the
// module `shardings`, if there is one, are used first.
Result<Partitioning> PartitioningOf(const Module& whole, const ModuleOnDevices& parts,
                                    const Module* shardings = nullptr);

// Of two modules to compare, true if A rather than B can be the partitioned form of the other.
bool IsPartitionedForm(const Module& a, const Module& b);

// The partitioning of two modules to compare. A module with full arrays runs on one device, even if its shardings name
// more; this function then changes `whole_devices`. Fails if the modules cannot be compared.
Result<Partitioning> PartitionPair(const Module& whole, InferredGrid& whole_devices, const ModuleOnDevices& parts,
                                   const Module* shardings = nullptr);

// Splits the whole module's arguments into shards for each device of the partitioned module. With a placement, devices
// of other processes have none.
Arguments SplitArguments(const std::vector<Value>& whole, const ModuleOnDevices& parts,
                         const Partitioning& partitioning, const Placement* placement = nullptr);

// Regroups the arguments for the other module, whose parameters may be tuples of the same arrays. If there are
// arguments for only one device, all devices receive them.
Arguments RegroupArguments(const Arguments& whole, const ModuleOnDevices& parts);

// The comparison of one output. If several devices have the whole array, the largest difference is reported.
struct OutputComparison {
  int64_t number = 0;
  Array a, b;
  int64_t device = 0;  // device of `b`; unused if the array was reassembled from several devices
  std::string note;    // describes the reassembly
  Difference difference;
};
// Compares an output on one device; updates `worst` if the difference is larger. Call it for each device in order.
void TrackWorst(const Array& a, const Array& b, int64_t device, const ErrorBounds& bounds, OutputComparison& worst);
// `whole` must have results for one device, or for as many devices as the other module. Reassembles shards according to
// OutputShards. If several devices hold copies of a shard, compares every copy.
Result<std::vector<OutputComparison>> CompareResults(const Module& whole, const std::vector<Value>& whole_results,
                                                     const ModuleOnDevices& parts,
                                                     const std::vector<Value>& part_results,
                                                     const Partitioning& partitioning, const ErrorBounds& bounds);
// Compares the outputs of a run with a recorded result within the default bounds. Fails if the dimensions differ.
Result<std::vector<OutputComparison>> CompareWithLiteral(const Literal& recorded, std::span<const Output> outputs);

}  // namespace shoal::internal
