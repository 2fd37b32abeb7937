// Tables for people: columns aligned, numbers to the right.
#pragma once

#include <optional>
#include <string>
#include <string_view>
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
// 1.23e15 as "1.23 P", with the prefixes k, M, G, T, P, E; small numbers as they are.
std::string Scaled(double number);
// 1536 as "1.5 KiB" and so on.
std::string Bytes(double bytes);
// The other way round: "80GB", "1.5 GiB", "4096"; nothing if that is no number of bytes.
std::optional<int64_t> BytesNamed(std::string_view text);
// "3 loops", "1 loop".
std::string Counted(int64_t count, const char* what);

}  // namespace shoal
