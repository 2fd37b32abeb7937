#include "execute/data/partitioned_inputs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/facts/manual_regions.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "execute/data/error_estimate.h"
#include "execute/data/generate.h"
#include "execute/data/leaves.h"

namespace shoal::internal {

Result<Partitioning> PartitioningOf(const Module& whole, const ModuleOnDevices& parts, const Module* shardings) {
  const std::vector<Leaf> leaves = ParameterLeaves(whole), part_leaves = ParameterLeaves(parts.module);
  const std::vector<Leaf> given = shardings == nullptr ? std::vector<Leaf>() : ParameterLeaves(*shardings);
  if (leaves.size() != part_leaves.size())
    return Fail(
        {}, "compare.C1",
        StrCat("the modules must take the same number of arrays, got ", leaves.size(), " and ", part_leaves.size()));
  Partitioning partitioning;
  partitioning.shardings = shardings;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Leaf& leaf = part_leaves[i];
    const Shape &a = *leaves[i].shape, &b = *leaf.shape;
    if (a.element_type() != b.element_type())
      return Fail(
          leaf.hlo->at, "compare.C2",
          StrCat(DescribeInput(leaf), " is ", ToString(b), " in one module, ", ToString(a), " in the other"));
    partitioning.is_split = partitioning.is_split || !std::ranges::equal(a.dims(), b.dims());
    const Sharding* first = i < given.size() ? given[i].sharding : nullptr;
    std::optional<ShardGrid> shards = ShardsByAnnotation(first, a.dims(), b.dims(), parts.grid);
    if (!shards) shards = ShardsByAnnotation(leaf.sharding, a.dims(), b.dims(), parts.grid);
    if (!shards) shards = ShardsByAnnotation(leaves[i].sharding, a.dims(), b.dims(), parts.grid);
    partitioning.annotated.push_back(shards);
    if (!shards) {
      shards = DefaultShards(a.dims(), b.dims(), parts.grid.count());
      if (!shards)
        return Fail(leaf.hlo->at, "compare.C3",
                    StrCat(DescribeInput(leaf), " is ", ToString(b), " on each of ", parts.grid.count(),
                           " devices, but that is not a shard of the other module's ", ToString(a)));
      if (!shards->replicated())
        partitioning.notes.push_back(StrCat(DescribeInput(leaf), " has no matching sharding; assumed ",
                                            DescribeShards(*shards), ", in device order"));
    }
    partitioning.parameters.push_back(std::move(*shards));
  }
  return partitioning;
}

bool IsPartitionedForm(const Module& a, const Module& b) {
  return ArgumentBytes(a) < ArgumentBytes(b) || (a.num_partitions > 1 && b.num_partitions == 1);
}

Result<Partitioning> PartitionPair(const Module& whole, InferredGrid& whole_devices, const ModuleOnDevices& parts,
                                   const Module* shardings) {
  SHOAL_ASSIGN(partitioning, PartitioningOf(whole, parts, shardings));
  const bool unpartitioned = whole.num_partitions == 1 && whole.replica_count == 1 &&
                             whole_devices.grid.count() != parts.grid.count();
  if ((partitioning.is_split || unpartitioned) && !HasManualRegions(whole))
    whole_devices = {DeviceGrid{}, "1 device, because it is not partitioned"};
  const int64_t count = whole_devices.grid.count();
  if (!partitioning.is_split && count != 1 && count != parts.grid.count())
    return Fail({}, "compare.C6",
                StrCat("the modules run on ", count, " and ", parts.grid.count(),
                       " devices, and neither is a partitioned version of the other"));
  return std::move(partitioning);
}

