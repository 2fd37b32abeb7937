// Sorts the keys of JSON configurations. Private to formats/proto.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shoal::internal {

// Returns `json` with the fields of every object sorted and blanks removed, or nothing if it is not valid JSON.
std::optional<std::string> SortJson(std::string_view json);

}  // namespace shoal::internal
