// Tables and trees for people: columns aligned, numbers to the right, made to fit the width of a terminal.
#pragma once

#include <string>
#include <vector>

#include "core/base/text_width.h"
#include "present/reports/terminal.h"

namespace shoal::internal {

enum class LineColor : uint8_t { kPlain, kControl, kCommunication, kFaint };

// A column, and how it gives way where lines would be too wide: those of lower order first, down to `least`; then those
// that may go altogether; what still does not fit stands below, behind the first column.
struct Column {
  Column(const char* heading, ElideMode cell_cut = ElideMode::kNever, int shrink_order = 0, size_t at_least = 12);
  Column(const std::string& heading) : Column(heading.c_str()) {}

  Column& Droppable() { return may_go = true, *this; }
  Column& Faint() { return faint = true, *this; }
  // Where no width is asked for: a cell that is wider pushes what follows it to the right.
  Column& MaxWidth(size_t columns) { return most = columns, *this; }
  Column& Right() { return right = true, *this; }

  std::string name;    // above it; one that begins with '>' is of numbers
  ElideMode cut;
  int order;
  size_t least;
  size_t most = SIZE_MAX;
  bool right = false, may_go = false, faint = false;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // Without headings; what stands in the first column is indented, and reaches into empty cells.
  static Table Tree(std::vector<Column> columns);

  void Add(std::vector<std::string> cells, LineColor color = LineColor::kPlain);
  bool empty() const { return rows_.empty(); }
  // Lines with their ends; no spaces at the ends of lines.
  std::string ToText(const TextStyle& style = OutputStyle()) const;

 private:
  friend class TableLayout;
  struct Row {
    std::vector<std::string> cells;  // as many as there are columns, or fewer
    LineColor color = LineColor::kPlain;
  };

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  bool is_tree_ = false;
};

// Sentences wrapped, what fits as it is.
std::string WrapToWidth(std::string_view text, const TextStyle& style);

// "note: …", one a line.
std::string NotesText(const std::vector<std::string>& notes);

}  // namespace shoal::internal