Arguments SplitArguments(const std::vector<Value>& whole, const ModuleOnDevices& parts,
                         const Partitioning& partitioning, const Placement* placement) {
  std::vector<Value> leaves;
  for (const Value& argument : whole) AppendLeaves(argument, leaves);
  std::vector<std::vector<Value>> values(static_cast<size_t>(parts.grid.count()));
  for (int64_t device = 0; device < parts.grid.count(); ++device) {
    if (placement != nullptr && !placement->IsLocal(device)) continue;
    for (size_t i = 0; i < leaves.size(); ++i)
      values[static_cast<size_t>(device)].push_back(
          leaves[i].IsArray() ? Value(ShardOf(leaves[i].array(), partitioning.parameters[i], device)) : leaves[i]);
  }
  return ArgumentsFromLeaves(parts.module, values);
}

Arguments RegroupArguments(const Arguments& whole, const ModuleOnDevices& parts) {
  std::vector<std::vector<Value>> values(static_cast<size_t>(parts.grid.count()));
  for (size_t device = 0; device < values.size(); ++device)
    for (const Value& argument : whole[whole.size() == 1 ? 0 : device]) AppendLeaves(argument, values[device]);
  return ArgumentsFromLeaves(parts.module, values);
}

void TrackWorst(const Array& a, const Array& b, int64_t device, const ErrorBounds& bounds, OutputComparison& worst) {
  const Difference difference = CompareArrays(a, b, bounds);
  if (device > 0 &&
      std::pair(difference.num_exceeding, difference.max_abs) <= std::pair(worst.difference.num_exceeding, worst.difference.max_abs))
    return;
  worst.a = a;
  worst.b = b;
  worst.device = device;
  worst.difference = difference;
}

namespace {

// Sets of devices that hold each box once: the first holders of all boxes, the second holders, and so on.
std::vector<std::vector<size_t>> CoveringSets(const ShardGrid& grid) {
  std::map<std::vector<int64_t>, std::vector<size_t>> holders;
  for (size_t device = 0; device < grid.positions.size(); ++device)
    holders[{grid.positions[device].begin(), grid.positions[device].end()}].push_back(device);
  size_t max_copies = 0;
  for (const auto& [box, devices] : holders) max_copies = std::max(max_copies, devices.size());
  std::vector<std::vector<size_t>> sets(max_copies);
  for (size_t copy = 0; copy < max_copies; ++copy)
    for (const auto& [box, devices] : holders) sets[copy].push_back(devices[std::min(copy, devices.size() - 1)]);
  return sets;
}

// Compares every array that can be reassembled from the shards, using each copy of a shard.
void CompareShards(std::span<const Array> shards, const ShardGrid& grid, const ErrorBounds& bounds,
                   OutputComparison& worst) {
  const Array expected = worst.a;
  int64_t set_number = 0;
  for (const std::vector<size_t>& devices : CoveringSets(grid)) {
    std::vector<Array> chosen;
    ShardGrid chosen_grid{grid.tiles, {}};
    for (size_t device : devices) {
      chosen.push_back(shards[device]);
      chosen_grid.positions.push_back(grid.positions[device]);
    }
    TrackWorst(expected, JoinShards(chosen, chosen_grid, expected.dims()), set_number++, bounds, worst);
  }
  worst.device = 0;
}

// Compares the reassembled shards. If their order is a guess and they differ, tries the other orders.
void CompareReassembled(std::span<const Array> shards, const InferredShards& inferred, const ErrorBounds& bounds,
                        OutputComparison& worst) {
  OutputComparison first = worst;
  CompareShards(shards, inferred.grid, bounds, first);
  first.note = StrCat(DescribeShards(inferred.grid), ", ", inferred.source);
  if (first.difference.num_exceeding > 0 && inferred.is_guess) {
    for (const ShardGrid& grid : inferred.other_orders) {
      OutputComparison other = worst;
      CompareShards(shards, grid, bounds, other);
      if (other.difference.num_exceeding > 0) continue;
      worst = std::move(other);
      worst.note = StrCat(DescribeShards(grid), ", in another order than that of the devices, the first that agrees; "
                          "no sharding specifies it");
      return;
    }
    StrAppend(&first.note, "; the order is a guess, and ", Setting("shardings_from"), " replaces it");
  }
  worst = std::move(first);
}

}  // namespace

