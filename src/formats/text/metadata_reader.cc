// Reads metadata and frontend attributes.
#include "formats/text/metadata_reader.h"

namespace shoal::internal {

// {a="x",b={json}}; the last of several entries with the same name is used.
bool MetadataReader::ReadFrontendAttributes(std::span<const FrontendAttribute>* attributes) {
  std::vector<FrontendAttribute> read;
  bool good = ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, [&] {
    FrontendAttribute attribute;
    if (!ReadAttrName(&attribute.name) || !ReadStringOrJson(&attribute.value)) return false;
    auto same = std::find_if(read.begin(), read.end(), [&](const auto& other) { return other.name == attribute.name; });
    if (same != read.end()) {
      same->value = attribute.value;
    } else {
      read.push_back(attribute);
    }
    return true;
  });
  std::sort(read.begin(), read.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  *attributes = module_.arena.Copy(read);
  return good;
}

// {op_type="…" op_name="…" source_line=3}, with optional commas.
bool MetadataReader::ReadMetadata(Metadata* metadata) {
  if (!Expect(Tok::kLbrace, "'{' before metadata")) return false;
  absl::InlinedVector<uint32_t, 12> seen;
  RareMetadata rare;
  while (kind() != Tok::kRbrace) {
    Eat(Tok::kComma);
    TextSpan at = token().span();
    std::string_view name;
    if (!ReadAttrName(&name)) return false;
    const uint32_t field = AttrId(name);
    if (std::find(seen.begin(), seen.end(), field) != seen.end()) return Error(at, StrCat("duplicate field ", name));
    seen.push_back(field);
    if (!ReadMetadataField(field, name, at, metadata, &rare)) return false;
  }
  if (!rare.empty()) metadata->rare_fields = module_.arena.New<RareMetadata>(rare);
  lexer_.Next();
  return true;
}

bool MetadataReader::ReadMetadataField(uint32_t field, std::string_view name, TextSpan at, Metadata* metadata,
                                       RareMetadata* rare) {
  switch (field) {
    case AttrId("op_type"):
      return ReadString(&metadata->op_type);
    case AttrId("op_name"):
      return ReadString(&metadata->op_name);
    case AttrId("source_file"):
      return ReadString(&metadata->source_file);
    case AttrId("source_line"):
      return ReadInt32(&metadata->source_line);
    case AttrId("source_end_line"):
      return ReadInt32(&metadata->source_end_line);
    case AttrId("source_column"):
      return ReadInt32(&metadata->source_column);
    case AttrId("source_end_column"):
      return ReadInt32(&metadata->source_end_column);
    case AttrId("stack_frame_id"):
      return ReadInt32(&metadata->stack_frame_id);
    case AttrId("deduplicated_name"):
      return ReadString(&rare->deduplicated_name);
    case AttrId("scheduling_name"):
      return ReadString(&rare->scheduling_name);
    case AttrId("metadata_payload"):
      rare->has_payload = true;
      return ReadString(&rare->payload);
    case AttrId("profile_type"): {
      TextSpan list = token().span();
      if (!ReadInts(&rare->profile_type)) return false;
      for (int64_t type : rare->profile_type)
        if (type < 0 || type > 3) return Error(list, StrCat("profile_type must lie in [0, 3], got ", type));
      return true;
    }
    default:
      break;
  }
  if (!TolerateDeviation(at, "loose.attribute", StrCat("unknown metadata field ", name))) return false;
  lexer_.Next();
  return true;
}

}  // namespace shoal::internal
