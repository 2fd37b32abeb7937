#include "formats/proto/attr_fields.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/check.h"

namespace shoal::internal {
namespace {

// Returns the codec for an attribute kind.
const AttrCodec* CodecOf(AttrKind kind) {
  switch (kind) {
    case AttrKind::kBool:
      return &kBoolCodec;
    case AttrKind::kInt:
    case AttrKind::kInt32:
      return &kIntCodec;
    case AttrKind::kFloat:
      return &kFloatCodec;
    case AttrKind::kString:
    case AttrKind::kStringOrJson:
      return &kStringCodec;
    case AttrKind::kEnum:
      return &kEnumCodec;
    case AttrKind::kEnumList:
      return &kEnumListCodec;
    case AttrKind::kInts:
      return &kIntsCodec;
    case AttrKind::kIntLists:
      return &kPairsCodec;
    case AttrKind::kComputation:
      return &kComputationCodec;
    case AttrKind::kComputations:
      return &kComputationsCodec;
    case AttrKind::kInstructions:
      return &kInstructionsCodec;
    case AttrKind::kWindow:
      return &kWindowCodec;
    case AttrKind::kConvDims:
      return &kConvDimsCodec;
    case AttrKind::kSliceRanges:
      return &kSliceCodec;
    case AttrKind::kPadding:
      return &kPaddingCodec;
    case AttrKind::kSharding:
      return &kShardingCodec;
    case AttrKind::kReplicaGroups:
      return &kReplicaGroupsCodec;
    case AttrKind::kFrontendAttributes:
      return &kFrontendAttributesCodec;
    case AttrKind::kStatistics:
      return &kStatisticsCodec;
    case AttrKind::kBools:
      return &kBoolsCodec;
    case AttrKind::kMetadata:
      return &kMetadataCodec;
    case AttrKind::kDomain:
      return &kDomainCodec;
    case AttrKind::kShape:
      return &kShapeCodec;
    case AttrKind::kShapes:
      return &kShapesCodec;
    case AttrKind::kLiteral:
      return &kLiteralCodec;
    case AttrKind::kResultAccuracy:
      return &kResultAccuracyCodec;
    case AttrKind::kAliasing:
      return &kAliasingCodec;
    case AttrKind::kOriginalValue:
      return &kOriginalValueCodec;
    case AttrKind::kSparsity:
      return &kSparsityCodec;
  }
  return nullptr;
}

constexpr AttrCodec kNotStored{[](const AttrField&, const AttrSource&) -> DecodeResult { return DecodedAttr{}; },
                             [](const AttrField&, const AttrValue*, AttrTarget&) {}};

// The field of an attribute, if it does not have the attribute's name. If ops store the attribute in different fields,
// the row applies only to ops that also have the attribute `sibling`. The first matching row is used.
struct FieldLocation {
  std::string_view attribute;
  std::string_view sibling;
  std::string_view path;
  int position = 0;
  const AttrCodec* codec = nullptr;  // overrides the codec of the kind
};
constexpr FieldLocation kFieldLocations[] = {
    {"algorithm", "lhs_batch_dims", "precision_config.algorithm"},
    {"algorithm", "dim_labels", "precision_config.algorithm"},
    {"algorithm", "", "rng_algorithm"},
    {"api_version", "", "custom_call_api_version"},
    {"backend_config", "", "", 0, &kBackendConfigCodec},
    {"body", "", "", 0},
    {"channel_id", "", "", 0, &kChannelCodec},
    {"collapsed_slice_dims", "", "gather_dimension_numbers.collapsed_slice_dims"},
    {"condition", "", "", 1},
    {"convolution_kind", "", "conv_kind"},
    {"direction", "", "comparison_direction"},
    {"false_computation", "", "", 1},
    {"index", "", "tuple_index"},
    {"index_vector_dim", "offset_dims", "gather_dimension_numbers.index_vector_dim"},
    {"index_vector_dim", "", "scatter_dimension_numbers.index_vector_dim"},
    {"inferred_dimension", "", "dimensions"},
    {"input_batching_dims", "", "scatter_dimension_numbers.input_batching_dims"},
    {"inserted_window_dims", "", "scatter_dimension_numbers.inserted_window_dims"},
    {"iota_dimension", "", "dimensions"},
    {"kind", "", "fusion_kind"},
    {"left_side", "", "triangular_solve_options.left_side"},
    {"lhs_batch_dims", "lhs_ragged_dims", "ragged_dot_dimension_numbers.dot_dimension_numbers.lhs_batch_dimensions"},
    {"lhs_batch_dims", "", "dot_dimension_numbers.lhs_batch_dimensions"},
    {"lhs_contracting_dims", "lhs_ragged_dims",
     "ragged_dot_dimension_numbers.dot_dimension_numbers.lhs_contracting_dimensions"},
    {"lhs_contracting_dims", "", "dot_dimension_numbers.lhs_contracting_dimensions"},
    {"lhs_ragged_dims", "", "ragged_dot_dimension_numbers.lhs_ragged_dimensions"},
    {"lower", "left_side", "triangular_solve_options.lower"},
    {"lower", "", "cholesky_options.lower"},
    {"mode", "", "", 0, &kNotStored},  // implied by channel_id and use_global_device_ids
    {"offset_dims", "", "gather_dimension_numbers.offset_dims"},
    {"operand_batching_dims", "", "gather_dimension_numbers.operand_batching_dims"},
    {"operand_precision", "", "precision_config.operand_precision"},
    {"order", "", "comparison_order"},
    {"parameter_replication", "", "parameter_replication.replicated_at_leaf_buffers"},
    {"rhs_batch_dims", "lhs_ragged_dims", "ragged_dot_dimension_numbers.dot_dimension_numbers.rhs_batch_dimensions"},
    {"rhs_batch_dims", "", "dot_dimension_numbers.rhs_batch_dimensions"},
    {"rhs_contracting_dims", "lhs_ragged_dims",
     "ragged_dot_dimension_numbers.dot_dimension_numbers.rhs_contracting_dimensions"},
    {"rhs_contracting_dims", "", "dot_dimension_numbers.rhs_contracting_dimensions"},
    {"rhs_group_dims", "", "ragged_dot_dimension_numbers.rhs_group_dimensions"},
    {"scatter", "", "", 1},
    {"scatter_dims_to_operand_dims", "", "scatter_dimension_numbers.scatter_dims_to_operand_dims"},
    {"scatter_indices_batching_dims", "", "scatter_dimension_numbers.scatter_indices_batching_dims"},
    {"schedule", "", "custom_call_schedule"},
    {"slice_sizes", "offset_dims", "gather_slice_sizes"},
    {"slice_sizes", "", "", 0, &kSliceSizesCodec},
    {"start_index_map", "", "gather_dimension_numbers.start_index_map"},
    {"start_indices_batching_dims", "", "gather_dimension_numbers.start_indices_batching_dims"},
    {"to_apply", "called_computations", "", 0, &kNotStored},  // read as called_computations
    {"transpose_a", "", "triangular_solve_options.transpose_a"},
    {"type", "", "comparison_type"},
    {"unit_diagonal", "", "triangular_solve_options.unit_diagonal"},
    {"update_window_dims", "", "scatter_dimension_numbers.update_window_dims"},
};

std::vector<const google::protobuf::FieldDescriptor*> ResolvePath(std::string_view path) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  const google::protobuf::Descriptor* message = proto::HloInstructionProto::descriptor();
  while (message != nullptr && !path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    fields.push_back(message->FindFieldByName(std::string(path.substr(0, dot))));
    if (fields.back() == nullptr) return {};
    message = fields.back()->message_type();
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return fields;
}

AttrField FieldOf(const AttrDef& def, std::span<const AttrDef> own) {
  AttrField field{&def, CodecOf(def.kind), {}, 0};
  std::string_view path = def.name;
  for (const FieldLocation& location : kFieldLocations) {
    if (location.attribute != def.name) continue;
    if (!location.sibling.empty() && FindAttr(own, AttrId(location.sibling)) == nullptr) continue;
    path = location.path;
    field.position = location.position;
    if (location.codec != nullptr) field.codec = location.codec;
    break;
  }
  field.path = ResolvePath(path);
  // These codecs need a field path; the others access a specific message.
  constexpr const AttrCodec* kPlain[] = {&kBoolCodec, &kIntCodec,      &kFloatCodec, &kStringCodec,
                                         &kEnumCodec, &kEnumListCodec, &kIntsCodec,  &kBoolsCodec};
  const bool plain = std::find(std::begin(kPlain), std::end(kPlain), field.codec) != std::end(kPlain);
  SHOAL_CHECK(!plain || !field.path.empty(), std::string(def.name).c_str());
  return field;
}

std::vector<AttrField> MakeFields(Opcode opcode) {
  std::vector<AttrField> fields;
  const std::span<const AttrDef> own = Info(opcode).attrs;
  for (const AttrDef& def : own) fields.push_back(FieldOf(def, own));
  for (const AttrDef& def : CommonAttrs())
    if (FindAttr(opcode, def.id) != nullptr && FindAttr(own, def.id) == nullptr) fields.push_back(FieldOf(def, own));
  return fields;
}

}  // namespace

std::span<const AttrField> FieldsOf(Opcode opcode) {
  static const auto* const kFields = [] {
    auto* fields = new std::array<std::vector<AttrField>, kOpcodeCount + 1>;
    for (int i = 0; i <= kOpcodeCount; ++i) (*fields)[static_cast<size_t>(i)] = MakeFields(static_cast<Opcode>(i));
    return fields;
  }();
  return (*kFields)[std::min<size_t>(static_cast<size_t>(opcode), kOpcodeCount)];
}

bool IsNonDefault(const AttrDef& def, const DecodedAttr& decoded) {
  if (!decoded.value) return false;
  if (def.required || def.shown == Shown::kAlways) return true;
  if (def.shown == Shown::kIfGiven || def.shown == Shown::kNever) return decoded.is_set;
  if (const bool* value = std::get_if<bool>(&*decoded.value)) return *value != (def.default_int != 0);
  if (const EnumValue* value = std::get_if<EnumValue>(&*decoded.value)) return value->index != def.default_int;
  if (const int64_t* value = std::get_if<int64_t>(&*decoded.value)) return decoded.is_set && *value != def.default_int;
  return decoded.is_set;
}

}  // namespace shoal::internal
