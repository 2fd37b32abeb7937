// Messages as trees of JSON values. Nesting and the number of values are limited, so that a small message of an untrusted
// peer cannot exhaust memory. (core/base/json_reader reads files without a tree.)
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/result.h"

namespace shoal::internal {

// Needs memory for one more copy of a long string, such as an opened document, in addition to text and result.
Result<nlohmann::json> ReadJson(std::string text);

// JSON text on one line. Bytes that are not UTF-8 are replaced.
std::string WriteJson(const nlohmann::json& value);

}  // namespace shoal::internal
