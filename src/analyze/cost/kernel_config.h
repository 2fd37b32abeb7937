// Figures from backend_config, whoever wrote it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ir/module.h"
#include "nlohmann/json.hpp"

namespace shoal::internal {

using ConfigJson = nlohmann::json;

// An empty object where it is no JSON.
ConfigJson ConfigOf(const Instruction& hlo);
// An empty object where there is none.
const ConfigJson& MemberOf(const ConfigJson& object, const char* name);
// "4" and 4 are 4.
double NumberOf(const ConfigJson& value, double otherwise);
std::vector<double> NumbersOf(const ConfigJson& list);
// Of the dictionaries typed custom calls write, {name = 3 : i64, …}.
std::optional<double> DictionaryNumber(const Instruction& hlo, std::string_view name);

}  // namespace shoal::internal
