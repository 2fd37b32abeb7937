#include <algorithm>

#include "api/c/handles.h"

namespace shoal::internal {
namespace {

// Made when the library is loaded, so that it needs no memory later.
shoal_error* const no_memory = new shoal_error{MemoryError()};

}  // namespace

shoal_error* OutOfMemory() { return no_memory; }

shoal_error* MakeCError(const Error& error) {
  auto* made = new (std::nothrow) shoal_error{error};
  return made == nullptr ? OutOfMemory() : made;
}

shoal_error* WriteDiag(const shoal::Diag& diag, shoal_diag* out) {
  shoal_diag value{};
  value.is_warning = diag.severity == shoal::Severity::kWarning;
  value.line = diag.at.line;
  value.column = diag.at.column;
  value.length = diag.at.length;
  value.rule = TextOf(diag.rule);
  value.message = TextOf(diag.message);
  value.file = TextOf(diag.at.file);
  return WriteStruct(value, out);
}

}  // namespace shoal::internal

using shoal::internal::Wrong;

extern "C" {

uint32_t shoal_version(void) { return 256 * SHOAL_VERSION_MAJOR + SHOAL_VERSION_MINOR; }

const char* shoal_string_data(const shoal_string* string) { return string == nullptr ? "" : string->value.c_str(); }
size_t shoal_string_size(const shoal_string* string) { return string == nullptr ? 0 : string->value.size(); }
void shoal_string_free(shoal_string* string) { delete string; }

shoal_error_kind shoal_error_get_kind(const shoal_error* error) {
  return static_cast<shoal_error_kind>(error->value.kind());
}
size_t shoal_error_count(const shoal_error* error) { return error->value.diags().size(); }
shoal_error* shoal_error_get(const shoal_error* error, size_t index, shoal_diag* out) {
  if (index >= error->value.diags().size()) return Wrong("the index exceeds the number of diagnostics");
  return shoal::internal::WriteDiag(error->value.diags()[index], out);
}
const char* shoal_error_message(const shoal_error* error) { return error->value.message().c_str(); }
const char* shoal_error_text(const shoal_error* error) { return error->value.ToText().c_str(); }
const char* shoal_error_json(const shoal_error* error) { return error->value.ToJson().c_str(); }
void shoal_error_free(shoal_error* error) {
  if (error != shoal::internal::OutOfMemory()) delete error;
}

size_t shoal_diags_count(const shoal_diags* diags) { return diags == nullptr ? 0 : diags->value.size(); }
shoal_error* shoal_diags_get(const shoal_diags* diags, size_t index, shoal_diag* out) {
  if (diags == nullptr) return shoal::internal::Null("the diagnostics");
  if (index >= diags->value.size()) return Wrong("the index exceeds the number of diagnostics");
  return shoal::internal::WriteDiag(diags->value[index], out);
}
void shoal_diags_free(shoal_diags* diags) { delete diags; }

int32_t shoal_type_parse(const char* name) {
  const auto type = name == nullptr ? std::nullopt : shoal::ParseElementType(name);
  return static_cast<int32_t>(type.value_or(shoal::ElementType::kInvalid));
}
const char* shoal_type_name(int32_t type) {
  return type < 0 || type > 255 ? "invalid" : shoal::Name(static_cast<shoal::ElementType>(type)).data();
}
int32_t shoal_type_bytes(int32_t type) {
  return type < 0 || type > 255 ? 0 : shoal::ElementBytes(static_cast<shoal::ElementType>(type));
}

}  // extern "C"
