// Diagnostics as JSON, in the format of all commands.
#pragma once

#include <string>

#include "core/base/diags.h"
#include "nlohmann/json_fwd.hpp"

namespace shoal::internal {

// {"severity", "message"} and, if known, "rule", "line", "column", "length".
nlohmann::ordered_json DiagJson(const Diag& diag, const Source* text);
// A list of distinct diagnostics; "times" counts the repeated ones.
nlohmann::ordered_json DiagsJson(const Diags& diags, const Source* text);

// The first error, with "file".
nlohmann::ordered_json FirstErrorJson(const std::string& file, const Source* text, const Diags& diags);
// {"error": the first error, "diagnostics": [all diagnostics]}
std::string ErrorJson(const std::string& file, const Source* text, const Diags& diags);

}  // namespace shoal::internal
