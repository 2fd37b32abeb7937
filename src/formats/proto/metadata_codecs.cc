// Data that a compiler adds to the program: metadata, statistics, original values, backend configurations.
#include <algorithm>

#include "core/base/strings.h"
#include "formats/proto/attr_fields.h"
#include "formats/proto/sort_json.h"

namespace shoal::internal {
namespace {

DecodeResult ReadMetadataAttr(const AttrField&, const AttrSource& source) {
  // XLA writes an empty message for every instruction.
  if (source.from.metadata().ByteSizeLong() == 0) return DecodedAttr{};
  SHOAL_ASSIGN(metadata, ReadMetadata(source.module, source.payloads, source.from.metadata()));
  const Metadata* result = source.module.arena.New<Metadata>(metadata);
  return DecodedAttr{result};
}

void WriteMetadataAttr(const AttrField&, const AttrValue* value, AttrTarget& target) {
  if (const Metadata* const* attr = Get<const Metadata*>(value)) WriteMetadata(**attr, target.to.mutable_metadata());
}

DecodeResult ReadFrontend(const AttrField&, const AttrSource& source) {
  const auto attributes = ReadFrontendAttributes(source.module, source.from.frontend_attributes());
  return DecodedAttr{attributes, !attributes.empty()};
}

void WriteFrontend(const AttrField&, const AttrValue* value, AttrTarget& target) {
  if (const auto* attr = Get<std::span<const FrontendAttribute>>(value))
    WriteFrontendAttributes(*attr, target.to.mutable_frontend_attributes());
}

DecodeResult ReadStatistics(const AttrField&, const AttrSource& source) {
  const proto::StatisticsViz& from = source.from.statistics_viz();
  if (from.statistics_size() == 0) return DecodedAttr{};
  std::vector<Statistic> values;
  for (const proto::Statistic& statistic : from.statistics())
    values.push_back({source.module.arena.CopyString(statistic.stat_name()), statistic.stat_val()});
  const Statistics* result =
      source.module.arena.New<Statistics>(from.stat_index_to_visualize(), source.module.arena.Copy(values));
  return DecodedAttr{result};
}

void WriteStatistics(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const Statistics* const* attr = Get<const Statistics*>(value);
  if (attr == nullptr) return;
  proto::StatisticsViz* to = target.to.mutable_statistics_viz();
  to->set_stat_index_to_visualize((*attr)->visualizing_index);
  for (const Statistic& statistic : (*attr)->values) {
    proto::Statistic* one = to->add_statistics();
    Assign(one->mutable_stat_name(), statistic.name);
    one->set_stat_val(statistic.value);
  }
}

bool AnyNegative(Ints ints) {
  return std::any_of(ints.begin(), ints.end(), [](int64_t i) { return i < 0; });
}

// Reads the array of an original value's element. Until May 2025, its fields were directly in the element; a name
// starts with a letter or '_', which cannot be the first byte of a message.
Result<OriginalArray> ReadElementArray(Module& module, const proto::OriginalValueElementProto& from) {
  const std::string& bytes = from.original_array();
  constexpr char kFirstLetter = 'A';
  if (!bytes.empty() && bytes[0] >= kFirstLetter)
    return OriginalArray{module.arena.CopyString(bytes), CopyInts(module, from.array_shape_index())};
  proto::OriginalArrayProto array;
  if (!array.ParseFromString(bytes)) return Fail("original_value: an element has a corrupt original_array");
  return ReadOriginalArray(module, array);
}

DecodeResult ReadOriginalValue(const AttrField&, const AttrSource& source) {
  if (!source.from.has_original_value()) return DecodedAttr{};
  Module& module = source.module;
  const proto::OriginalValueProto& from = source.from.original_value();
  OriginalValue value;
  std::vector<std::string_view> calls;
  if (from.is_synthetic_call()) calls.push_back("");
  if (!from.call_hierarchy().empty()) calls.push_back(module.arena.CopyString(from.call_hierarchy()));
  for (const std::string& call : from.shoal_calls()) calls.push_back(module.arena.CopyString(call));
  value.calls = module.arena.Copy(calls);
  std::vector<OriginalValue::Leaf> leaves;
  for (const proto::OriginalValueElementProto& element : from.elements()) {
    if (from.is_synthetic_call()) break;
    // XLA drops the whole original value if an index is negative.
    const Ints index = CopyInts(module, element.shape_index());
    SHOAL_ASSIGN(array, ReadElementArray(module, element));
    if (AnyNegative(index) || AnyNegative(array.shape_index)) return DecodedAttr{};
    leaves.push_back({index, array});
  }
  value.leaves = module.arena.Copy(leaves);
  const OriginalValue* result = module.arena.New<OriginalValue>(value);
  return DecodedAttr{result};
}

void WriteOriginalValue(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const OriginalValue* const* attr = Get<const OriginalValue*>(value);
  if (attr == nullptr) return;
  proto::OriginalValueProto* to = target.to.mutable_original_value();
  const bool synthetic = (*attr)->calls.size() == 1 && (*attr)->calls[0].empty() && (*attr)->leaves.empty();
  to->set_is_synthetic_call(synthetic);
  const bool one = (*attr)->calls.size() == 1 && !(*attr)->calls[0].empty();
  if (one) {
    Assign(to->mutable_call_hierarchy(), (*attr)->calls[0]);
  } else if (!synthetic) {
    for (std::string_view call : (*attr)->calls) to->add_shoal_calls(std::string(call));
  }
  for (const OriginalValue::Leaf& leaf : (*attr)->leaves) {
    proto::OriginalValueElementProto* element = to->add_elements();
    Assign(element->mutable_shape_index(), leaf.index);
    if (leaf.array.instruction_name.empty()) continue;
    proto::OriginalArrayProto array;
    WriteOriginalArray(leaf.array, &array);
    element->set_original_array(array.SerializeAsString());
  }
}

DecodeResult ReadBackendConfig(const AttrField&, const AttrSource& source) {
  const proto::HloInstructionProto& from = source.from;
  const std::string* text = &from.backend_config();
  if (from.has_backend_config_payload()) {
    const proto::Payload& payload = from.backend_config_payload();
    text = &payload.value();
    if (payload.payload_source_case() == proto::Payload::kId) {
      if (payload.id() < 0 || payload.id() >= source.payloads.size())
        return Fail(
            StrCat("backend_config: payload id must lie in [0, ", source.payloads.size(), "), got ", payload.id()));
      text = &source.payloads[static_cast<int>(payload.id())];
    }
  }
  // Executables print configurations with sorted keys, but store them unsorted.
  std::optional<std::string> sorted;
  if (source.from_executable && (sorted = SortJson(*text))) text = &*sorted;
  return DecodedAttr{source.module.arena.CopyString(*text), !text->empty()};
}

void WriteBackendConfig(const AttrField&, const AttrValue* value, AttrTarget& target) {
  if (const std::string_view* attr = Get<std::string_view>(value)) Assign(target.to.mutable_backend_config(), *attr);
}

}  // namespace

const AttrCodec kMetadataCodec{ReadMetadataAttr, WriteMetadataAttr};
const AttrCodec kFrontendAttributesCodec{ReadFrontend, WriteFrontend};
const AttrCodec kStatisticsCodec{ReadStatistics, WriteStatistics};
const AttrCodec kOriginalValueCodec{ReadOriginalValue, WriteOriginalValue};
const AttrCodec kBackendConfigCodec{ReadBackendConfig, WriteBackendConfig};

}  // namespace shoal::internal
