// SPMDFullToShardShape and similar calls. After partitioning, they forward their operand. Before, each device has the
// whole array outside of a manual region and its own part inside; at the end of a region, the devices join the parts.
#include <algorithm>

#include "analyze/facts/manual_regions.h"
#include "analyze/facts/shardy.h"
#include "core/ops/control_flow.h"
#include "execute/collectives/exchange.h"
#include "execute/data/shards.h"
#include "execute/interp/control/device_collective.h"
#include "execute/interp/custom_calls/custom_call.h"

namespace shoal::internal {
namespace {

std::string_view Target(const Instruction& hlo) { return hlo[Op<Opcode::kCustomCall>::kTarget]; }

// The division of operand and result i, from Shardy's attributes, or else from the sharding of the global value.
std::optional<ShardGrid> GridOf(const Call& call, const std::vector<Sharding>& manual, size_t i) {
  const int rank = call.hlo.operand_shape(i).rank();
  const int64_t partitions = call.device.grid().partitions;
  if (!manual.empty()) return i < manual.size() ? ShardGridOf(manual[i], rank, partitions) : std::nullopt;
  const Instruction& whole = IsGlobalToLocal(call.hlo) ? *call.hlo.operands[i] : call.hlo;
  const Sharding* sharding = LeafSharding(whole[kSharding], IsGlobalToLocal(call.hlo) ? 0 : static_cast<int64_t>(i));
  return sharding == nullptr ? std::nullopt : ShardGridOf(*sharding, rank, partitions);
}

Result<std::vector<ShardGrid>> Grids(const Call& call) {
  const std::vector<Sharding> manual = ManualShardings(call.device.plans().module(), call.hlo);
  const std::vector<const Shape*> results = ReshardResults(call.hlo);
  std::vector<ShardGrid> grids;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const bool arrays = results.size() == call.operands.size() && call.operands[i].IsArray() && results[i]->IsArray() &&
                        results[i]->rank() == call.array(i).rank();
    std::optional<ShardGrid> grid = arrays ? GridOf(call, manual, i) : std::nullopt;
    if (grid) {
      const bool is_global_to_local = IsGlobalToLocal(call.hlo);
      const Ints whole = is_global_to_local ? call.array(i).dims() : results[i]->dims();
      const Dims part = ShardDims(*grid, whole);
      const Ints expected = is_global_to_local ? results[i]->dims() : call.array(i).dims();
      if (!std::equal(part.begin(), part.end(), expected.begin(), expected.end())) grid.reset();
    }
    if (!grid)
      return ExecutionError(call.hlo, StrCat("\"", Target(call.hlo), "\" converts between global and per-device shapes",
                                             ", but no sharding divides operand ", i, " among ",
                                             call.device.grid().partitions, " partitions"));
    grids.push_back(std::move(*grid));
  }
  return grids;
}

// The first partition that holds the same box as `partition`.
size_t FirstHolder(const ShardGrid& grid, size_t partition) {
  const auto& positions = grid.positions;
  return static_cast<size_t>(std::find(positions.begin(), positions.end(), positions[partition]) - positions.begin());
}

bool IsContributedByOthers(const ShardGrid& grid, size_t source) {
  return !grid.replicated() && FirstHolder(grid, source) == source;
}

// A part that another member needs is sent to all members. All other parts stay local.
PartRules JoinRules(std::vector<ShardGrid> grids, Combine join) {
  PartRules rules;
  rules.split = [grids](size_t source, const Arrays& contribution, PartRules::Targets targets) -> Result<Arrays> {
    const bool is_local = std::find(targets.begin(), targets.end(), source) != targets.end();
    Arrays parts;
    for (size_t i = 0; i < grids.size(); ++i)
      parts.push_back(is_local || IsContributedByOthers(grids[i], source) ? contribution[i]
                                                                          : Array(contribution[i].type(), Dims{0}));
    return parts;
  };
  rules.join = [grids = std::move(grids), join = std::move(join)](
                   std::vector<Arrays> parts, const std::vector<ArrayTypes>& types,
                   PartRules::Targets targets) -> Result<std::vector<Arrays>> {
    for (size_t member = 0; member < parts.size(); ++member)
      for (size_t i = 0; i < grids.size(); ++i)
        if (!std::ranges::equal(parts[member][i].dims(), types[member][i].dims))
          parts[member][i] = parts[grids[i].replicated() ? targets[0] : FirstHolder(grids[i], member)][i];
    SHOAL_ASSIGN(all_results, join(std::move(parts)));
    std::vector<Arrays> results;
    for (size_t target : targets) results.push_back(std::move(all_results[target]));
    return results;
  };
  return rules;
}

Result<Value> JoinParts(Call& call, std::vector<ShardGrid> grids) {
  Device& device = call.device;
  SHOAL_ASSIGN(groups, device.world().PartitionGroupsOf(call.hlo));
  const Groups::Member member = groups->members[static_cast<size_t>(device.id())];
  auto join = [&hlo = call.hlo, grids](const std::vector<Arrays>& contributions) -> Result<std::vector<Arrays>> {
    std::vector<Arrays> results(contributions.size());
    for (size_t i = 0; i < grids.size(); ++i) {
      Arrays parts;
      for (const Arrays& contribution : contributions) parts.push_back(contribution[i]);
      const Array joined = JoinShards(parts, grids[i], ReshardResults(hlo)[i]->dims());
      // Values annotated as replicated may still differ between devices, so each device keeps its own value.
      for (size_t member = 0; member < results.size(); ++member)
        results[member].push_back(grids[i].replicated() ? parts[member] : joined);
    }
    return results;
  };
  Arrays parts = TakeArrays(call);
  UnchargeFromDevice(parts);
  CollectiveRuntime& world = device.world();
  Rendezvous& rendezvous = *groups->rendezvous[static_cast<size_t>(member.group)];
  Handle handle;
  if (world.LayoutOf(rendezvous) != nullptr) {
    handle = world.Arrive(call.hlo, rendezvous, member.rank, std::move(parts), [&] { return NewPartExchange(JoinRules(grids, join)); });
  } else {
    SHOAL_ASSIGN(arrived, world.Arrive(call.hlo, rendezvous, member.rank, std::move(parts), Combine(join)));
    handle = std::move(arrived);
  }
  SHOAL_ASSIGN(received, device.world().Wait(device.id(), call.hlo, device.control_flow_state(), handle));
  return FromArrays(call.hlo.shape(), std::move(received));
}

}  // namespace

Result<Value> Reshard(Call& call) {
  if (!IsReshardCall(call.hlo)) return PassThrough(call);
  SHOAL_ASSIGN(grids, Grids(call));
  if (grids.empty()) return ExecutionError(call.hlo, "there must be at least one array operand, got none");
  if (!IsGlobalToLocal(call.hlo)) return JoinParts(call, std::move(grids));
  Arrays parts;
  for (size_t i = 0; i < grids.size(); ++i) parts.push_back(ShardOf(call.array(i), grids[i], call.device.partition()));
  return FromArrays(call.hlo.shape(), std::move(parts));
}

}  // namespace shoal::internal
