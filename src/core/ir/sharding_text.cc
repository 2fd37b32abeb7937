#include <algorithm>

#include "core/base/strings.h"
#include "core/ir/sharding.h"

namespace shoal::internal {
namespace {

using Kind = Sharding::Kind;

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kReplicated:
      return "replicated";
    case Kind::kMaximal:
      return "maximal";
    case Kind::kManual:
      return "manual";
    case Kind::kUnknown:
      return "unknown";
    case Kind::kUnreduced:
      return "unreduced";
    default:
      return "";
  }
}

// An entry of last_tile_dims={}; XLA prints "error_type." for kinds that are invalid there.
std::string_view SubgroupName(Kind kind) {
  const std::string_view name = kind == Kind::kUnknown ? "" : KindName(kind);
  return name.empty() ? "error_type." : name;
}

const char* ReductionName(ReductionOp op) {
  switch (op) {
    case ReductionOp::kSum:
      return "sum";
    case ReductionOp::kMax:
      return "max";
    case ReductionOp::kMin:
      return "min";
  }
  return "";
}

// {...}, {...}
void AppendMetadataList(std::string& out, const std::vector<Metadata>& metadata) {
  for (size_t i = 0; i < metadata.size(); ++i) {
    out += i > 0 ? ", {" : "{";
    AppendMetadata(out, metadata[i]);
    out += '}';
  }
}

// The syntax without a mesh cannot express the reduction, so XLA writes it as an additional metadata entry.
Metadata ReductionMetadata(ReductionOp op) {
  Metadata entry;
  entry.op_type = Sharding::kReductionOpType;
  entry.op_name = op == ReductionOp::kMax ? "MAX" : op == ReductionOp::kMin ? "MIN" : "SUM";
  return entry;
}

bool NeedsReductionMetadata(const Sharding& sharding) {
  const std::vector<Kind>& types = sharding.last_tile_dims;
  return sharding.kind == Kind::kUnreduced || sharding.reduction != ReductionOp::kSum ||
         std::find(types.begin(), types.end(), Kind::kUnreduced) != types.end();
}

void AppendTail(std::string& out, const Sharding& sharding) {
  if (sharding.group == Sharding::Group::kAs) StrAppend(&out, " shard_as ", sharding.group_id);
  if (sharding.group == Sharding::Group::kLike) StrAppend(&out, " shard_like ", sharding.group_id);
  std::vector<Metadata> metadata = sharding.metadata;
  if (NeedsReductionMetadata(sharding)) metadata.push_back(ReductionMetadata(sharding.reduction));
  if (metadata.empty()) return;
  out += " metadata={";
  if (metadata.size() == 1) {
    AppendMetadata(out, metadata[0]);
  } else {
    AppendMetadataList(out, metadata);
  }
  out += '}';
}

void AppendTiles(std::string& out, const Sharding& sharding) {
  out += "devices=";
  if (sharding.tiles.iota) {
    AppendIota(out, *sharding.tiles.iota);
  } else {
    StrAppend(&out, "[", StrJoin(sharding.tiles.dims, ","), "]", StrJoin(sharding.tiles.devices, ","));
  }
  if (sharding.replicate_last_dim) out += " last_tile_dim_replicate";
  if (sharding.last_tile_dims.empty()) return;
  auto append_name = [](std::string* text, Kind kind) { *text += SubgroupName(kind); };
  StrAppend(&out, " last_tile_dims={", StrJoin(sharding.last_tile_dims, ", ", append_name), "}");
}

void AppendTuple(std::string& out, const std::vector<Sharding>& elements) {
  out += '{';
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) out += ", ";
    if (i > 0 && i % 5 == 0) StrAppend(&out, "/*index=", i, "*/");
    AppendSharding(out, elements[i]);
  }
  out += '}';
}

// 'x', 'y':(1)2
void AppendAxes(std::string& out, const std::vector<AxisRef>& axes, const Mesh& mesh) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i > 0) out += ", ";
    AppendAxisRef(out, axes[i], mesh);
  }
}

// True if `axes` are all axes of the mesh, undivided and in order; those of size 1 may be missing.
bool IsWholeMesh(const std::vector<AxisRef>& axes, const Mesh& mesh) {
  size_t next = 0;
  for (int64_t axis = 0; axis < mesh.AxisCount(); ++axis) {
    if (next < axes.size() && axes[next].axis == axis) {
      if (axes[next++].sub) return false;
    } else if (mesh.devices.dims[axis] != 1) {
      return false;
    }
  }
  return !axes.empty() && next == axes.size();
}

// [{'x'}, {'y', ?}], replicated={...}, unreduced=max{...}, manual={...}
void AppendDimensions(std::string& out, const Sharding& sharding) {
  const Mesh& mesh = *sharding.mesh;
  out += ", [";
  for (size_t i = 0; i < sharding.dimensions.size(); ++i) {
    const Sharding::Dimension& dimension = sharding.dimensions[i];
    out += i > 0 ? ", {" : "{";
    AppendAxes(out, dimension.axes, mesh);
    if (!dimension.closed) out += dimension.axes.empty() ? "?" : ", ?";
    out += '}';
  }
  out += ']';
  auto append = [&](const char* name, const char* reduction, const std::vector<AxisRef>& axes) {
    if (axes.empty()) return;
    StrAppend(&out, ", ", name, "=", reduction, "{");
    AppendAxes(out, axes, mesh);
    out += '}';
  };
  const bool sum = sharding.reduction == ReductionOp::kSum;
  append("replicated", "", sharding.replicated_axes);
  append("unreduced", sum ? "" : ReductionName(sharding.reduction), sharding.unreduced_axes);
  append("manual", "", sharding.manual_axes);
}

void AppendNamed(std::string& out, const Sharding& sharding) {
  const Mesh& mesh = *sharding.mesh;
  const ReductionOp reduction = sharding.reduction;
  const bool no_dimensions = sharding.dimensions.empty();
  const bool no_axes =
      sharding.replicated_axes.empty() && sharding.unreduced_axes.empty() && sharding.manual_axes.empty();
  out += '{';
  AppendMesh(out, mesh);
  if (no_dimensions && no_axes && !mesh.maximal) {
    out += ", replicated";
  } else if (no_dimensions && IsWholeMesh(sharding.unreduced_axes, mesh)) {
    out += ", unreduced";
    if (reduction != ReductionOp::kSum) StrAppend(&out, "=", ReductionName(reduction));
  } else if (no_dimensions && IsWholeMesh(sharding.manual_axes, mesh)) {
    out += ", manual";
  } else if (!mesh.maximal) {
    AppendDimensions(out, sharding);
  }
  if (!sharding.metadata.empty()) {
    out += ", metadata={";
    AppendMetadataList(out, sharding.metadata);
    out += '}';
  }
  out += '}';
}

}  // namespace

void AppendSharding(std::string& out, const Sharding& sharding) {
  if (sharding.kind == Kind::kTuple) return AppendTuple(out, sharding.elements);
  if (sharding.kind == Kind::kNamed) return AppendNamed(out, sharding);
  out += '{';
  if (sharding.kind == Kind::kTiled) {
    AppendTiles(out, sharding);
  } else {
    out += KindName(sharding.kind);
    if (sharding.kind == Kind::kMaximal) StrAppend(&out, " device=", sharding.tiles.devices[0]);
  }
  AppendTail(out, sharding);
  out += '}';
}

}  // namespace shoal::internal
