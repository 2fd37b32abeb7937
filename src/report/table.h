// Tables for people: columns aligned, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace shoal {

class Table {
 public:
  // A name that begins with '>' is of a column of numbers.
  explicit Table(std::vector<std::string> columns);
  void Add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Lines with their ends; no spaces at the ends of lines.
  std::string ToText() const;

 private:
  std::vector<std::string> columns_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns on a terminal; the bytes of a letter after the first take none.
size_t TextWidth(const std::string& text);

}  // namespace shoal
