// Shardy: meshes, shardings, and its ops as the custom calls that XLA uses for them.
#include <algorithm>

#include "core/ir/sizes.h"
#include "core/ops/control_flow.h"
#include "core/ops/shardy_calls.h"
#include "formats/stablehlo/import_functions.h"
#include "formats/stablehlo/importer.h"
#include "formats/stablehlo/sdy_text.h"

namespace shoal::internal {

// Meshes that equal an earlier one are dropped, and their uses renamed.
Status Importer::ReadMeshes() {
  for (const MlirOp* op : tree_.op->regions[0].blocks[0].ops) {
    if (op->name != "sdy.mesh") continue;
    const std::string_view name = StringAttr(*op, "sym_name");
    std::string_view text = StringAttr(*op, "mesh");
    if (text.starts_with("#sdy.mesh")) text.remove_prefix(9);
    for (const char c : name) {
      const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
      if (!plain) return Refused(*op, "the name of a mesh must consist of letters, digits, '_' and '.'");
    }
    std::optional<Mesh> mesh = ParseSdyMesh(text);
    if (!mesh) return Refused(*op, "invalid mesh, expected <[\"x\"=2, …]>");
    const auto same = std::find_if(meshes_.begin(), meshes_.end(),
                                   [&](const SdyMesh& known) { return known.mesh == *mesh; });
    if (same != meshes_.end()) {
      same_mesh_.emplace(name, same->name);
    } else {
      meshes_.push_back({name, std::string(text), std::move(*mesh)});
    }
  }
  return {};
}

const Importer::SdyMesh* Importer::FindMesh(std::string_view name) const {
  const auto renamed = same_mesh_.find(name);
  if (renamed != same_mesh_.end()) name = renamed->second;
  for (const SdyMesh& mesh : meshes_)
    if (mesh.name == name) return &mesh;
  return nullptr;
}

std::string Importer::CanonicalSdyText(std::string_view text) const {
  if (same_mesh_.empty()) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const size_t at = text.find('@');
    out += text.substr(0, at == text.npos ? at : at + 1);
    if (at == text.npos) break;
    text.remove_prefix(at + 1);
    const std::string_view name = text.substr(0, text.find_first_of(", >"));
    const auto same = same_mesh_.find(name);
    out += same == same_mesh_.end() ? name : same->second;
    text.remove_prefix(name.size());
  }
  return out;
}

