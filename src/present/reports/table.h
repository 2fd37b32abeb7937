// Text tables and trees with aligned columns, right-aligned numbers, fitted to the width of the terminal.
#pragma once

#include <string>
#include <vector>

#include "core/base/text_width.h"
#include "present/reports/text_style.h"

namespace shoal::internal {

enum class LineColor : uint8_t { kPlain, kControl, kCommunication, kFaint };

// If lines are too wide, columns with the lowest `shrink_order` shrink first, down to `min_width`. Next, droppable
// columns are removed. Finally, columns that do not fit move to further blocks of lines, each after the first column.
struct Column {
  Column(const char* heading, ElideMode mode = ElideMode::kNever, int order = 0, size_t min = 12);
  Column(const std::string& heading) : Column(heading.c_str()) {}

  Column& Droppable() { return droppable = true, *this; }
  Column& Faint() { return faint = true, *this; }
  // Applies only without a width limit. A wider cell shifts the cells after it to the right.
  Column& MaxWidth(size_t columns) { return max_width = columns, *this; }
  Column& Right() { return right = true, *this; }

  std::string name;    // the heading; a leading '>' means right-aligned
  ElideMode elide;
  int shrink_order;
  size_t min_width;
  size_t max_width = SIZE_MAX;
  bool right = false, droppable = false, faint = false;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // A table without headings whose first column is indented and may extend into empty cells.
  static Table Tree(std::vector<Column> columns);

  void Add(std::vector<std::string> cells, LineColor color = LineColor::kPlain);
  bool empty() const { return rows_.empty(); }
  // Each line ends with a newline and has no trailing spaces.
  std::string ToText(const TextStyle& style) const;

 private:
  friend class TableLayout;
  struct Row {
    std::vector<std::string> cells;  // at most as many as columns
    LineColor color = LineColor::kPlain;
  };

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  bool is_tree_ = false;
};

// Wraps lines that are too wide.
std::string WrapToWidth(std::string_view text, const TextStyle& style);

// "note: …", one per line.
std::string NotesText(const std::vector<std::string>& notes);

}  // namespace shoal::internal
