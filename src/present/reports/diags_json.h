// What is wrong with a file, for programs: all verbs say it in the same words.
#pragma once

#include <string>

#include "core/base/diags.h"
#include "nlohmann/json_fwd.hpp"

namespace shoal::internal {

// {"severity", "message"} and, where there are some, "rule", "line", "column", "length", "times".
nlohmann::ordered_json DiagJson(const Diag& diag, const Source* text);
// A list of them.
nlohmann::ordered_json DiagsJson(const Diags& diags, const Source* text);

// The first error, with "file".
nlohmann::ordered_json FirstErrorJson(const std::string& file, const Source* text, const Diags& diags);
// {"error": that, "diagnostics": [everything that was found]}
std::string ErrorJson(const std::string& file, const Source* text, const Diags& diags);

}  // namespace shoal::internal
