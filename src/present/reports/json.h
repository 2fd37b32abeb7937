// JSON in the format of all commands.
#pragma once

#include "nlohmann/json.hpp"

namespace shoal::internal {

struct InferredGrid;

using Json = nlohmann::ordered_json;

// The version of every JSON output; docs/schema/CHANGES.md lists what changed.
inline constexpr int kJsonVersion = 2;

// Ends with a newline. Replaces invalid UTF-8, which names from files may contain.
std::string JsonText(const Json& json, int indent = 2);

// The number of devices and its origin.
Json DevicesJson(const InferredGrid& devices);

}  // namespace shoal::internal
