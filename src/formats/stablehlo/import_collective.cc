// Collectives: replica groups and channels.
#include "core/ops/collective.h"
#include "core/ops/index_ops.h"
#include "formats/stablehlo/import_functions.h"
#include "formats/stablehlo/importer.h"

namespace shoal::internal {
namespace {

using Kind = MlirAttr::Kind;

const MlirAttr* Field(const MlirAttr& attr, std::string_view name) {
  for (const MlirNamedAttr& field : attr.fields)
    if (field.name == name) return field.value;
  return nullptr;
}

// #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
Result<ReplicaGroups> MeshGroups(Importer& importer, const MlirOp& op, const MlirAttr& attr) {
  ReplicaGroups::MeshAxes groups;
  const MlirAttr* mesh = Field(attr, "mesh");
  const MlirAttr* axes = Field(attr, "axes");
  if (mesh == nullptr || axes == nullptr) return importer.Refused(op, "replica groups by mesh need a mesh and axes");
  if (mesh->kind == Kind::kSymbol || mesh->kind == Kind::kString) {
    const Importer::SdyMesh* known = importer.FindMesh(mesh->text);
    if (known == nullptr) return importer.Refused(op, StrCat("there is no mesh ", mesh->text));
    groups.mesh = known->mesh;
  } else {
    const MlirAttr* list = Field(*mesh, "axes");
    if (list == nullptr) return importer.Refused(op, "a mesh needs axes");
    std::vector<int64_t> sizes;
    for (const MlirAttr* axis : list->elements) {
      const MlirAttr* name = Field(*axis, "name");
      const MlirAttr* size = Field(*axis, "size");
      if (name == nullptr || size == nullptr || size->number < 1 || size->number > (1 << 24))
        return importer.Refused(op, "an axis of a mesh needs a name and a size");
      groups.mesh.axis_names.emplace_back(name->text);
      sizes.push_back(size->number);
    }
    if (SaturatingProduct(sizes) > kLargestCluster) return importer.Refused(op, "the mesh is too large");
    groups.mesh.devices.dims = sizes;
    groups.mesh.devices.iota = IotaTiles::Plain(sizes);
    if (const MlirAttr* ids = Field(*mesh, "device_ids"); ids != nullptr) {
      SHOAL_ASSIGN(devices, importer.IntsOf(op, ids));
      groups.mesh.devices.iota.reset();
      groups.mesh.devices.devices.assign(devices.begin(), devices.end());
    }
  }
  for (const MlirAttr* axis : axes->elements) {
    const MlirAttr* name = Field(*axis, "name");
    const auto& names = groups.mesh.axis_names;
    const auto found = std::find(names.begin(), names.end(), name == nullptr ? std::string_view() : name->text);
    if (found == names.end()) return importer.Refused(op, "the replica groups name an axis that the mesh lacks");
    AxisRef ref;
    ref.axis = found - names.begin();
    const MlirAttr* sub = Field(*axis, "sub_axis_info");
    const MlirAttr* pre = sub == nullptr ? nullptr : Field(*sub, "pre_size");
    const MlirAttr* size = sub == nullptr ? nullptr : Field(*sub, "size");
    if (pre != nullptr && size != nullptr) ref.sub = SubAxis{pre->number, size->number};
    groups.axes.push_back(ref);
  }
  return ReplicaGroups{groups};
}

}  // namespace

Result<const ReplicaGroups*> Importer::ReplicaGroupsOf(const MlirOp& op) {
  const MlirAttr* attr = op.Find("replica_groups");
  ReplicaGroups groups;
  if (attr != nullptr && attr->kind == Kind::kDictionary) {
    SHOAL_ASSIGN(by_mesh, MeshGroups(*this, op, *attr));
    groups = by_mesh;
  } else if (attr != nullptr) {
    SHOAL_ASSIGN(lists, IntListsOf(op, *attr));
    ReplicaGroups::Lists flat;
    for (const Ints list : lists) {
      for (const int64_t id : list) {
        if (id < -1 || id >= kLargestCluster) return Refused(op, StrCat("replica ids must not be negative, got ", id));
        if (id >= 0) flat.ids.push_back(id);  // -1 fills up short groups
      }
      flat.ends.push_back(flat.ids.size());
    }
    groups.rep = flat;
  }
  return static_cast<const ReplicaGroups*>(module_.arena.New<ReplicaGroups>(groups));
}

Status Importer::AddChannel(const MlirOp& op, NamedAttrs& attrs) {
  SHOAL_ASSIGN(handle, IntOf(op, "handle", 0));
  SHOAL_ASSIGN(channel, IntOf(op, "channel_id", handle));
  if (channel > 0) attrs.push_back({kChannelId.id, channel});
  return {};
}

Result<NamedAttrs> Importer::CollectiveAttrs(const MlirOp& op) {
  NamedAttrs attrs;
  SHOAL_TRY(AddChannel(op, attrs));
  const bool has_groups = FindAttr(op.info->opcode, kReplicaGroups.id) != nullptr;
  if (has_groups) {
    SHOAL_ASSIGN(groups, ReplicaGroupsOf(op));
    attrs.push_back({kReplicaGroups.id, groups});
  }
  SHOAL_TRY(ConvertAttrs(op, attrs));
  return attrs;
}

// The result of a collective has the layout of its operand.
Status ImportCollective(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  SHOAL_ASSIGN(attrs, importer.CollectiveAttrs(op));
  SHOAL_ASSIGN(plain, importer.ResultShape(op));
  const Shape* shape = plain;
  const bool keeps_layout = operands.size() == 1 && shape->IsArray() && operands[0]->shape().IsArray() &&
                            operands[0]->shape().rank() == shape->rank();
  if (keeps_layout) shape = importer.module().shapes.WithLayout(*shape, operands[0]->shape().layout());
  SHOAL_ASSIGN(value, importer.Add(op.info->opcode, operands, attrs, shape));
  return importer.SetResults(op, value);
}

// An all-reduce that adds.
Status ImportCrossReplicaSum(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operand, importer.Operand(op, 0));
  if (!operand->shape().IsArray()) return importer.Refused(op, "the op needs an array");
  SHOAL_ASSIGN(groups, importer.ReplicaGroupsOf(op));
  SHOAL_ASSIGN(sum, importer.SumComputation(operand->shape().element_type()));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kAllReduce, {operand}, {{kReplicaGroups.id, groups}, {kToApply.id, sum}},
                                   operand->shape_));
  return importer.SetResult(op, value);
}

