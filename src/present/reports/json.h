// JSON as all commands write it.
#pragma once

#include "nlohmann/json.hpp"

namespace shoal::internal {

struct InferredGrid;

using Json = nlohmann::ordered_json;

// The version of every JSON output; docs/schema/CHANGES.md lists what changed.
inline constexpr int kJsonVersion = 2;

// With the end of the line. Names come from files: bytes that are no UTF-8 are replaced, not refused.
std::string JsonText(const Json& json, int indent = 2);

// How many devices, and why so many.
Json DevicesJson(const InferredGrid& devices);

}  // namespace shoal::internal