namespace {

// A mesh axis, divided where shardings use parts of it.
struct AxisPart {
  int64_t axis = 0;
  int64_t pre_size = 1, size = 1;
};

// The parts of the mesh's axes, major to minor, such that each used axis is a range of parts.
bool DivideAxes(const Mesh& mesh, const std::vector<const SdyAxis*>& used, std::vector<AxisPart>* parts) {
  for (int64_t axis = 0; axis < mesh.AxisCount(); ++axis) {
    const int64_t size = mesh.devices.dims[static_cast<size_t>(axis)];
    std::vector<int64_t> cuts{1, size};
    for (const SdyAxis* ref : used) {
      if (ref->name != mesh.axis_names[static_cast<size_t>(axis)] || !ref->sub) continue;
      cuts.push_back(ref->sub->pre_size);
      cuts.push_back(ref->sub->pre_size * ref->sub->size);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    if (size == 1) parts->push_back({axis, 1, 1});
    for (size_t i = 1; i < cuts.size(); ++i) {
      if (cuts[i] % cuts[i - 1] != 0 || cuts[i] > size) return false;
      parts->push_back({axis, cuts[i - 1], cuts[i] / cuts[i - 1]});
    }
  }
  return true;
}

}  // namespace

// The sharding as tiles of devices, the form that XLA's partitioner uses: the axes of the dimensions first, then those
// that replicate.
const Sharding* Importer::HloSharding(std::string_view sdy_text, int64_t rank) {
  const std::optional<SdySharding> sdy = ParseSdySharding(sdy_text);
  if (!sdy) return nullptr;
  std::optional<Mesh> inlined;
  const SdyMesh* named = sdy->mesh.empty() ? nullptr : FindMesh(sdy->mesh);
  if (named == nullptr && !sdy->mesh_text.empty()) inlined = ParseSdyMesh(sdy->mesh_text);
  if (named == nullptr && !inlined) return nullptr;
  const Mesh& mesh = named != nullptr ? named->mesh : *inlined;
  Sharding sharding;
  if (mesh.maximal) {
    sharding.kind = Sharding::Kind::kMaximal;
    sharding.tiles.dims = {1};
    sharding.tiles.devices = mesh.devices.devices;
    return module_.arena.New<Sharding>(sharding);
  }
  std::vector<const SdyAxis*> used;
  for (const auto& dim : sdy->dims)
    for (const SdyAxis& axis : dim) used.push_back(&axis);
  if (used.empty() && sdy->unreduced.empty()) return module_.arena.New<Sharding>(sharding);
  const size_t in_dims = used.size();
  for (const SdyAxis& axis : sdy->unreduced) used.push_back(&axis);
  for (const SdyAxis* axis : used)
    if (std::ranges::find(mesh.axis_names, axis->name) == mesh.axis_names.end()) return nullptr;
  std::vector<AxisPart> parts;
  if (!DivideAxes(mesh, used, &parts)) return nullptr;
  IotaTiles iota;
  std::vector<bool> taken(parts.size());
  for (const AxisPart& part : parts) iota.reshape.push_back(part.size);
  auto take = [&](const SdyAxis& axis) -> int64_t {
    int64_t size = 1;
    const int64_t from = axis.sub ? axis.sub->pre_size : 1;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (mesh.axis_names[static_cast<size_t>(parts[i].axis)] != axis.name || taken[i]) continue;
      const bool inside = !axis.sub || (parts[i].pre_size >= from && parts[i].pre_size < from * axis.sub->size);
      if (!inside) continue;
      taken[i] = true;
      size *= parts[i].size;
      iota.perm.push_back(static_cast<int>(i));
    }
    return size;
  };
  for (const auto& dim : sdy->dims) {
    int64_t size = 1;
    for (const SdyAxis& axis : dim) size *= take(axis);
    iota.dims.push_back(size);
  }
  if (static_cast<int64_t>(iota.dims.size()) != rank) return nullptr;
  std::vector<Sharding::Kind> kinds;
  int64_t unreduced = 1;
  for (size_t i = in_dims; i < used.size(); ++i) unreduced *= take(*used[i]);
  int64_t rest = 1;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (taken[i]) continue;
    rest *= parts[i].size;
    iota.perm.push_back(static_cast<int>(i));
  }
  if (rest > 1) {
    iota.dims.push_back(rest);
    kinds.push_back(Sharding::Kind::kReplicated);
  }
  if (unreduced > 1) {
    iota.dims.push_back(unreduced);
    kinds.push_back(Sharding::Kind::kUnreduced);
    // The unreduced axes come after the replicated ones.
    const size_t moved = kinds.size() == 2 ? 1 : 0;
    if (moved != 0) {
      std::vector<int> order(iota.perm.begin(), iota.perm.end());
      size_t first = 0;
      int64_t seen = 1, wanted = 1;
      for (size_t i = 0; i < iota.dims.size() - 2; ++i) wanted *= iota.dims[i];
      while (first < order.size() && seen < wanted) seen *= iota.reshape[static_cast<size_t>(order[first++])];
      size_t middle = first;
      int64_t size = 1;
      while (middle < order.size() && size < unreduced) size *= iota.reshape[static_cast<size_t>(order[middle++])];
      std::rotate(iota.perm.begin() + static_cast<ptrdiff_t>(first), iota.perm.begin() + static_cast<ptrdiff_t>(middle),
                  iota.perm.end());
    }
  }
  TileAssignment tiles;
  tiles.dims = iota.dims;
  const IotaTiles canonical = IotaTiles::Canonical(iota.dims, iota.reshape, iota.perm);
  if (mesh.devices.iota) {
    tiles.iota = canonical;
  } else {
    for (const int64_t position : canonical.Devices())
      tiles.devices.push_back(mesh.devices.devices[static_cast<size_t>(position)]);
  }
  return module_.arena.New<Sharding>(Sharding::Tiled(std::move(tiles), std::move(kinds), {}));
}

