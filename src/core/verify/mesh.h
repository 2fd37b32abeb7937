// Rules about devices that shardings and replica groups share. Private to verify/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ir/device_groups.h"

namespace shoal::internal {

// The first id that appears a second time. Fast where the ids are 0 to n - 1 in any order.
std::optional<int64_t> FirstRepeated(Ints ids);

// Each of these says what is wrong; empty: nothing.
// Axis names differ; devices are 0 to n - 1 in some order.
std::string CheckMesh(const Mesh& mesh);
// No axis or part of one is named twice; parts divide their axis.
std::string CheckAxes(const std::vector<AxisRef>& axes, const Mesh& mesh);

}  // namespace shoal::internal
