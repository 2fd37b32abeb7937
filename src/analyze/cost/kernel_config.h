// Reads values from the backend_config of any backend.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/module.h"
#include "nlohmann/json.hpp"

namespace shoal::internal {

using ConfigJson = nlohmann::json;

// Returns the backend_config as JSON, or an empty object if the config is not a JSON object.
ConfigJson ConfigOf(const Instruction& hlo);
// Returns the member `name` of an object, or an empty object if the object has no such member.
const ConfigJson& MemberOf(const ConfigJson& object, const char* name);
// Returns the value of a number or of a string with a number ("4"). Returns `fallback` for other JSON values.
double NumberOf(const ConfigJson& value, double fallback);
std::vector<double> NumbersOf(const ConfigJson& list);
// Reads a number from the attribute dictionary of a typed custom call, {name = 3 : i64, …}.
std::optional<double> DictionaryNumber(const Instruction& hlo, std::string_view name);

}  // namespace shoal::internal