namespace {

using CustomCall = Op<Opcode::kCustomCall>;

NamedAttr Target(std::string_view name) { return {CustomCall::kTarget.id, name}; }

std::string PerValue(std::string_view sharding) {
  if (sharding.starts_with("#sdy.sharding<")) sharding.remove_prefix(13);
  return StrCat("#sdy.sharding_per_value<[", sharding, "]>");
}

}  // namespace

Result<Instruction*> Importer::MarkResult(Instruction* value, const std::string& sdy_text, const Sharding** sharding) {
  common_.clear();
  frontend_attributes_.clear();
  AddFrontendAttribute("xla.sdy.sharding", PerValue(sdy_text));
  *sharding = HloSharding(sdy_text, value->shape().IsArray() ? value->shape().rank() : 0);
  if (*sharding != nullptr) common_.push_back({kSharding.id, *sharding});
  return Add(Opcode::kCustomCall, {value}, {Target(kResultShardingTarget), {CustomCall::kHasSideEffect.id, true}},
             value->shape_);
}

Status ImportShardingConstraint(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operand, importer.Operand(op, 0));
  const std::string text = importer.CanonicalSdyText(importer.StringAttr(op, "sharding"));
  const std::optional<SdySharding> sharding = ParseSdySharding(text);
  if (!sharding) return importer.Refused(op, "invalid sharding, expected <@mesh, [{\"x\"}, …]>");
  importer.AddFrontendAttribute("xla.sdy.sharding", PerValue(text));
  if (const Sharding* hlo = importer.HloSharding(text, operand->shape().IsArray() ? operand->shape().rank() : 0))
    importer.common_attrs().push_back({kSharding.id, hlo});
  NamedAttrs attrs{Target(kShardingConstraintTarget)};
  if (!sharding->unreduced.empty()) attrs.push_back({CustomCall::kHasSideEffect.id, true});
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kCustomCall, {operand}, attrs, shape));
  return importer.SetResult(op, value);
}

Status ImportShardingGroup(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operand, importer.Operand(op, 0));
  SHOAL_ASSIGN(group, importer.IntOf(op, "group_id", 0));
  importer.AddFrontendAttribute("xla.sdy.sharding_group_id", StrCat(group, " : i64"));
  SHOAL_TRY(importer.Add(Opcode::kCustomCall, {operand},
                         {Target(kShardingGroupTarget), {CustomCall::kHasSideEffect.id, true}},
                         importer.module().shapes.Tuple({})));
  return {};
}

Status ImportPropagationBarrier(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operand, importer.Operand(op, 0));
  SHOAL_ASSIGN(direction, importer.IntOf(op, "allowed_direction_number", 0));
  const std::string_view name = importer.StringAttr(op, "allowed_direction");
  const int64_t number = name == "FORWARD" ? 1 : name == "BACKWARD" ? 2 : name == "BOTH" ? 3 : direction;
  importer.AddFrontendAttribute("xla.sdy.allowed_direction", StrCat(number, " : i64"));
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kCustomCall, {operand},
                                   {Target(kPropagationBarrierTarget), {CustomCall::kHasSideEffect.id, true}}, shape));
  return importer.SetResult(op, value);
}

