// Replica groups and source-target pairs name each device once.
#include "core/ops/collective.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/traits.h"
#include "core/verify/checks.h"
#include "core/verify/mesh.h"

namespace shoal::internal {
namespace {

std::string_view IdsOf(GroupMode mode) {
  if (mode == GroupMode::kCrossPartition) return "partition";
  return mode == GroupMode::kFlattenedId ? "device" : "replica";
}

// Number of ids; no value if the module does not declare it. A count of 1 is the default, so it declares nothing:
// modules for several devices may leave it unset.
std::optional<int64_t> IdCount(const Module& module, GroupMode mode) {
  int64_t count = mode == GroupMode::kCrossPartition ? module.num_partitions : module.replica_count;
  if (mode == GroupMode::kFlattenedId && __builtin_mul_overflow(count, module.num_partitions, &count)) return {};
  return count > 1 ? std::optional(count) : std::nullopt;
}

class GroupCheck {
 public:
  GroupCheck(const Instruction& hlo, const GroupRules& op, GroupMode mode, VerifierContext& context)
      : hlo_(hlo), op_(op), mode_(mode), context_(context), count_(IdCount(context.module(), mode)) {}

  void Check(const ReplicaGroups& groups) {
    if (groups.empty()) {
      if (mode_ == GroupMode::kFlattenedId)
        Add("groups.C1", "replica_groups must not be empty with use_global_device_ids=true, got {}");
      return;
    }
    if (const auto* lists = std::get_if<ReplicaGroups::Lists>(&groups.rep)) return CheckLists(*lists);
    if (const auto* iota = std::get_if<IotaTiles>(&groups.rep)) {
      int64_t named = 1;
      for (int64_t size : iota->dims) named *= size;
      return CheckCount(named);
    }
    const auto& axes = std::get<ReplicaGroups::MeshAxes>(groups.rep);
    std::string problem = CheckMesh(axes.mesh);
    if (problem.empty()) problem = CheckAxes(axes.axes, axes.mesh);
    if (!problem.empty()) return Add("groups.C7", std::move(problem));
    CheckCount(axes.mesh.devices.DeviceCount());
  }

 private:
  void Add(std::string_view rule, std::string message, Site site = Site::Here()) {
    context_.Add(hlo_, rule, std::move(message), site);
  }

  void CheckLists(const ReplicaGroups::Lists& lists) {
    for (size_t i = 0, start = 0; i < lists.ends.size(); start = lists.ends[i++])
      if (lists.ends[i] == start)
        return Add("groups.C2", StrCat("a replica group must not be empty, got {} at index ", i));
    // If the module does not declare the number of ids, groups that must name all ids imply it.
    const int64_t named = std::ssize(lists.ids);
    const int64_t limit = count_ ? *count_ : op_.all ? named : INT64_MAX;
    for (int64_t id : lists.ids)
      if (id < 0 || id >= limit)
        return Add("groups.C3", StrCat(IdsOf(mode_), " ids in replica_groups must lie in [0, ", limit, "), got ", id));
    if (std::optional<int64_t> id = FirstRepeated(lists.ids))
      return Add("groups.C4", StrCat("each ", IdsOf(mode_), " must be in one replica group, got ", *id, " twice"));
    CheckCount(named);
    if (!op_.uniform) return;
    for (size_t i = 1; i < lists.ends.size(); ++i)
      if (lists.ends[i] - lists.ends[i - 1] != lists.ends[0])
        return Add("groups.C6", StrCat("replica groups must have equal sizes, got ", lists.ends[0], " and ",
                                       lists.ends[i] - lists.ends[i - 1]));
  }

  void CheckCount(int64_t named) {
    if (!count_ || named == *count_ || (!op_.all && named < *count_)) return;
    Add("groups.C5",
        StrCat("replica_groups must name all ", *count_, " ", IdsOf(mode_), "s of the module, got ", named));
  }

