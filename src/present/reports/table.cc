#include "present/reports/table.h"

#include <algorithm>
#include <set>

#include "core/base/printable.h"
#include "core/base/strings.h"

namespace shoal::internal {

Column::Column(const char* heading, ElideMode mode, int order, size_t min)
    : name(heading), elide(mode), shrink_order(order), min_width(min) {
  if (name.starts_with('>')) {
    right = true;
    name.erase(0, 1);
  }
}

namespace {

constexpr size_t kGap = 2;
constexpr size_t kMaxPathWidth = 40;  // for the file name and line of a path

const char* Code(LineColor color) {
  static constexpr const char* kCodes[] = {"", "\033[1;34m", "\033[33m", "\033[2m"};
  return kCodes[static_cast<size_t>(color)];
}

size_t LongestWord(std::string_view text) {
  size_t longest = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t end = std::min(text.find(' ', at), text.size());
    longest = std::max(longest, TextWidth(text.substr(at, end - at)));
    at = end;
  }
  return longest;
}

// The width of the last part of a path.
size_t TailWidth(const std::string& cell) {
  const size_t slash = cell.rfind('/');
  return TextWidth(cell) - (slash == std::string::npos ? 0 : TextWidth(cell.substr(0, slash))) +
         (slash == std::string::npos ? 0 : 1);
}

}  // namespace

class TableLayout {
 public:
  TableLayout(const Table& table, const TextStyle& style) : table_(table), columns_(table.columns_), style_(style) {
    Measure();
    if (style.width != 0) Fit();
  }

  std::string Text() const {
    if (table_.is_tree_ || style_.width == 0) return Block(widths_);
    std::string text;
    for (const std::vector<size_t>& widths : Blocks()) StrAppend(&text, text.empty() ? "" : "\n", Block(widths));
    return text;
  }

 private:
  void Measure() {
    widths_.assign(columns_.size(), 0);
    min_widths_.assign(columns_.size(), 0);
    for (size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      size_t path = 0;
      for (const Table::Row& row : table_.rows_) {
        if (c >= row.cells.size() || (table_.is_tree_ && c == 0)) continue;
        widths_[c] = std::max(widths_[c], std::min(TextWidth(row.cells[c]), style_.width == 0 ? column.max_width : SIZE_MAX));
        if (column.elide == ElideMode::kPath && !column.droppable) path = std::max(path, TailWidth(row.cells[c]));
      }
      min_widths_[c] = std::max({column.min_width, std::min(path, kMaxPathWidth), LongestWord(column.name)});
      if (!table_.is_tree_) cells_.push_back(widths_[c]), widths_[c] = std::max(widths_[c], TextWidth(column.name));
    }
    if (!table_.is_tree_) return;
    for (const Table::Row& row : table_.rows_) {
      const size_t wide = std::min(TextWidth(row.cells[0]), columns_[0].max_width), room = RoomAfter(row, 0);
      if (wide > room) widths_[0] = std::max(widths_[0], wide - room);
    }
  }

  // The width of the empty cells after a cell.
  size_t RoomAfter(const Table::Row& row, size_t cell) const {
    size_t room = 0;
    for (size_t c = cell + 1; c < row.cells.size(); ++c) {
      const size_t width = TextWidth(row.cells[c]);
      if (widths_[c] > 0 && width > 0)
        return columns_[c].right && width < widths_[c] ? room + widths_[c] - width : room;
      room += widths_[c] == 0 ? 0 : widths_[c] + kGap;
    }
    return SIZE_MAX / 2;
  }

  size_t Total(const std::vector<size_t>& widths) const {
    size_t total = 0;
    for (size_t width : widths) total += width == 0 ? 0 : width + kGap;
    return total < kGap ? 0 : total - kGap;
  }

  void Fit() {
    if (Total(widths_) <= style_.width) return;
    for (size_t c = 0; c < cells_.size(); ++c) widths_[c] = std::max(cells_[c], LongestWord(columns_[c].name));
    const std::vector<size_t> wanted = widths_;
    std::set<int> orders;
    for (const Column& column : columns_)
      if (column.elide != ElideMode::kNever || column.droppable) orders.insert(column.shrink_order);
    for (int order : orders)
      while (Total(widths_) > style_.width && Shrink(order)) {
      }
    for (int order : orders)
      for (size_t c = 0; c < columns_.size() && Total(widths_) > style_.width; ++c)
        if (columns_[c].droppable && columns_[c].shrink_order == order) widths_[c] = 0;
    // Gives the width of dropped columns to the columns with the highest shrink order.
    for (auto order = orders.rbegin(); order != orders.rend(); ++order)
      for (size_t c = 0; c < columns_.size(); ++c)
        if (columns_[c].shrink_order == *order && widths_[c] > 0 && Total(widths_) < style_.width)
          widths_[c] = std::min(wanted[c], widths_[c] + style_.width - Total(widths_));
  }

  // Makes the widest column of this order narrower. Returns false if none can shrink.
  bool Shrink(int order) {
    size_t widest = columns_.size();
    for (size_t c = 0; c < columns_.size(); ++c)
      if (columns_[c].elide != ElideMode::kNever && columns_[c].shrink_order == order && widths_[c] > min_widths_[c] &&
          (widest == columns_.size() || widths_[c] > widths_[widest]))
        widest = c;
    if (widest == columns_.size()) return false;
    --widths_[widest];
    return true;
  }