// The body becomes a computation on local shapes, between two custom calls that change the shapes.
Status ImportManualComputation(Importer& importer, const MlirOp& op) {
  if (op.regions.size() != 1 || op.regions[0].blocks.size() != 1) return importer.Refused(op, "the op needs a body");
  SHOAL_ASSIGN(operands, importer.Operands(op));
  auto per_value = [&](std::string_view name) {
    std::string text = importer.CanonicalSdyText(importer.StringAttr(op, name));
    if (!text.starts_with('#')) text = StrCat("#sdy.sharding_per_value<", text, ">");
    return text;
  };
  std::string axes(importer.StringAttr(op, "manual_axes"));
  if (!axes.starts_with('#')) axes = StrCat("#sdy<manual_axes", axes, ">");
  const MlirBlock& block = op.regions[0].blocks[0];
  if (block.arguments.size() != operands.size()) return importer.Refused(op, "the body needs one argument per operand");

  std::vector<Instruction*> locals;
  ShapePool& shapes = importer.module().shapes;
  const NamedAttrs target_and_effect{{CustomCall::kHasSideEffect.id, true}};
  if (!operands.empty()) {
    std::vector<const Shape*> local_shapes;
    for (const MlirValue& argument : block.arguments) {
      SHOAL_ASSIGN(shape, importer.ShapeOf(*argument.type, op.at));
      local_shapes.push_back(shape);
    }
    importer.AddFrontendAttribute("xla.sdy.in_shardings", per_value("in_shardings"));
    importer.AddFrontendAttribute("xla.sdy.manual_axes", axes);
    NamedAttrs attrs = target_and_effect;
    attrs.push_back(Target(kGlobalToLocalTarget));
    const Shape* shape = local_shapes.size() == 1 ? local_shapes[0] : shapes.Tuple(local_shapes);
    SHOAL_ASSIGN(local, importer.Add(Opcode::kCustomCall, operands, attrs, shape));
    if (operands.size() == 1) locals.push_back(local);
    for (size_t i = 0; operands.size() > 1 && i < operands.size(); ++i)
      locals.push_back(importer.AddElement(local, static_cast<int64_t>(i), /*with_attrs=*/false));
  }

  SHOAL_ASSIGN(body, importer.ImportBody(op.regions[0], "xla.sdy.manual_computation_body", op.at));
  importer.Reset(op);
  importer.AddFrontendAttribute("inlineable", "xla_late");
  SHOAL_ASSIGN(called, importer.Add(Opcode::kCall, locals, {{kToApply.id, body}}));
  std::vector<Instruction*> results;
  if (op.results.size() == 1) results.push_back(called);
  for (size_t i = 0; op.results.size() > 1 && i < op.results.size(); ++i) {
    if (!called->shape().IsTuple() || i >= called->shape().elements().size())
      return importer.Refused(op, "the body returns too few values");
    results.push_back(importer.AddElement(called, static_cast<int64_t>(i)));
  }
  if (results.empty()) return {};
  importer.Reset(op);
  importer.AddFrontendAttribute("xla.sdy.manual_axes", axes);
  importer.AddFrontendAttribute("xla.sdy.out_shardings", per_value("out_shardings"));
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  NamedAttrs attrs = target_and_effect;
  attrs.push_back(Target(kLocalToGlobalTarget));
  SHOAL_ASSIGN(global, importer.Add(Opcode::kCustomCall, results, attrs, shape));
  importer.common_attrs().clear();
  return importer.SetResults(op, global);
}

// A function that is written in place.
Status ImportNamedComputation(Importer& importer, const MlirOp& op) {
  if (op.regions.size() != 1) return importer.Refused(op, "the op needs a body");
  SHOAL_ASSIGN(operands, importer.Operands(op));
  SHOAL_ASSIGN(body, importer.ImportBody(op.regions[0], "named_computation", op.at));
  importer.Reset(op);
  SHOAL_ASSIGN(called, importer.Add(Opcode::kCall, operands, {{kToApply.id, body}}));
  return importer.SetResults(op, called);
}

}  // namespace shoal::internal