  const Instruction& hlo_;
  const GroupRules& op_;
  const GroupMode mode_;
  VerifierContext& context_;
  const std::optional<int64_t> count_;
};

// Size of the gathered (or scattered) dimension divided by the size of one device's part. No value if the shapes do not
// determine it.
std::optional<int64_t> ShardCount(const Instruction& hlo) {
  const bool scatters = DimensionEffectOf(hlo) == DimensionEffect::kScatters;
  if (hlo.operands.empty() || hlo[kDimensions].size() != 1) return {};
  const Shape* result = &ResultShape(hlo);
  if (result != nullptr && result->IsTuple()) result = result->At(ShapeIndex{0});
  const Shape& operand = hlo.operand_shape(0);
  const int64_t dim = hlo[kDimensions][0];
  if (result == nullptr || dim < 0 || dim >= result->rank() || dim >= operand.rank()) return {};
  const int64_t whole = scatters ? operand.dim(dim) : result->dim(dim);
  const int64_t part = scatters ? result->dim(dim) : operand.dim(dim);
  if (whole < 0 || part <= 0) return {};
  return whole / part + (whole % part != 0 ? 1 : 0);
}

// Number of devices in a group if the module determines it, because the op has no groups or because all partitions of
// the replicas in its groups participate; else no value.
std::optional<int64_t> GroupSizeByModule(const Instruction& hlo, const Module& module, GroupMode mode) {
  const std::optional<int64_t> ids = IdsPerGroup(hlo);
  const bool all_partitions = mode == GroupMode::kCrossReplicaAndPartition;
  if (ids && !all_partitions) return {};
  int64_t size = ids ? *ids : mode == GroupMode::kCrossPartition ? module.num_partitions : module.replica_count;
  if (all_partitions && __builtin_mul_overflow(size, module.num_partitions, &size)) return {};
  return size > 1 ? std::optional(size) : std::nullopt;
}

// Rules C8 and C9.
void CheckSplit(const Instruction& hlo, GroupMode mode, VerifierContext& context) {
  const DimensionEffect effect = DimensionEffectOf(hlo);
  const std::optional<int64_t> size = GroupSizeByModule(hlo, context.module(), mode);
  if (!size) return;
  if (effect == DimensionEffect::kGathers || effect == DimensionEffect::kScatters) {
    const std::optional<int64_t> shards = ShardCount(hlo);
    if (shards && *shards != *size)
      context.Add(hlo, "groups.C8",
                  StrCat("with groups of ", *size, " devices, dimension ", hlo[kDimensions][0],
                         " must change by a factor of ", *size, ", got ", *shards));
  }
  if (effect != DimensionEffect::kExchanges || hlo.operands.empty() || !hlo.operand_shape(0).IsArray()) return;
  const bool divides = hlo[kDimensions].size() == 1;
  const Shape& operand = hlo.operand_shape(0);
  int64_t parts = std::ssize(hlo.operands);
  if (divides) {
    const int64_t dim = hlo[kDimensions][0];
    if (dim < 0 || dim >= operand.rank() || operand.dim(dim) < 0) return;
    parts = operand.dim(dim);
  }
  if (divides ? parts % *size != 0 : parts != *size)
    context.Add(hlo, "groups.C9",
                StrCat(divides ? StrCat("the size of dimension ", hlo[kDimensions][0], " must be a multiple of")
                               : std::string("the number of operands must equal"),
                       " the group size ", *size, ", got ", parts));
}

// Rule C10.
void CheckPairs(const Instruction& hlo, GroupMode mode, VerifierContext& context) {
  const std::optional<int64_t> count = IdCount(context.module(), mode);
  if (!count) return;
  for (Ints pair : hlo[kSourceTargetPairs])
    for (int64_t id : pair)
      if (id >= *count)
        return context.Add(
            hlo, "groups.C10",
            StrCat(IdsOf(mode), " ids in source_target_pairs must lie in [0, ", *count, "), got ", id));
}

}  // namespace

void CheckGroups(VerifierContext& context) {
  ForEachInstruction(context, [&](const Instruction& hlo) {
    const bool permutes = hlo.has(kSourceTargetPairs);
    const std::optional<GroupRules> rules = GroupRulesOf(hlo);
    if (!permutes && !rules) return;
    const Result<GroupMode> mode = GroupModeOf(hlo);
    if (!mode.ok()) return;  // reported by a rule of the op
    if (permutes) return CheckPairs(hlo, *mode, context);
    static const ReplicaGroups kNone;
    const ReplicaGroups* groups = hlo[kReplicaGroups];
    GroupCheck(hlo, *rules, *mode, context).Check(groups == nullptr ? kNone : *groups);
    CheckSplit(hlo, *mode, context);
  });
}

}  // namespace shoal::internal