  // Divides the columns into blocks that fit the width; every block starts with the first column.
  std::vector<std::vector<size_t>> Blocks() const {
    std::vector<std::vector<size_t>> blocks;
    std::vector<size_t> block(columns_.size(), 0);
    block[0] = widths_[0];
    bool any = false;
    for (size_t c = 1; c < columns_.size(); ++c) {
      block[c] = widths_[c];
      if (any && Total(block) > style_.width) {
        block[c] = 0;
        blocks.push_back(block);
        std::fill(block.begin() + 1, block.end(), 0);
        block[c] = widths_[c];
      }
      any |= widths_[c] > 0;
    }
    blocks.push_back(std::move(block));
    return blocks;
  }

  std::string Block(const std::vector<size_t>& widths) const {
    std::string out;
    if (!table_.is_tree_) AppendHeadings(out, widths);
    for (const Table::Row& row : table_.rows_) AppendLine(out, row, widths);
    return out;
  }

  // Headings that are wider than their columns take several lines, aligned at the bottom.
  void AppendHeadings(std::string& out, const std::vector<size_t>& widths) const {
    std::vector<std::vector<std::string>> names;
    size_t lines = 1;
    for (size_t c = 0; c < columns_.size(); ++c) {
      names.emplace_back();
      const std::string name = Wrapped(columns_[c].name, widths[c], 0);
      for (size_t at = 0; widths[c] > 0 && at <= name.size(); ++at) {
        const size_t end = std::min(name.find('\n', at), name.size());
        names[c].push_back(name.substr(at, end - at));
        at = end;
      }
      lines = std::max(lines, names[c].size());
    }
    for (size_t line = 0; line < lines; ++line) {
      Table::Row row;
      for (const std::vector<std::string>& name : names)
        row.cells.push_back(line + name.size() < lines ? "" : name[line + name.size() - lines]);
      AppendLine(out, row, widths);
    }
  }

  // Each cell starts at its column, or further right if the previous cell is too wide.
  void AppendLine(std::string& out, const Table::Row& row, const std::vector<size_t>& widths) const {
    size_t at = 0, left = 0;
    for (size_t c = 0; c < row.cells.size(); ++c) {
      if (widths[c] == 0 && !(table_.is_tree_ && c == 0)) continue;
      const std::string cell = Cell(row, c, widths[c]);
      const size_t width = TextWidth(cell);
      if (width > 0) {
        const size_t wanted = columns_[c].right && width < widths[c] ? left + widths[c] - width : left;
        const size_t start = c == 0 ? wanted : std::max(at + kGap, wanted);
        if (style_.width == 0 || start < style_.width) {
          out.append(start - at, ' ');
          Put(out, style_.width == 0 ? cell : ElideTo(cell, style_.width - start, LineElideMode(c)), ColorOf(row, c));
          at = start + width;
        }
      }
      left += widths[c] + kGap;
    }
    out += '\n';
  }

  std::string Cell(const Table::Row& row, size_t c, size_t width) const {
    if (style_.width == 0) return row.cells[c];
    if (!table_.is_tree_ || c > 0) return ElideTo(row.cells[c], width, columns_[c].elide);
    return ElideTo(row.cells[c], width + RoomAfter(row, c), ElideMode::kRight);
  }

  // The elide mode of a cell that extends beyond the line.
  ElideMode LineElideMode(size_t c) const { return columns_[c].elide == ElideMode::kNever ? ElideMode::kRight : columns_[c].elide; }

  LineColor ColorOf(const Table::Row& row, size_t c) const {
    if (c == 0) return row.color;
    return columns_[c].faint || row.color == LineColor::kFaint ? LineColor::kFaint : LineColor::kPlain;
  }

  void Put(std::string& out, const std::string& text, LineColor color) const {
    const char* code = style_.color ? Code(color) : "";
    StrAppend(&out, code, text, *code != '\0' ? "\033[0m" : "");
  }

  const Table& table_;
  const std::vector<Column>& columns_;
  const TextStyle& style_;
  std::vector<size_t> widths_, min_widths_;
  std::vector<size_t> cells_;  // widths without headings
};

Table Table::Tree(std::vector<Column> columns) {
  Table table(std::move(columns));
  table.is_tree_ = true;
  return table;
}

std::string Table::ToText(const TextStyle& style) const {
  const TextStyle unlimited{0, style.color};
  const std::string whole = TableLayout(*this, unlimited).Text();
  if (style.width == 0) return whole;
  for (size_t at = 0; at < whole.size();) {
    const size_t end = whole.find('\n', at);
    if (TextWidth(std::string_view(whole).substr(at, end - at)) > style.width) return TableLayout(*this, style).Text();
    at = end + 1;
  }
  return whole;
}

void Table::Add(std::vector<std::string> cells, LineColor color) {
  for (std::string& cell : cells) cell = EscapeName(cell);
  rows_.push_back({std::move(cells), color});
}

std::string WrapToWidth(std::string_view text, const TextStyle& style) { return Wrapped(text, style.width); }

std::string NotesText(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) StrAppend(&text, "note: ", note, "\n");
  return text;
}

}  // namespace shoal::internal
