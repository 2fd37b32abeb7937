// The comparison of outputs as JSON, for `shoal compare` and `shoal run --check_snapshot`.
#pragma once

#include "present/reports/compare_report.h"
#include "present/reports/json.h"

namespace shoal::internal {

Json ComparisonsJson(const std::vector<OutputComparison>& outputs);

}  // namespace shoal::internal
