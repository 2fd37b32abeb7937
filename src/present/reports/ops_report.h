// The output of `shoal ops`: the op table.
#pragma once

#include "present/reports/table.h"

namespace shoal::internal {

std::string OpsText(const TextStyle& style);
// The table of docs/ops.md.
std::string OpsMarkdown();
std::string OpsJson();

}  // namespace shoal::internal
