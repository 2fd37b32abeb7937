#include "formats/proto/parts.h"

namespace shoal::internal {
namespace {

using Kind = Sharding::Kind;

void WriteMesh(const Mesh& mesh, proto::MeshProto* to) {
  for (size_t i = 0; i < mesh.axis_names.size(); ++i) {
    proto::MeshProto::MeshAxis* axis = to->add_axes();
    axis->set_name(mesh.axis_names[i]);
    axis->set_size(mesh.devices.dims[i]);
  }
  if (!mesh.devices.iota) {
    Assign(to->mutable_device_ids(), mesh.devices.devices);
  } else if (mesh.devices.iota->reshape.size() != 1) {
    Assign(to->mutable_iota_transform()->mutable_reshape_dims(), mesh.devices.iota->reshape);
    Assign(to->mutable_iota_transform()->mutable_transpose_perm(), mesh.devices.iota->perm);
  }
}

void WriteAxisRefs(const std::vector<AxisRef>& axes, google::protobuf::RepeatedPtrField<proto::AxisRefProto>* to) {
  for (const AxisRef& axis : axes) {
    proto::AxisRefProto* ref = to->Add();
    ref->set_mesh_axis_index(axis.axis);
    if (!axis.sub) continue;
    ref->mutable_sub_axis_info()->set_pre_size(axis.sub->pre_size);
    ref->mutable_sub_axis_info()->set_size(axis.sub->size);
  }
}

void WriteNamed(const Sharding& sharding, proto::NamedShardingProto* to) {
  WriteMesh(*sharding.mesh, to->mutable_mesh());
  for (const Sharding::Dimension& dimension : sharding.dimensions) {
    auto* one = to->add_dim_shardings();
    WriteAxisRefs(dimension.axes, one->mutable_axes());
    one->set_is_closed(dimension.closed);
  }
  WriteAxisRefs(sharding.replicated_axes, to->mutable_replicated_axes());
  WriteAxisRefs(sharding.unreduced_axes, to->mutable_unreduced_axes());
  WriteAxisRefs(sharding.manual_axes, to->mutable_manual_axes());
  to->set_reduction_op(static_cast<int32_t>(sharding.reduction));
  for (const Metadata& entry : sharding.metadata) WriteMetadata(entry, to->add_metadata());
}

void WriteTiles(const Sharding& sharding, proto::OpSharding* to) {
  Assign(to->mutable_tile_assignment_dimensions(), sharding.tiles.dims);
  if (sharding.tiles.iota) {
    Assign(to->mutable_iota_reshape_dims(), sharding.tiles.iota->reshape);
    for (int p : sharding.tiles.iota->perm) to->add_iota_transpose_perm(p);
  } else {
    Assign(to->mutable_tile_assignment_devices(), sharding.tiles.devices);
  }
  to->set_replicate_on_last_tile_dim(sharding.replicate_last_dim);
  for (Kind kind : sharding.last_tile_dims) to->add_last_tile_dims(static_cast<int32_t>(kind));
}

void WriteReduction(ReductionOp reduction, proto::OpMetadata* to) {
  constexpr const char* kNames[] = {"SUM", "MAX", "MIN"};
  Assign(to->mutable_op_type(), Sharding::kReductionOpType);
  to->set_op_name(kNames[static_cast<size_t>(reduction)]);
}

}  // namespace

void WriteSharding(const Sharding& sharding, proto::OpSharding* to) {
  if (sharding.kind == Kind::kNamed) return WriteNamed(sharding, to->mutable_named_sharding());
  to->set_type(static_cast<int32_t>(sharding.kind));
  for (const Sharding& element : sharding.elements) WriteSharding(element, to->add_tuple_shardings());
  for (const Metadata& entry : sharding.metadata) WriteMetadata(entry, to->add_metadata());
  if (IsUnreduced(sharding)) WriteReduction(sharding.reduction, to->add_metadata());
  if (sharding.kind == Kind::kTiled) WriteTiles(sharding, to);
  if (sharding.kind == Kind::kMaximal) Assign(to->mutable_tile_assignment_devices(), sharding.tiles.devices);
  if (sharding.group == Sharding::Group::kNone) return;
  to->set_is_shard_group(true);
  to->set_shard_group_id(sharding.group_id);
  to->set_shard_group_type(sharding.group == Sharding::Group::kAs ? 0 : 1);
}

void WriteReplicaGroups(const ReplicaGroups& groups, proto::HloInstructionProto* to) {
  if (const auto* iota = std::get_if<IotaTiles>(&groups.rep)) {
    proto::IotaReplicaGroupListProto* list = to->mutable_iota_collective_device_list();
    list->set_num_replica_groups(iota->dims.at(0));
    list->set_num_devices_per_group(iota->dims.at(1));
    Assign(list->mutable_iota_reshape_dims(), iota->reshape);
    for (int p : iota->perm) list->add_iota_transpose_perm(p);
    return;
  }
  if (const auto* axes = std::get_if<ReplicaGroups::MeshAxes>(&groups.rep)) {
    WriteMesh(axes->mesh, to->mutable_mesh_axes_replica_group_list()->mutable_mesh());
    WriteAxisRefs(axes->axes, to->mutable_mesh_axes_replica_group_list()->mutable_axes());
    return;
  }
  const auto& lists = std::get<ReplicaGroups::Lists>(groups.rep);
  proto::CollectiveDeviceListProto* list = to->mutable_collective_device_list();
  size_t at = 0;
  for (size_t end : lists.ends) {
    proto::ReplicaGroup* group = list->add_replica_groups();
    for (; at < end; ++at) group->add_replica_ids(lists.ids[at]);
  }
}

}  // namespace shoal::internal
