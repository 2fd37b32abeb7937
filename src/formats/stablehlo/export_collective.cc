// Collectives, and transfers with the host or another device.
#include <algorithm>

#include "core/ops/collective.h"
#include "core/ops/traits.h"
#include "core/ops/transfer.h"
#include "formats/stablehlo/export_functions.h"
#include "formats/stablehlo/exporter.h"

namespace shoal::internal {

using Kind = MlirAttr::Kind;

namespace {

enum class ChannelType : uint8_t { kDeviceToDevice = 1, kDeviceToHost = 2, kHostToDevice = 3 };

void AddChannel(Exporter& exporter, const Instruction& hlo, ChannelType type, Exporter::Attrs& attrs) {
  const int64_t channel = hlo[kChannelId];
  if (channel <= 0) return;
  attrs.push_back({"channel_handle", exporter.TextAttr(Kind::kOpaque, StrCat("#stablehlo.channel_handle<handle = ", channel,
                                                                            ", type = ", static_cast<int>(type), ">"))});
}

// #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<…>, axes = […]>
std::string MeshAxesText(const ReplicaGroups::MeshAxes& groups) {
  std::string text = "#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [";
  const Mesh& mesh = groups.mesh;
  for (size_t i = 0; i < mesh.axis_names.size(); ++i)
    StrAppend(&text, i == 0 ? "" : ", ", "#stablehlo.mesh_axis<name = \"", mesh.axis_names[i],
              "\", size = ", mesh.devices.dims[i], ">");
  text += ']';
  if (!mesh.devices.iota || *mesh.devices.iota != IotaTiles::Plain(mesh.devices.dims)) {
    const std::vector<int64_t> ids = mesh.devices.Devices();
    StrAppend(&text, ", device_ids = dense<[");
    for (size_t i = 0; i < ids.size(); ++i) StrAppend(&text, i == 0 ? "" : ", ", ids[i]);
    StrAppend(&text, "]> : tensor<", ids.size(), "xi64>");
  }
  text += ">, axes = [";
  for (const AxisRef& axis : groups.axes) {
    StrAppend(&text, &axis == groups.axes.data() ? "" : ", ", "#stablehlo.axis_ref<name = \"",
              mesh.axis_names[static_cast<size_t>(axis.axis)], "\"");
    if (axis.sub)
      StrAppend(&text, ", sub_axis_info = #stablehlo.sub_axis_info<pre_size = ", axis.sub->pre_size,
                ", size = ", axis.sub->size, ">");
    text += '>';
  }
  return text + "]>";
}

void AddGroups(Exporter& exporter, const Instruction& hlo, Exporter::Attrs& attrs) {
  const ReplicaGroups* groups = hlo[kReplicaGroups];
  const auto* axes = groups == nullptr ? nullptr : std::get_if<ReplicaGroups::MeshAxes>(&groups->rep);
  const MlirAttr* attr = axes != nullptr ? exporter.TextAttr(Kind::kOpaque, MeshAxesText(*axes))
                                         : exporter.MatrixAttr(groups == nullptr ? std::vector<std::vector<int64_t>>()
                                                                                 : groups->Expand());
  attrs.push_back({"replica_groups", attr});
}

}  // namespace

Status ExportCollective(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  Exporter::Attrs attrs;
  AddGroups(exporter, hlo, attrs);
  AddChannel(exporter, hlo, ChannelType::kDeviceToDevice, attrs);
  const uint32_t handled[] = {kReplicaGroups.id, kChannelId.id};
  return exporter.ExportPlain(row, hlo, operands, std::move(attrs), handled);
}

Status ExportCollectivePermute(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  if (operands.size() != 1) return exporter.Refused(hlo, "StableHLO permutes one operand");
  Exporter::Attrs attrs;
  AddChannel(exporter, hlo, ChannelType::kDeviceToDevice, attrs);
  const uint32_t handled[] = {kChannelId.id};
  return exporter.ExportPlain(row, hlo, operands, std::move(attrs), handled);
}

// HLO splits and concatenates the same dimension; without a dimension, each operand goes to one member.
Status ExportAllToAll(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_ASSIGN(operands, exporter.Operands(hlo));
  const ReplicaGroups* groups = hlo[kReplicaGroups];
  const std::vector<std::vector<int64_t>> lists = groups == nullptr ? std::vector<std::vector<int64_t>>() : groups->Expand();
  if (!hlo.has(kDimensions) || hlo[kDimensions].size() != 1 || lists.empty())
    return exporter.Refused(hlo, "StableHLO splits one dimension among explicit groups");
  Exporter::Attrs attrs{{"split_dimension", exporter.IntAttr(hlo[kDimensions][0], ElementType::kS64)},
                        {"concat_dimension", exporter.IntAttr(hlo[kDimensions][0], ElementType::kS64)},
                        {"split_count", exporter.IntAttr(std::ssize(lists[0]), ElementType::kS64)}};
  AddGroups(exporter, hlo, attrs);
  AddChannel(exporter, hlo, ChannelType::kDeviceToDevice, attrs);
  const uint32_t handled[] = {kReplicaGroups.id, kChannelId.id, kDimensions.id};
  return exporter.ExportPlain(row, hlo, operands, std::move(attrs), handled);
}

// StableHLO's send and recv are HLO's start and done; the op is at the done.
Status ExportTransferStart(Exporter& exporter, const MlirOpInfo&, const Instruction& hlo) {
  for (const Instruction* user : hlo.parent->instructions)
    for (const Instruction* operand : user->operands)
      if (operand == &hlo && !IsAsyncDone(*user)) return exporter.Refused(hlo, "only the done of a transfer may use it");
  return {};
}

namespace {

constexpr std::string_view kPairs = "_xla_send_recv_source_target_pairs";

// Operands and types of a value that may be a tuple of several arrays.
Status ExportTransfer(Exporter& exporter, const MlirOpInfo& row, const Instruction& start, const Instruction& done,
                      std::span<MlirValue* const> operands, const Exporter::Types& types, ChannelType host) {
  const bool is_host = start[kIsHostTransfer];
  Exporter::Attrs attrs{{"is_host_transfer", exporter.BoolAttr(is_host)}};
  AddChannel(exporter, start, is_host ? host : ChannelType::kDeviceToDevice, attrs);
  const uint32_t handled[] = {kIsHostTransfer.id, kChannelId.id};
  SHOAL_TRY(exporter.CheckAttrs(row, start, handled));
  SHOAL_TRY(exporter.CheckAttrs(row, done, handled));
  MlirOp* op = exporter.Add(row, start, operands, std::move(attrs), types);
  for (MlirValue& result : op->results) result.lowered = const_cast<Instruction*>(&done);
  return {};
}

}  // namespace

Status ExportSendDone(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  const Instruction& start = *hlo.operands[0];
  if (start.operand_count() != 2) return exporter.Refused(hlo, "the op needs a send");
  std::vector<MlirValue*> operands;
  const Instruction& data = *start.operands[0];
  SHOAL_TRY(exporter.Flatten(exporter.ValueOf(data), data.shape(), hlo, operands));
  SHOAL_ASSIGN(token, exporter.Operand(start, 1));
  operands.push_back(token);
  SHOAL_ASSIGN(types, exporter.LeafTypes(hlo.shape()));
  SHOAL_TRY(ExportTransfer(exporter, row, start, hlo, operands, types, ChannelType::kDeviceToHost));
  exporter.ValueOf(hlo) = {&exporter.last_op()->results[0], {}};
  return {};
}

Status ExportRecvDone(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  const Instruction& start = *hlo.operands[0];
  if (start.operand_count() != 1 || !hlo.shape().IsTuple()) return exporter.Refused(hlo, "the op needs a recv");
  SHOAL_ASSIGN(token, exporter.Operand(start, 0));
  SHOAL_ASSIGN(types, exporter.LeafTypes(hlo.shape()));
  SHOAL_TRY(ExportTransfer(exporter, row, start, hlo, {&token, 1}, types, ChannelType::kHostToDevice));
  size_t next = 0;
  exporter.ValueOf(hlo) = Exporter::Unflatten(hlo.shape(), exporter.last_op()->results, &next);
  return {};
}

Status ExportInfeed(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  SHOAL_TRY(exporter.CheckAttrs(row, hlo, {}));
  Exporter::Attrs attrs;
  SHOAL_TRY(exporter.AddRuleAttrs(row, hlo, attrs));
  SHOAL_ASSIGN(token, exporter.Operand(hlo, 0));
  SHOAL_ASSIGN(types, exporter.LeafTypes(hlo.shape()));
  MlirOp* op = exporter.Add(row, hlo, {&token, 1}, std::move(attrs), types);
  for (MlirValue& result : op->results) result.lowered = const_cast<Instruction*>(&hlo);
  size_t next = 0;
  exporter.ValueOf(hlo) = Exporter::Unflatten(hlo.shape(), op->results, &next);
  return {};
}

Status ExportOutfeed(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) {
  std::vector<MlirValue*> operands;
  const Instruction& data = *hlo.operands[0];
  SHOAL_TRY(exporter.Flatten(exporter.ValueOf(data), data.shape(), hlo, operands));
  SHOAL_ASSIGN(token, exporter.Operand(hlo, 1));
  operands.push_back(token);
  const uint32_t handled[] = {Op<Opcode::kOutfeed>::kOutfeedShape.id};
  return exporter.ExportPlain(row, hlo, operands, {}, handled);
}

}  // namespace shoal::internal
