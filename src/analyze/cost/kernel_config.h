// Reads values from the backend_config of any backend.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/module.h"
#include "nlohmann/json.hpp"

namespace shoal::internal {

using ConfigJson = nlohmann::json;

// The backend_config as JSON; an empty object if it is not a JSON object.
ConfigJson ConfigOf(const Instruction& hlo);
// The member of that name; an empty object if there is none.
const ConfigJson& MemberOf(const ConfigJson& object, const char* name);
// A number, also written as a string ("4"); `fallback` for other values.
double NumberOf(const ConfigJson& value, double fallback);
std::vector<double> NumbersOf(const ConfigJson& list);
// A number from the attribute dictionary of a typed custom call, {name = 3 : i64, …}.
std::optional<double> DictionaryNumber(const Instruction& hlo, std::string_view name);

}  // namespace shoal::internal
