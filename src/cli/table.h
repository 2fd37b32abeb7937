// Tables for people.
#pragma once

#include <string>
#include <vector>

namespace shoal {

using TableRow = std::vector<std::string>;

// Columns as wide as they must be, two spaces between them; each row a line.
std::string Table(const std::vector<TableRow>& rows);

}  // namespace shoal
