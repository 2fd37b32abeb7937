// Rules about devices for both shardings and replica groups. Private to core/verify.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ir/device_groups.h"

namespace shoal::internal {

// The first id that appears a second time. Fast if the ids are a permutation of 0 to n - 1.
std::optional<int64_t> FirstRepeated(Ints ids);

// Both checks return an error message, or an empty string if the rule holds.
// Checks that axis names are distinct and devices are a permutation of 0 to n - 1.
std::string CheckMesh(const Mesh& mesh);
// Checks that no axis or part of an axis is used twice, and that the size of a part divides the size of its axis.
std::string CheckAxes(const std::vector<AxisRef>& axes, const Mesh& mesh);

}  // namespace shoal::internal
