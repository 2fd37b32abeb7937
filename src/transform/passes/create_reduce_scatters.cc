#include <algorithm>

#include "analyze/facts/known_values.h"
#include "core/ir/rewrite.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMaxDevices = 1 << 16;  // the shard is evaluated separately for each device

using UserLists = absl::flat_hash_map<const Instruction*, std::vector<Instruction*>>;

UserLists UsersIn(const Computation& computation) {
  UserLists users;
  for (Instruction* hlo : computation.instructions)
    for (const Instruction* operand : hlo->operands) users[operand].push_back(hlo);
  return users;
}

// If the slice divides only one dimension, by the number of shards, returns that dimension; else nullopt.
std::optional<int64_t> ShardedDimension(const Instruction& slice, const Shape& full, int64_t shards) {
  const Shape& shard = slice.shape();
  std::optional<int64_t> found;
  for (int64_t d = 0; d < full.rank(); ++d) {
    if (shard.dim(d) == full.dim(d)) continue;
    if (found || full.dim(d) % shards != 0 || shard.dim(d) != full.dim(d) / shards) return std::nullopt;
    found = d;
  }
  return found;
}

// True if each member of each group keeps the shard that it would receive from a reduce-scatter.
bool KeepsOwnShard(const Instruction& slice, int64_t dimension, const std::vector<DeviceGroup>& groups,
                   const DeviceGrid& grid, const CallGraph& calls) {
  const int64_t size = slice.shape().dim(dimension);
  for (const DeviceGroup& group : groups)
    for (size_t i = 0; i < group.size(); ++i) {
      KnownValues known(calls, DeviceIds{grid.ReplicaOf(group[i]), grid.PartitionOf(group[i])});
      for (int64_t d = 0; d < slice.shape().rank(); ++d) {
        const int64_t expected = d == dimension ? static_cast<int64_t>(i) * size : 0;
        if (known.IntegerAt({slice.operands[static_cast<size_t>(d) + 1], {}}) != expected) return false;
      }
    }
  return true;
}

// Returns the dimension along which all users of an all-reduce keep only the device's own shard, or nullopt.
std::optional<int64_t> ScatteredDimension(const Instruction& reduce, const std::vector<Instruction*>& users,
                                          const DeviceGrid& grid, const CallGraph& calls) {
  if (users.empty() || reduce.operand_count() != 1 || !reduce.shape().IsArray()) return std::nullopt;
  if (grid.count() > kMaxDevices) return std::nullopt;
  Result<std::vector<DeviceGroup>> groups = DeviceGroupsOf(reduce, grid);
  if (!groups.ok() || groups->empty()) return std::nullopt;
  const size_t members = groups->front().size();
  if (members < 2 || std::any_of(groups->begin(), groups->end(), [&](const auto& g) { return g.size() != members; }))
    return std::nullopt;
  std::optional<int64_t> dimension;
  for (const Instruction* user : users) {
    if (!IsDynamicSlice(*user) || user->operands[0] != &reduce) return std::nullopt;
    if (user->operand_count() != static_cast<size_t>(reduce.shape().rank()) + 1) return std::nullopt;
    const auto d = ShardedDimension(*user, reduce.shape(), static_cast<int64_t>(members));
    if (!d || (dimension && *dimension != *d) || !KeepsOwnShard(*user, *d, *groups, grid, calls)) return std::nullopt;
    dimension = d;
  }
  return dimension;
}

Instruction* ReduceScatterFor(const Instruction& reduce, const Instruction& slice, int64_t dimension, Module& module) {
  Instruction* scatter = CopyInstruction(module, *reduce.parent, reduce, reduce.operands);
  scatter->opcode = ScatteringKind(reduce.opcode);
  scatter->name = slice.name;
  scatter->name_at = slice.name_at;
  scatter->shape_ = slice.shape_;
  std::span<int64_t> dims = module.arena.NewSpan<int64_t>(1);
  dims[0] = dimension;
  SetAttr(*scatter, module, kDimensions, Ints(dims));
  return scatter;
}

}  // namespace

Result<bool> CreateReduceScatters(Module& module, const PassContext& context) {
  const DeviceGrid grid = context.GridOf(module);
  const CallGraph calls(module);
  bool any = false;
  for (Computation* computation : module.computations) {
    UserLists users;
    Replacements replacements;
    const std::vector<Instruction*> before = computation->instructions;
    for (Instruction* hlo : before) {
      if (!IsAllReduceKind(hlo->opcode) || hlo == computation->root) continue;
      if (users.empty()) users = UsersIn(*computation);
      const auto dimension = ScatteredDimension(*hlo, users[hlo], grid, calls);
      if (!dimension) continue;
      Instruction* scatter = ReduceScatterFor(*hlo, *users[hlo].front(), *dimension, module);
      for (Instruction* slice : users[hlo]) replacements[slice] = scatter;
      replacements[hlo] = scatter;  // the all-reduce itself is then unused
    }
    if (replacements.empty()) continue;
    any = true;
    ApplyReplacements(replacements, module, *computation);
  }
  return any;
}

}  // namespace shoal::internal
