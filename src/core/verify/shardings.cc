// Shardings are valid for their shapes and for the module's devices.
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "core/verify/checks.h"
#include "core/verify/mesh.h"
#include "core/verify/sharding_rules.h"

namespace shoal::internal {
namespace {

using Kind = Sharding::Kind;

std::string Str(const Sharding& sharding) {
  std::string text;
  AppendSharding(text, sharding);
  constexpr size_t kMaxLength = 100;
  if (text.size() > kMaxLength) text = StrCat(text.substr(0, kMaxLength), "…");
  return text;
}

int64_t ShardedRank(const Sharding& sharding) {
  if (sharding.kind == Kind::kNamed) return std::ssize(sharding.dimensions);
  return std::ssize(sharding.tiles.dims) - std::ssize(sharding.last_tile_dims) - (sharding.replicate_last_dim ? 1 : 0);
}

// `devices`: the number of devices; no value if the module does not declare it.
ShardingProblem CheckDevices(Ints ids, std::optional<int64_t> devices) {
  for (int64_t id : ids)
    if (id < 0 || (devices && id >= *devices))
      return {"sharding.C3", devices ? StrCat("sharding must name devices in [0, ", *devices, "), got ", id)
                                     : StrCat("sharding must not name negative devices, got ", id)};
  if (std::optional<int64_t> id = FirstRepeated(ids))
    return {"sharding.C4", StrCat("sharding must assign one tile to each device, got two for device ", *id)};
  return {};
}

ShardingProblem CheckRank(const Sharding& sharding, const Shape& array) {
  if (ShardedRank(sharding) == array.rank()) return {};
  return {"sharding.C2", StrCat("sharding must have an entry for each of the ", array.rank(), " dimensions of ",
                                ToString(array), ", got ", ShardedRank(sharding), " in ", Str(sharding))};
}

ShardingProblem CheckCount(int64_t named, std::optional<int64_t> devices) {
  if (!devices || named == *devices) return {};
  return {"sharding.C5", StrCat("sharding must name all ", *devices, " devices of the module, got ", named)};
}

bool IsAll(const std::vector<AxisRef>& axes, const Mesh& mesh) {
  if (axes.empty() || std::ssize(axes) != mesh.AxisCount()) return false;
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].sub || axes[i].axis != static_cast<int64_t>(i)) return false;
  return true;
}

// True if the sharding is valid for any shape: replicated, manual or unreduced on all devices.
bool SuitsAnyShape(const Sharding& sharding) {
  const Mesh& mesh = *sharding.mesh;
  if (IsAll(sharding.manual_axes, mesh) || IsAll(sharding.unreduced_axes, mesh)) return true;
  auto whole = [&](const Sharding::Dimension& dimension) {
    return std::all_of(dimension.axes.begin(), dimension.axes.end(),
                       [&](const AxisRef& axis) { return axis.Size(mesh) == 1; });
  };
  return std::all_of(sharding.dimensions.begin(), sharding.dimensions.end(), whole) &&
         sharding.unreduced_axes.empty() && sharding.manual_axes.empty();
}

ShardingProblem CheckNamed(const Sharding& sharding, const Shape& array, std::optional<int64_t> devices) {
  if (!sharding.mesh) return {};
  const Mesh& mesh = *sharding.mesh;
  if (mesh.maximal) return CheckDevices(mesh.devices.devices, devices);
  if (std::string problem = CheckMesh(mesh); !problem.empty()) return {"sharding.C6", std::move(problem)};
  std::vector<AxisRef> axes;
  for (const Sharding::Dimension& dimension : sharding.dimensions)
    axes.insert(axes.end(), dimension.axes.begin(), dimension.axes.end());
  for (const auto* more : {&sharding.replicated_axes, &sharding.unreduced_axes, &sharding.manual_axes})
    axes.insert(axes.end(), more->begin(), more->end());
  if (std::string problem = CheckAxes(axes, mesh); !problem.empty()) return {"sharding.C7", std::move(problem)};
  if (SuitsAnyShape(sharding)) return {};
  if (ShardingProblem problem = CheckRank(sharding, array); !problem.rule.empty()) return problem;
  return CheckCount(mesh.devices.DeviceCount(), devices);
}

ShardingProblem CheckArray(const Sharding& sharding, const Shape& array, std::optional<int64_t> devices) {
  if (sharding.kind == Kind::kMaximal) return CheckDevices(sharding.tiles.devices, devices);
  if (sharding.kind == Kind::kNamed) return CheckNamed(sharding, array, devices);
  if (sharding.kind != Kind::kTiled) return {};
  if (ShardingProblem problem = CheckRank(sharding, array); !problem.rule.empty()) return problem;
  if (!sharding.tiles.iota)
    if (ShardingProblem problem = CheckDevices(sharding.tiles.devices, devices); !problem.rule.empty()) return problem;
  return CheckCount(sharding.tiles.DeviceCount(), devices);
}

