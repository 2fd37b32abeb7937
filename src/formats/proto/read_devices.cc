// Reads meshes, iota device orders and replica groups.
#include "formats/proto/read_devices.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ir/sizes.h"

namespace shoal::internal {
namespace {

Result<AxisRef> ReadAxisRef(const Mesh& mesh, const proto::AxisRefProto& from) {
  AxisRef axis;
  axis.axis = from.mesh_axis_index();
  if (axis.axis < 0 || axis.axis >= mesh.AxisCount())
    return Fail(StrCat("mesh: axis index must lie in [0, ", mesh.AxisCount(), "), got ", axis.axis));
  if (!from.has_sub_axis_info()) return axis;
  const int64_t pre_size = from.sub_axis_info().pre_size(), size = from.sub_axis_info().size();
  const int64_t axis_size = mesh.devices.dims[static_cast<size_t>(axis.axis)];
  if (pre_size < 1 || size < 1 || pre_size > axis_size || size > axis_size || axis_size % (pre_size * size) != 0)
    return Fail(StrCat("mesh: (", pre_size, ")", size, " is not a valid sub-axis of an axis of size ", axis_size));
  axis.sub = {pre_size, size};
  return axis;
}

}  // namespace

Result<int64_t> CountDevices(const std::vector<int64_t>& dims) {
  for (int64_t dim : dims)
    if (dim < 1) return Fail(StrCat("devices: a dimension must be positive, got ", dim));
  const int64_t count = SaturatingProduct(dims);
  if (count <= kLargestCluster) return count;
  return Fail(StrCat("devices: [", StrJoin(dims, ","), "] has more than ", kLargestCluster, " devices"));
}

Result<IotaTiles> ReadIota(std::vector<int64_t> dims, std::vector<int64_t> reshape, std::vector<int> perm) {
  SHOAL_TRY(CountDevices(dims));
  if (reshape.empty()) return IotaTiles::Plain(std::move(dims));
  SHOAL_TRY(CountDevices(reshape));
  std::vector<bool> seen(reshape.size());
  for (int p : perm) {
    if (p < 0 || static_cast<size_t>(p) >= seen.size() || seen[static_cast<size_t>(p)])
      return Fail(StrCat("devices: T(", StrJoin(perm, ","), ") is not a permutation"));
    seen[static_cast<size_t>(p)] = true;
  }
  if (perm.size() != reshape.size())
    return Fail(StrCat("devices: T(…) must have ", reshape.size(), " entries, got ", perm.size()));
  return IotaTiles::Canonical(std::move(dims), std::move(reshape), std::move(perm));
}

Status CheckCoversAllDevices(const IotaTiles& iota) {
  SHOAL_ASSIGN(expected, CountDevices(iota.dims));
  SHOAL_ASSIGN(actual, CountDevices(iota.reshape));
  if (actual == expected) return {};
  return Fail(
      StrCat("devices: [", StrJoin(iota.dims, ","), "] and [", StrJoin(iota.reshape, ","), "] differ in device count"));
}

Result<Mesh> ReadMesh(const proto::MeshProto& from) {
  Mesh mesh;
  if (from.axes_size() == 0) {
    if (from.device_ids_size() > 1) return Fail("mesh: a mesh without axes must have at most one device");
    mesh.maximal = from.device_ids_size() == 1;
    mesh.devices.devices = ToVector(from.device_ids());
    if (mesh.maximal) mesh.devices.dims = {1};
    return mesh;
  }
  for (const proto::MeshProto::MeshAxis& axis : from.axes()) {
    mesh.axis_names.push_back(axis.name());
    mesh.devices.dims.push_back(axis.size());
  }
  SHOAL_ASSIGN(count, CountDevices(mesh.devices.dims));
  if (from.device_ids_size() > 0) {
    if (from.has_iota_transform()) return Fail("mesh: device_ids and iota_transform cannot be combined");
    if (from.device_ids_size() != count)
      return Fail(StrCat("mesh: expected ", count, " device ids, got ", from.device_ids_size()));
    mesh.devices.devices = ToVector(from.device_ids());
    return mesh;
  }
  const proto::MeshProto::IotaTransform& transform = from.iota_transform();
  std::vector<int> perm;
  for (int64_t p : transform.transpose_perm()) perm.push_back(static_cast<int>(std::clamp<int64_t>(p, -1, INT32_MAX)));
  SHOAL_ASSIGN(iota, ReadIota(mesh.devices.dims, ToVector(transform.reshape_dims()), std::move(perm)));
  SHOAL_TRY(CheckCoversAllDevices(iota));
  mesh.devices.iota = std::move(iota);
  return mesh;
}

Result<std::vector<AxisRef>> ReadAxisRefs(const Mesh& mesh,
                                          const google::protobuf::RepeatedPtrField<proto::AxisRefProto>& from) {
  std::vector<AxisRef> axes;
  for (const proto::AxisRefProto& ref : from) {
    SHOAL_ASSIGN(axis, ReadAxisRef(mesh, ref));
    axes.push_back(axis);
  }
  return axes;
}

Result<ReplicaGroups> ReadReplicaGroups(const proto::HloInstructionProto& from) {
  ReplicaGroups groups;
  const bool old = from.replica_groups_size() > 0;  // the older field is used, as in XLA
  if (!old && from.has_iota_collective_device_list()) {
    const proto::IotaReplicaGroupListProto& list = from.iota_collective_device_list();
    SHOAL_ASSIGN(iota,
                 ReadIota({list.num_replica_groups(), list.num_devices_per_group()}, ToVector(list.iota_reshape_dims()),
                          {list.iota_transpose_perm().begin(), list.iota_transpose_perm().end()}));
    groups.rep = std::move(iota);
    return groups;
  }
  if (!old && from.has_mesh_axes_replica_group_list()) {
    SHOAL_ASSIGN(mesh, ReadMesh(from.mesh_axes_replica_group_list().mesh()));
    SHOAL_ASSIGN(axes, ReadAxisRefs(mesh, from.mesh_axes_replica_group_list().axes()));
    groups.rep = ReplicaGroups::MeshAxes{std::move(mesh), std::move(axes)};
    return groups;
  }
  ReplicaGroups::Lists lists;
  for (const proto::ReplicaGroup& group :
       old ? from.replica_groups() : from.collective_device_list().replica_groups()) {
    lists.ids.insert(lists.ids.end(), group.replica_ids().begin(), group.replica_ids().end());
    lists.ends.push_back(lists.ids.size());
  }
  groups.rep = std::move(lists);
  return groups;
}

}  // namespace shoal::internal
