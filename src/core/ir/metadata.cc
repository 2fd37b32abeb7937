#include "core/ir/metadata.h"

#include "core/base/strings.h"

namespace shoal::internal {

bool Metadata::operator==(const Metadata& other) const {
  std::string mine, theirs;
  AppendMetadata(mine, *this);
  AppendMetadata(theirs, other);
  return mine == theirs;
}

void AppendMetadata(std::string& out, const Metadata& metadata) {
  const size_t start = out.size();
  auto name = [&](const char* field) {
    if (out.size() > start) out += ' ';
    StrAppend(&out, field, "=");
  };
  auto text = [&](const char* field, std::string_view value) {
    if (value.empty()) return;
    name(field);
    out += '"';
    AppendEscaped(out, value);
    out += '"';
  };
  auto number = [&](const char* field, int32_t value) {
    if (value == 0) return;
    name(field);
    StrAppend(&out, value);
  };
  const RareMetadata& rare = metadata.rare();
  text("op_type", metadata.op_type);
  text("op_name", metadata.op_name);
  text("source_file", metadata.source_file);
  number("source_line", metadata.source_line);
  number("source_end_line", metadata.source_end_line);
  number("source_column", metadata.source_column);
  number("source_end_column", metadata.source_end_column);
  if (!rare.profile_type.empty()) {
    name("profile_type");
    StrAppend(&out, "{", StrJoin(rare.profile_type, ","), "}");
  }
  text("deduplicated_name", rare.deduplicated_name);
  if (!rare.scheduling_name.empty()) {  // the one string that XLA does not escape
    name("scheduling_name");
    StrAppend(&out, "\"", rare.scheduling_name, "\"");
  }
  number("stack_frame_id", metadata.stack_frame_id);
  if (rare.has_payload) {
    name("metadata_payload");
    out += '"';
    AppendEscaped(out, rare.payload);
    out += '"';
  }
}

}  // namespace shoal::internal