bool SameDevices(const TileAssignment& a, const TileAssignment& b) {
  if (a == b) return true;
  return a.dims == b.dims && a.DeviceCount() == b.DeviceCount() && a.Devices() == b.Devices();
}

// True if the shardings are equal up to metadata. A sharding by mesh axes is never compared with a sharding by tiles.
bool Equal(const Sharding& a, const Sharding& b) {
  if (a.kind == Kind::kTuple && b.kind == Kind::kTuple)
    return std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(), Equal);
  if ((a.kind == Kind::kNamed) != (b.kind == Kind::kNamed)) return true;
  if (a.kind != b.kind || a.group != b.group || a.group_id != b.group_id || a.reduction != b.reduction) return false;
  if (a.kind == Kind::kNamed)
    return SuitsAnyShape(a) == SuitsAnyShape(b) && a.mesh->maximal == b.mesh->maximal &&
           a.unreduced_axes == b.unreduced_axes && a.manual_axes == b.manual_axes &&
           (SuitsAnyShape(a) || (a.dimensions == b.dimensions && SameDevices(a.mesh->devices, b.mesh->devices)));
  return SameDevices(a.tiles, b.tiles) && a.replicate_last_dim == b.replicate_last_dim &&
         a.last_tile_dims == b.last_tile_dims;
}

// Rule C8: a loop and its state, or a conditional and the results of its branches, have equal shardings.
void CheckConsistent(const Instruction& hlo, VerifierContext& context) {
  std::vector<const Instruction*> parts{&hlo};
  auto add_root = [&](const Computation* computation) {
    if (computation != nullptr) parts.push_back(computation->root);
  };
  auto add_parameter = [&](const Computation* computation) {
    if (computation != nullptr && !computation->parameters.empty()) parts.push_back(computation->parameters[0]);
  };
  if (IsLoop(hlo)) {
    add_root(BodyOf(hlo));
    add_parameter(BodyOf(hlo));
    add_parameter(ConditionOf(hlo));
  } else {
    for (const Computation* branch : CalledComputations(hlo)) add_root(branch);
  }
  const Instruction* first = nullptr;
  for (const Instruction* part : parts) {
    const Sharding* sharding = part == nullptr ? nullptr : (*part)[kSharding];
    if (sharding == nullptr) continue;
    if (first == nullptr) {
      first = part;
    } else if (!Equal(*(*first)[kSharding], *sharding)) {
      return context.Add(
          hlo, "sharding.C8",
          StrCat(Text(hlo.opcode), " and its computations must have equal shardings, got ", Str(*(*first)[kSharding]),
                 " for ", first->name, " and ", Str(*sharding), " for ", part->name));
    }
  }
}

}  // namespace

ShardingProblem ProblemOf(const Sharding& sharding, const Shape& shape, std::optional<int64_t> devices) {
  if (shape.IsToken()) return {};
  const bool tuple = sharding.kind == Kind::kTuple;
  const int64_t leaves = shape.IsTuple() ? shape.LeafCount() : 1;
  const int64_t entries = std::ssize(sharding.elements);
  if (tuple && (!shape.IsTuple() || (entries != leaves && (leaves != 0 || entries > 1))))
    return {"sharding.C1", shape.IsTuple()
                               ? StrCat("sharding must have an entry for each of ", leaves, " arrays, got ", entries)
                               : StrCat("sharding must not be a tuple for ", ToString(shape), ", got ", Str(sharding))};
  size_t next = 0;
  ShardingProblem problem;
  ForEachLeaf(shape, [&](const Shape& leaf) {
    const Sharding& entry = tuple ? sharding.elements[next++] : sharding;
    if (problem.rule.empty() && leaf.IsArray()) problem = CheckArray(entry, leaf, devices);
  });
  return problem;
}

void CheckShardings(VerifierContext& context) {
  const int64_t partitions = context.module().num_partitions;
  const std::optional<int64_t> devices = partitions > 1 ? std::optional(partitions) : std::nullopt;
  ForEachInstruction(context, [&](const Instruction& hlo) {
    if (const Sharding* sharding = hlo[kSharding])
      if (ShardingProblem problem = ProblemOf(*sharding, hlo.shape(), devices); !problem.rule.empty())
        context.Add(hlo, problem.rule, std::move(problem.message));
    if (IsLoop(hlo) || IsBranch(hlo)) CheckConsistent(hlo, context);
  });
}

}  // namespace shoal::internal