// HLO's all-to-all splits and concatenates one dimension; another concat dimension needs a transpose.
Status ImportAllToAll(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  NamedAttrs attrs;
  SHOAL_TRY(importer.AddChannel(op, attrs));
  SHOAL_ASSIGN(groups, importer.ReplicaGroupsOf(op));
  attrs.push_back({kReplicaGroups.id, groups});
  if (operands.size() != 1) {
    SHOAL_ASSIGN(shape, importer.ResultShape(op));
    SHOAL_ASSIGN(value, importer.Add(Opcode::kAllToAll, operands, attrs, shape));
    return importer.SetResults(op, value);
  }
  SHOAL_ASSIGN(split, importer.IntOf(op, "split_dimension", 0));
  SHOAL_ASSIGN(concat, importer.IntOf(op, "concat_dimension", 0));
  SHOAL_ASSIGN(count, importer.IntOf(op, "split_count", 1));
  const Shape& shape = operands[0]->shape();
  if (!shape.IsArray() || split < 0 || split >= shape.rank() || concat < 0 || concat >= shape.rank() || count < 1 ||
      shape.dim(split) % count != 0)
    return importer.Refused(op, "invalid split_dimension, concat_dimension or split_count");
  const int64_t dimension[] = {split};
  Arena& arena = importer.arena();
  ShapePool& shapes = importer.module().shapes;
  attrs.push_back({kDimensions.id, Ints(arena.Copy(dimension))});
  if (groups->empty()) {
    ReplicaGroups all;
    ReplicaGroups::Lists one;
    if (count > kLargestCluster) return importer.Refused(op, "split_count is too large");
    for (int64_t i = 0; i < count; ++i) one.ids.push_back(i);
    one.ends.push_back(one.ids.size());
    all.rep = one;
    attrs[attrs.size() - 2].value = static_cast<const ReplicaGroups*>(arena.New<ReplicaGroups>(all));
  }
  SHOAL_ASSIGN(exchanged, importer.Add(Opcode::kAllToAll, {operands[0]}, attrs, &shape));
  if (split == concat) return importer.SetResult(op, exchanged);
  std::vector<int64_t> parts, order, merged;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i == split) parts.push_back(count);
    parts.push_back(i == split ? shape.dim(i) / count : shape.dim(i));
    merged.push_back(i == split ? shape.dim(i) / count : i == concat ? shape.dim(i) * count : shape.dim(i));
  }
  // The part number, now dimension `split`, moves to just before the concat dimension.
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const int64_t at = i < split ? i : i + 1;
    if (i == concat) order.push_back(split);
    order.push_back(at);
  }
  SHOAL_ASSIGN(split_up, importer.Add(Opcode::kReshape, {exchanged}, {}, shapes.Array(shape.element_type(), parts)));
  SHOAL_ASSIGN(moved, importer.Add(Opcode::kTranspose, {split_up}, {{kDimensions.id, Ints(arena.Copy(order))}}));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kReshape, {moved}, {}, shapes.Array(shape.element_type(), merged)));
  return importer.SetResult(op, value);
}

}  // namespace shoal::internal
