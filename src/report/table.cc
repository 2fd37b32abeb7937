#include "report/table.h"

#include <algorithm>

namespace shoal {

size_t TextWidth(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

Table::Table(std::vector<std::string> columns) : columns_(std::move(columns)) {
  for (std::string& name : columns_) {
    right_.push_back(!name.empty() && name[0] == '>');
    if (right_.back()) name.erase(0, 1);
  }
}

void Table::Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::string Table::ToText() const {
  std::vector<size_t> widths;
  for (const std::string& name : columns_) widths.push_back(TextWidth(name));
  for (const auto& row : rows_)
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], TextWidth(row[c]));
  std::string out;
  auto append = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string space(widths[c] - TextWidth(cells[c]), ' ');
      line += (c == 0 ? "" : "  ") + (right_[c] ? space + cells[c] : cells[c] + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  append(columns_);
  for (const auto& row : rows_) append(row);
  return out;
}

}  // namespace shoal
