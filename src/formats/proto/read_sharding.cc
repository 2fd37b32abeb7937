#include <algorithm>

#include "core/base/strings.h"
#include "formats/proto/read_devices.h"

namespace shoal::internal {
namespace {

using Kind = Sharding::Kind;

Result<std::vector<Metadata>> ReadMetadataList(Module& module, const Payloads& payloads,
                                               const google::protobuf::RepeatedPtrField<proto::OpMetadata>& from) {
  std::vector<Metadata> list;
  for (const proto::OpMetadata& entry : from) {
    SHOAL_ASSIGN(metadata, ReadMetadata(module, payloads, entry));
    list.push_back(metadata);
  }
  return list;
}

Result<Sharding> ReadNamed(Module& module, const Payloads& payloads, const proto::NamedShardingProto& from) {
  Sharding sharding;
  sharding.kind = Kind::kNamed;
  SHOAL_ASSIGN(mesh, ReadMesh(from.mesh()));
  sharding.mesh = std::move(mesh);
  for (const auto& dimension : from.dim_shardings()) {
    SHOAL_ASSIGN(axes, ReadAxisRefs(*sharding.mesh, dimension.axes()));
    sharding.dimensions.push_back({std::move(axes), dimension.is_closed()});
  }
  SHOAL_ASSIGN(replicated, ReadAxisRefs(*sharding.mesh, from.replicated_axes()));
  SHOAL_ASSIGN(unreduced, ReadAxisRefs(*sharding.mesh, from.unreduced_axes()));
  SHOAL_ASSIGN(manual, ReadAxisRefs(*sharding.mesh, from.manual_axes()));
  sharding.replicated_axes = std::move(replicated);
  sharding.unreduced_axes = std::move(unreduced);
  sharding.manual_axes = std::move(manual);
  if (from.reduction_op() < 0 || from.reduction_op() > static_cast<int>(ReductionOp::kMin))
    return Fail(StrCat("sharding: there is no reduction ", from.reduction_op()));
  sharding.reduction = static_cast<ReductionOp>(from.reduction_op());
  SHOAL_ASSIGN(metadata, ReadMetadataList(module, payloads, from.metadata()));
  sharding.metadata = std::move(metadata);
  return sharding;
}

Result<TileAssignment> ReadTiles(const proto::OpSharding& from) {
  TileAssignment tiles;
  tiles.dims = ToVector(from.tile_assignment_dimensions());
  if (tiles.dims.empty()) return Fail("sharding: a tiled sharding must have tile dimensions");
  SHOAL_ASSIGN(count, CountDevices(tiles.dims));
  if (from.iota_reshape_dims_size() > 0) {
    if (from.tile_assignment_devices_size() > 0) return Fail("sharding: a device list and an iota cannot be combined");
    SHOAL_ASSIGN(iota, ReadIota(tiles.dims, ToVector(from.iota_reshape_dims()),
                                {from.iota_transpose_perm().begin(), from.iota_transpose_perm().end()}));
    SHOAL_TRY(CheckCoversAllDevices(iota));
    tiles.iota = std::move(iota);
    return tiles;
  }
  if (from.tile_assignment_devices_size() != count)
    return Fail(StrCat("sharding: ", from.tile_assignment_devices_size(), " devices for ", count, " tiles"));
  tiles.devices = ToVector(from.tile_assignment_devices());
  return tiles;
}

bool IsOneDevice(const proto::OpSharding& from) {
  const Int64s& iota = from.iota_reshape_dims();
  if (iota.empty()) return from.tile_assignment_devices_size() == 1;
  return std::all_of(iota.begin(), iota.end(), [](int64_t d) { return d == 1; });
}

Result<std::vector<Kind>> ReadSubgroups(const proto::OpSharding& from) {
  std::vector<Kind> types;
  for (int32_t type : from.last_tile_dims()) {
    if (type < 0 || type >= static_cast<int>(Kind::kNamed)) return Fail(StrCat("sharding: there is no type ", type));
    types.push_back(static_cast<Kind>(type));
  }
  if (from.replicate_on_last_tile_dim()) {
    if (!types.empty()) return Fail("sharding: last_tile_dims and replicate_on_last_tile_dim cannot be combined");
    types.push_back(Kind::kReplicated);
  }
  if (static_cast<int>(types.size()) > from.tile_assignment_dimensions_size())
    return Fail(
        StrCat("sharding: ", types.size(), " last_tile_dims for ", from.tile_assignment_dimensions_size(), " dims"));
  return types;
}

Result<Sharding> ReadTiled(const proto::OpSharding& from, std::vector<Metadata> metadata) {
  Sharding sharding;
  if (IsOneDevice(from)) {
    sharding.metadata = std::move(metadata);
    return sharding;
  }
  SHOAL_ASSIGN(types, ReadSubgroups(from));
  SHOAL_ASSIGN(tiles, ReadTiles(from));
  return Sharding::Tiled(std::move(tiles), std::move(types), std::move(metadata));
}

Result<Sharding> ReadSimple(const proto::OpSharding& from, std::vector<Metadata> metadata) {
  Sharding sharding;
  sharding.kind = static_cast<Kind>(from.type());
  sharding.metadata = std::move(metadata);
  if (sharding.kind != Kind::kMaximal) return sharding;
  if (from.tile_assignment_devices_size() != 1)
    return Fail(StrCat("sharding: a maximal sharding must have one device, got ", from.tile_assignment_devices_size()));
  sharding.tiles.dims = {1};
  sharding.tiles.devices = ToVector(from.tile_assignment_devices());
  return sharding;
}

// When XLA writes an unreduced sharding, it adds the reduction as the last metadata entry.
void TakeReduction(Sharding& sharding) {
  sharding.ExtractReductionOp();
  if (!IsUnreduced(sharding)) return;
  for (size_t i = sharding.metadata.size(); i-- > 0;) {
    if (sharding.metadata[i].op_type != Sharding::kReductionOpType) continue;
    sharding.metadata.erase(sharding.metadata.begin() + static_cast<ptrdiff_t>(i));
    return;
  }
}

}  // namespace

bool IsUnreduced(const Sharding& sharding) {
  const std::vector<Kind>& types = sharding.last_tile_dims;
  return sharding.kind == Kind::kUnreduced || sharding.reduction != ReductionOp::kSum ||
         std::find(types.begin(), types.end(), Kind::kUnreduced) != types.end();
}

Result<Metadata> ReadMetadata(Module& module, const Payloads& payloads, const proto::OpMetadata& from) {
  Metadata metadata;
  RareMetadata rare;
  metadata.op_type = module.arena.CopyString(from.op_type());
  metadata.op_name = module.arena.CopyString(from.op_name());
  metadata.source_file = module.arena.CopyString(from.source_file());
  metadata.source_line = from.source_line();
  metadata.source_end_line = from.source_end_line();
  metadata.source_column = from.source_column();
  metadata.source_end_column = from.source_end_column();
  std::vector<int64_t> profile(from.profile_type().begin(), from.profile_type().end());
  rare.profile_type = module.arena.Copy(profile);
  rare.deduplicated_name = module.arena.CopyString(from.deduplicated_name());
  rare.scheduling_name = module.arena.CopyString(from.scheduling_name());
  metadata.stack_frame_id = from.stack_frame_id();
  rare.has_payload = from.has_metadata_payload();
  const proto::Payload& payload = from.metadata_payload();
  if (payload.payload_source_case() == proto::Payload::kId) {
    if (payload.id() < 0 || payload.id() >= payloads.size())
      return Fail(StrCat("metadata: payload id must lie in [0, ", payloads.size(), "), got ", payload.id()));
    rare.payload = module.arena.CopyString(payloads[static_cast<int>(payload.id())]);
  } else {
    rare.payload = module.arena.CopyString(payload.value());
  }
  if (!rare.empty()) metadata.rare_fields = module.arena.New<RareMetadata>(rare);
  return metadata;
}

Result<Sharding> ReadSharding(Module& module, const Payloads& payloads, const proto::OpSharding& from) {
  if (from.has_named_sharding()) return ReadNamed(module, payloads, from.named_sharding());
  if (from.type() < 0 || from.type() >= static_cast<int>(Kind::kNamed))
    return Fail(StrCat("sharding: there is no type ", from.type()));
  Sharding sharding;
  if (static_cast<Kind>(from.type()) == Kind::kTuple) {
    sharding.kind = Kind::kTuple;
    for (const proto::OpSharding& element : from.tuple_shardings()) {
      SHOAL_ASSIGN(part, ReadSharding(module, payloads, element));
      sharding.elements.push_back(std::move(part));
    }
  } else {
    SHOAL_ASSIGN(metadata, ReadMetadataList(module, payloads, from.metadata()));
    const bool tiled = static_cast<Kind>(from.type()) == Kind::kTiled;
    SHOAL_ASSIGN(part, tiled ? ReadTiled(from, std::move(metadata)) : ReadSimple(from, std::move(metadata)));
    sharding = std::move(part);
    TakeReduction(sharding);
  }
  if (from.is_shard_group()) {
    if (from.shard_group_type() < 0 || from.shard_group_type() > 1)
      return Fail(StrCat("sharding: there is no shard group type ", from.shard_group_type()));
    sharding.group = from.shard_group_type() == 0 ? Sharding::Group::kAs : Sharding::Group::kLike;
    sharding.group_id = from.shard_group_id();
  }
  return sharding;
}

}  // namespace shoal::internal
