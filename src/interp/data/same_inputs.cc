#include "interp/data/same_inputs.h"

#include <algorithm>

#include "base/strings.h"

namespace shoal {
namespace {

bool SameDims(Ints a, Ints b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

// A grid over partitions, for every device.
ShardGrid ForAllDevices(const ShardGrid& of_partitions, const DeviceGrid& grid) {
  ShardGrid all{of_partitions.tiles, {}};
  for (int64_t device = 0; device < grid.count(); ++device)
    all.positions.push_back(of_partitions.positions[static_cast<size_t>(grid.PartitionOf(device))]);
  return all;
}

// What the sharding says, if it fits the shapes.
std::optional<ShardGrid> ShardsByAnnotation(const Sharding* sharding, Ints whole, Ints shard, const DeviceGrid& grid) {
  if (sharding == nullptr) return std::nullopt;
  std::optional<ShardGrid> shards = ShardGridOf(*sharding, static_cast<int>(whole.size()), grid.partitions);
  if (!shards || !SameDims(AsInts(ShardDims(*shards, whole)), shard)) return std::nullopt;
  return ForAllDevices(*shards, grid);
}

}  // namespace

Result<std::optional<Partitioning>> PartitioningOf(const Module& whole, const RunPart& parts) {
  const std::vector<Leaf> leaves = ParameterLeaves(whole), part_leaves = ParameterLeaves(parts.module);
  if (leaves.size() != part_leaves.size())
    return Fail(
        {}, "compare.C1",
        StrCat("the modules must take the same number of arrays, got ", leaves.size(), " and ", part_leaves.size()));
  Partitioning partitioning;
  bool any = false;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Leaf& leaf = part_leaves[i];
    const Shape &a = *leaves[i].shape, &b = *leaf.shape;
    if (a.element_type() != b.element_type())
      return Fail(
          leaf.hlo->at, "compare.C2",
          StrCat(DescribeInput(leaf), " is ", ToString(b), " in the one module, ", ToString(a), " in the other"));
    any = any || !SameDims(a.dims(), b.dims());
    std::optional<ShardGrid> shards = ShardsByAnnotation(leaf.sharding, a.dims(), b.dims(), parts.grid);
    if (!shards) shards = ShardsByAnnotation(leaves[i].sharding, a.dims(), b.dims(), parts.grid);
    if (!shards) {
      const std::vector<ShardGrid> possible = PossibleShards(a.dims(), b.dims(), parts.grid.count());
      if (possible.empty())
        return Fail(leaf.hlo->at, "compare.C3",
                    StrCat(DescribeInput(leaf), " is ", ToString(b), " on each of ", parts.grid.count(),
                           " devices, which is no shard of the other module's ", ToString(a)));
      shards = possible[0];
      if (possible.size() > 1)
        partitioning.notes.push_back(StrCat(DescribeInput(leaf), " has no sharding that fits: taken as ",
                                            DescribeShards(*shards), " in the order of the devices"));
    }
    partitioning.parameters.push_back(std::move(*shards));
  }
  if (!any) return std::optional<Partitioning>();
  return std::optional(std::move(partitioning));
}

Arguments SplitArguments(const std::vector<Value>& whole, const Module& module, const DeviceGrid& grid,
                         const Partitioning& partitioning) {
  std::vector<Value> leaves;
  for (const Value& argument : whole) AppendLeaves(argument, leaves);
  std::vector<std::vector<Value>> values(static_cast<size_t>(grid.count()));
  for (size_t i = 0; i < leaves.size(); ++i)
    for (int64_t device = 0; device < grid.count(); ++device)
      values[static_cast<size_t>(device)].push_back(
          leaves[i].IsArray() ? Value(ShardOf(leaves[i].array(), partitioning.parameters[i], device)) : leaves[i]);
  return ArgumentsFromLeaves(module, values);
}

Result<Joined> JoinOutput(const Leaf& leaf, std::span<const Array> shards, const Array& expected,
                          const DeviceGrid& grid, const ErrorBounds& bounds) {
  const Ints whole = expected.dims(), shard = shards[0].dims();
  if (std::optional<ShardGrid> given = ShardsByAnnotation(leaf.sharding, whole, shard, grid))
    return Joined{JoinShards(shards, *given, whole), given->replicated() ? "" : DescribeShards(*given)};
  std::vector<ShardGrid> possible = PossibleShards(whole, shard, grid.count());
  if (possible.empty())
    return Fail({}, "compare.C4",
                StrCat("output ", leaf.number, " is ", ToString(shards[0]), " on each of ", grid.count(),
                       " devices, which is no shard of the other module's ", ToString(expected)));
  std::vector<ShardGrid> consistent;
  for (ShardGrid& one : possible)
    if (Consistent(one, shards)) consistent.push_back(std::move(one));
  if (consistent.empty())
    return Fail({}, "compare.C5",
                StrCat("output ", leaf.number, ": its ", grid.count(),
                       " parts fit together in no order, because more "
                       "of them differ than ",
                       ToString(expected), " has places for"));
  // Of several orders the one with the smallest difference counts: a program is not wrong because it numbers its
  // devices in another way than we would.
  size_t best = 0;
  Difference least;
  for (size_t i = 0; i < consistent.size(); ++i) {
    Difference difference = CompareArrays(expected, JoinShards(shards, consistent[i], whole), bounds);
    if (i == 0 || difference.max_abs < least.max_abs) {
      best = i;
      least = difference;
    }
    if (least.beyond == 0) break;
  }
  std::string note;
  if (!consistent[best].replicated())
    note = StrCat(DescribeShards(consistent[best]), ", by its shape",
                  consistent.size() > 1 ? " and the order of devices that fits best" : "");
  return Joined{JoinShards(shards, consistent[best], whole), note};
}

void KeepWorst(const Array& a, const Array& b, int64_t device, const ErrorBounds& bounds, OutputComparison& worst) {
  const Difference difference = CompareArrays(a, b, bounds);
  if (device > 0 &&
      std::pair(difference.beyond, difference.max_abs) <= std::pair(worst.difference.beyond, worst.difference.max_abs))
    return;
  worst.a = a;
  worst.b = b;
  worst.device = device;
  worst.difference = difference;
}

Result<std::vector<OutputComparison>> CompareResults(const Module& whole, const std::vector<Value>& whole_results,
                                                     const RunPart& parts, const std::vector<Value>& part_results,
                                                     const ErrorBounds& bounds) {
  const std::vector<Leaf> leaves = ResultLeaves(whole), part_leaves = ResultLeaves(parts.module);
  if (leaves.size() != part_leaves.size())
    return Fail(
        {}, "compare.C1",
        StrCat("the modules must give the same number of arrays, got ", leaves.size(), " and ", part_leaves.size()));
  std::vector<std::vector<Value>> a, b;
  for (const Value& result : whole_results) AppendLeaves(result, a.emplace_back());
  for (const Value& result : part_results) AppendLeaves(result, b.emplace_back());
  std::vector<OutputComparison> outputs;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!a[0][i].IsArray() || !b[0][i].IsArray()) continue;
    OutputComparison worst{leaves[i].number, {}, {}, 0, "", {}};
    if (b.size() > 1 && !SameDims(a[0][i].array().dims(), b[0][i].array().dims())) {
      std::vector<Array> shards;
      for (const auto& of_device : b) shards.push_back(of_device[i].array());
      worst.a = a[0][i].array();
      SHOAL_ASSIGN(joined, JoinOutput(part_leaves[i], shards, worst.a, parts.grid, bounds));
      worst.b = joined.array;
      worst.note = joined.note;
      worst.difference = CompareArrays(worst.a, worst.b, bounds);
      outputs.push_back(std::move(worst));
      continue;
    }
    for (size_t device = 0; device < b.size(); ++device) {
      const Array &x = a[a.size() == 1 ? 0 : device][i].array(), &y = b[device][i].array();
      if (!SameDims(x.dims(), y.dims()))
        return Fail({}, "compare.C4",
                    StrCat("output ", leaves[i].number, " is ", ToString(x), " in the one module, ", ToString(y),
                           " in the other"));
      KeepWorst(x, y, static_cast<int64_t>(device), bounds, worst);
    }
    outputs.push_back(std::move(worst));
  }
  return outputs;
}

}  // namespace shoal
