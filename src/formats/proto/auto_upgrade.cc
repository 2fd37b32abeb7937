#include "formats/proto/auto_upgrade.h"

#include <google/protobuf/unknown_field_set.h>

#include <string_view>
#include <utility>

namespace shoal::internal {
namespace {

// Each direction of a comparison was a separate op.
struct OldComparison {
  std::string_view opcode;
  const char* direction;
};
constexpr OldComparison kOldComparisons[] = {
    {"equal-to", "EQ"},     {"not-equal-to", "NE"},          {"greater-than-or-equal-to", "GE"},
    {"greater-than", "GT"}, {"less-than-or-equal-to", "LE"}, {"less-than", "LT"},
};

// From 2024 to 2025, the list of a collective's groups could have the form that is now a field of its own.
void UpgradeReplicaGroups(proto::HloInstructionProto& instruction) {
  if (!instruction.collective_device_list().has_iota_replica_group_list()) return;
  proto::IotaReplicaGroupListProto iota =
      std::move(*instruction.mutable_collective_device_list()->mutable_iota_replica_group_list());
  *instruction.mutable_iota_collective_device_list() = std::move(iota);
}

// In the middle of 2025, the elements of an original value were in field 2, below a shape.
void UpgradeOriginalValue(proto::OriginalValueProto& value) {
  google::protobuf::UnknownFieldSet& fields = *value.GetReflection()->MutableUnknownFields(&value);
  bool is_old = false;
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() != proto::OriginalValueProto::kIsSyntheticCallFieldNumber ||
        field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      continue;
    if (!std::exchange(is_old, true)) value.clear_elements();
    value.add_elements()->ParseFromString(field.length_delimited());
  }
  if (is_old) fields.Clear();
}

// Until 2026, every topk was stable, and its message did not say so.
bool MayBeOldTopK(const proto::HloInstructionProto& instruction) {
  return instruction.opcode() == "topk" && !instruction.is_stable();
}

}  // namespace

void MarkAsCurrent(proto::HloInstructionProto& instruction) {
  if (MayBeOldTopK(instruction)) instruction.mutable_shoal()->set_is_unstable(true);
}

void AutoUpgrade(proto::HloInstructionProto& instruction) {
  for (const OldComparison& old : kOldComparisons) {
    if (instruction.opcode() != old.opcode) continue;
    instruction.set_opcode("compare");
    instruction.set_comparison_direction(old.direction);
    break;
  }
  if (instruction.is_cross_program_prefetch() && !instruction.has_cross_program_prefetch_index())
    instruction.set_cross_program_prefetch_index(0);
  if (instruction.all_reduce_id() > 0 && instruction.channel_id() <= 0)
    instruction.set_channel_id(instruction.all_reduce_id());
  if (MayBeOldTopK(instruction) && !instruction.shoal().is_unstable()) instruction.set_is_stable(true);
  if (!instruction.comparison_order().empty()) instruction.clear_comparison_type();  // the order implies the type
  UpgradeReplicaGroups(instruction);
  if (instruction.has_original_value()) UpgradeOriginalValue(*instruction.mutable_original_value());
  if (instruction.custom_call_target().empty()) return;
  // Old custom calls: without a version, and with the configuration in a field of its own.
  if (instruction.custom_call_api_version() == 0) instruction.set_custom_call_api_version(1);
  if (instruction.backend_config().empty()) instruction.set_backend_config(instruction.custom_call_opaque());
}

}  // namespace shoal::internal
