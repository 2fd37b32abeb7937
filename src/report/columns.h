// Indented lines with columns, for trees: aligned, in colour, cut to a terminal's width.
#pragma once

#include <string>
#include <vector>

namespace shoal {

enum class LineColor : uint8_t { kPlain, kControl, kCommunication, kFaint };

struct ColumnLine {
  std::string head;  // indented
  LineColor color = LineColor::kPlain;
  std::vector<std::string> cells;  // as many as there are columns, or none; empty ones leave their room to the others
};

struct Column {
  size_t most = 40;    // a cell that is wider pushes what follows it to the right
  bool right = false;  // numbers
  bool faint = false;
  bool shrinks = false;  // loses its beginning where a line would be too wide
};

struct ColumnStyle {
  bool color = false;
  size_t width = 0;  // of the terminal; 0: lines are as long as they are
};

// Cells of a column begin below each other, where the heads and the cells before them leave room for that.
std::string ColumnText(const std::vector<ColumnLine>& lines, const std::vector<Column>& columns,
                       const ColumnStyle& style);

}  // namespace shoal
