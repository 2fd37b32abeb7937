#include "report/columns.h"

#include <algorithm>

#include "report/table.h"

namespace shoal {
namespace {

constexpr size_t kMostHead = 48;
constexpr size_t kLeastShrunk = 14;

const char* Code(LineColor color) {
  static constexpr const char* kCodes[] = {"", "\033[1;34m", "\033[33m", "\033[2m"};
  return kCodes[static_cast<size_t>(color)];
}

// The last `columns` columns of the text, or all of it.
std::string TailOf(const std::string& text, size_t columns) {
  size_t width = TextWidth(text);
  if (width <= columns) return text;
  size_t at = 0;
  while (at < text.size() && width >= columns) {
    ++at;
    if ((text[at] & 0xc0) != 0x80) --width;
  }
  return "…" + text.substr(at);
}

std::string HeadOf(const std::string& text, size_t columns) {
  if (TextWidth(text) <= columns || columns == 0) return text;
  size_t at = 0, width = 0;
  while (at < text.size() && width + 1 < columns) {
    ++at;
    if (at == text.size() || (text[at] & 0xc0) != 0x80) ++width;
  }
  return text.substr(0, at) + "…";
}

class Page {
 public:
  Page(const std::vector<Column>& columns, const ColumnStyle& style) : columns_(columns), style_(style) {}

  void Measure(const std::vector<ColumnLine>& lines) {
    widths_.assign(columns_.size(), 0);
    for (const ColumnLine& line : lines)
      for (size_t c = 0; c < line.cells.size(); ++c)
        widths_[c] = std::max(widths_[c], std::min(TextWidth(line.cells[c]), columns_[c].most));
    for (const ColumnLine& line : lines) {
      const size_t wide = std::min(TextWidth(line.head), kMostHead), room = RoomBefore(line);
      if (wide > room) head_ = std::max(head_, wide - room);
    }
    if (style_.width != 0) Shrink();
  }

  // Each cell at its column's place, or behind what has reached beyond that.
  void Append(std::string& out, const ColumnLine& line) const {
    Put(out, line.head, 0, line.color);
    size_t at = TextWidth(line.head), left = head_ + 2;
    for (size_t c = 0; c < line.cells.size(); ++c) {
      if (widths_[c] == 0) continue;
      const bool shrinks = style_.width != 0 && columns_[c].shrinks;
      const std::string cell = shrinks ? TailOf(line.cells[c], widths_[c]) : line.cells[c];
      const size_t width = TextWidth(cell);
      if (width > 0) {
        const size_t wanted = columns_[c].right && width < widths_[c] ? left + widths_[c] - width : left;
        const size_t start = std::max(at + 2, wanted);
        if (style_.width == 0 || start < style_.width) {
          out.append(start - at, ' ');
          const bool faint = columns_[c].faint || line.color == LineColor::kFaint;
          Put(out, cell, start, faint ? LineColor::kFaint : LineColor::kPlain);
        }
        at = start + width;
      }
      left += widths_[c] + 2;
    }
    out += '\n';
  }

 private:
  // What empty cells leave to the head.
  size_t RoomBefore(const ColumnLine& line) const {
    size_t room = 0;
    for (size_t c = 0; c < line.cells.size(); ++c) {
      const size_t width = TextWidth(line.cells[c]);
      if (width > 0) return columns_[c].right && width < widths_[c] ? room + widths_[c] - width : room;
      room += widths_[c] == 0 ? 0 : widths_[c] + 2;
    }
    return SIZE_MAX;
  }

  // The widest of the columns that may shrink loses first; if that is not enough, they go.
  void Shrink() {
    size_t total = head_;
    for (size_t width : widths_) total += width == 0 ? 0 : width + 2;
    while (total > style_.width) {
      size_t widest = columns_.size();
      for (size_t c = 0; c < columns_.size(); ++c)
        if (columns_[c].shrinks && widths_[c] > 0 && (widest == columns_.size() || widths_[c] > widths_[widest]))
          widest = c;
      if (widest == columns_.size()) return;
      const size_t less = widths_[widest] > kLeastShrunk ? 1 : widths_[widest];
      widths_[widest] -= less;
      total -= widths_[widest] == 0 ? less + 2 : less;
    }
  }

  // The text, cut where the terminal ends.
  void Put(std::string& out, const std::string& text, size_t at, LineColor color) const {
    const char* code = style_.color ? Code(color) : "";
    out += code + (style_.width == 0 ? text : HeadOf(text, style_.width - std::min(at, style_.width))) +
           (*code != '\0' ? "\033[0m" : "");
  }

  const std::vector<Column>& columns_;
  const ColumnStyle& style_;
  size_t head_ = 0;
  std::vector<size_t> widths_;
};

}  // namespace

std::string ColumnText(const std::vector<ColumnLine>& lines, const std::vector<Column>& columns,
                       const ColumnStyle& style) {
  Page page(columns, style);
  page.Measure(lines);
  std::string out;
  for (const ColumnLine& line : lines) page.Append(out, line);
  return out;
}

}  // namespace shoal
