// The order of keys in configurations. Private to proto/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shoal::internal {

// `json` with the fields of every object sorted and blanks dropped; nothing if it is no JSON.
std::optional<std::string> SortJson(std::string_view json);

}  // namespace shoal::internal
