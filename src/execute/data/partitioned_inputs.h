// Two modules made to run on the same inputs, so that their results can be compared: either both as they are, or one
// whole and the other cut into partitions.
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

// How the leaves of the parameters of the one are cut to give those of the other.
struct Partitioning {
  bool divided = false;  // false: all parameters have the same shapes
  std::vector<ShardGrid> parameters;
  std::vector<std::optional<ShardGrid>> known;  // the same, where a sharding says so
  std::vector<std::string> notes;  // what was not said and had to be guessed, one sentence each
};

// Fails if the parameters cannot be shards of the whole module's.
Result<Partitioning> PartitioningOf(const Module& whole, const ModuleOnDevices& parts);

// What each device of the partitioned module gets of the whole module's arguments; where a placement is given, nothing
// for the devices of other processes.
Arguments SplitArguments(const std::vector<Value>& whole, const ModuleOnDevices& parts, const Partitioning& partitioning,
                         const Placement* placement = nullptr);

// The same arrays for the parameters of the other module, which may group them otherwise in tuples. What is there for one
// device alone all of them get.
Arguments RegroupArguments(const Arguments& whole, const ModuleOnDevices& parts);

// One of the results of both modules. Of several devices that have the whole of it, the one that differs most counts.
struct OutputComparison {
  int64_t number = 0;
  Array a, b;
  int64_t device = 0;  // that has `b`, where it was not put together from several
  std::string note;    // how it was
  Difference difference;
};
// One comparison of two arrays for each device, of which `worst` keeps the worst.
void TrackWorst(const Array& a, const Array& b, int64_t device, const ErrorBounds& bounds, OutputComparison& worst);
// `whole` has its results on one device, or on as many as the other. Shards are put together as OutputShards says; where
// several devices hold the same shard, each of them is compared.
Result<std::vector<OutputComparison>> CompareResults(const Module& whole, const std::vector<Value>& whole_results,
                                                     const ModuleOnDevices& parts, const std::vector<Value>& part_results,
                                                     const Partitioning& partitioning, const ErrorBounds& bounds);
// Compares the outputs of a run with a recorded result, within the default bounds; fails if that has no leaf of the same dimensions.
Result<std::vector<OutputComparison>> CompareWithLiteral(const Literal& recorded, std::span<const Output> outputs);

}  // namespace shoal::internal