Result<std::vector<OutputComparison>> CompareResults(const Module& whole, const std::vector<Value>& whole_results,
                                                     const ModuleOnDevices& parts,
                                                     const std::vector<Value>& part_results,
                                                     const Partitioning& partitioning, const ErrorBounds& bounds) {
  const std::vector<Leaf> leaves = ResultLeaves(whole), part_leaves = ResultLeaves(parts.module);
  if (leaves.size() != part_leaves.size())
    return Fail(
        {}, "compare.C1",
        StrCat("the modules must return the same number of arrays, got ", leaves.size(), " and ", part_leaves.size()));
  std::vector<std::vector<Value>> a, b;
  for (const Value& result : whole_results) AppendLeaves(result, a.emplace_back());
  for (const Value& result : part_results) AppendLeaves(result, b.emplace_back());
  const PartitionedPair pair{whole, parts.module, parts.grid, partitioning.annotated, partitioning.shardings};
  const std::vector<double> errors = EstimateResultErrors(whole), part_errors = EstimateResultErrors(parts.module);
  std::vector<OutputComparison> outputs;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (i >= a[0].size() || i >= b[0].size())
      return Fail({}, "compare.C1", StrCat("output ", leaves[i].number, " is declared, but was not returned"));
    if (!a[0][i].IsArray() || !b[0][i].IsArray()) continue;
    OutputComparison worst{leaves[i].number, {}, {}, 0, "", {}};
    ErrorBounds own = bounds;
    if (i < errors.size() && i < part_errors.size()) own.expected_error = std::hypot(errors[i], part_errors[i]);
    if (b.size() > 1 && !std::ranges::equal(a[0][i].array().dims(), b[0][i].array().dims())) {
      std::vector<Array> shards;
      for (const auto& of_device : b) shards.push_back(of_device[i].array());
      worst.a = a[0][i].array();
      const std::optional<InferredShards> inferred = OutputShards(pair, i, worst.a.dims(), shards[0].dims());
      if (!inferred)
        return Fail({}, "compare.C4",
                    StrCat("output ", leaves[i].number, " is ", ToString(shards[0]), " on each of ",
                           parts.grid.count(), " devices, but that is not a shard of the other module's ",
                           ToString(worst.a)));
      CompareReassembled(shards, *inferred, own, worst);
      outputs.push_back(std::move(worst));
      continue;
    }
    for (size_t device = 0; device < b.size(); ++device) {
      const Array &x = a[a.size() == 1 ? 0 : device][i].array(), &y = b[device][i].array();
      if (!std::ranges::equal(x.dims(), y.dims()))
        return Fail({}, "compare.C4",
                    StrCat("output ", leaves[i].number, " is ", ToString(x), " in one module, ", ToString(y),
                           " in the other"));
      TrackWorst(x, y, static_cast<int64_t>(device), own, worst);
    }
    outputs.push_back(std::move(worst));
  }
  return outputs;
}

Result<std::vector<OutputComparison>> CompareWithLiteral(const Literal& recorded, std::span<const Output> outputs) {
  std::vector<Value> leaves;
  SHOAL_ASSIGN(result, RecordedValue(recorded));
  AppendLeaves(result, leaves);
  std::vector<OutputComparison> comparisons;
  for (const Output& output : outputs) {
    const auto number = static_cast<size_t>(output.number);
    if (number >= leaves.size() || !leaves[number].IsArray() ||
        !std::ranges::equal(leaves[number].array().dims(), output.array.dims()))
      return Fail(
          {}, "compare.C4",
          StrCat("output ", output.number, " is ", ToString(output.array), "; the snapshot has no such result"));
    OutputComparison comparison{output.number, {}, {}, 0, "", {}};
    TrackWorst(leaves[number].array(), output.array, 0, {}, comparison);
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

}  // namespace shoal::internal
