// What `shoal ops` says: the op table.
#pragma once

#include <string>

namespace shoal {

std::string OpsText();
// The page docs/ops.md.
std::string OpsMarkdown();
std::string OpsJson();

}  // namespace shoal
