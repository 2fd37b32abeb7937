// Messages as trees of JSON values. Nesting and the number of values are limited, so that a small message of an untrusted
// peer cannot exhaust memory. (core/base/json_reader reads files without a tree.)
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
