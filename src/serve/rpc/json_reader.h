// Reads JSON from an untrusted peer: nesting and the number of values are limited, so a small message cannot exhaust
// memory.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace shoal::internal {

// Moves long strings into the result, because an opened document arrives as one string.
Result<nlohmann::json> ReadJson(std::string_view text);

// JSON text on one line. Bytes that are not UTF-8 are replaced.
std::string WriteJson(const nlohmann::json& value);

}  // namespace shoal::internal
