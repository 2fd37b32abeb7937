#include "report/columns.h"

#include <algorithm>

#include "report/table.h"

namespace shoal {
namespace {

constexpr size_t kMostHead = 48;
constexpr size_t kLeastShrunk = 12;

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
    for (const ColumnLine& line : lines) {
      if (!line.cells.empty()) head_ = std::max(head_, std::min(TextWidth(line.head), kMostHead));
      for (size_t c = 0; c < line.cells.size(); ++c)
        widths_[c] = std::max(widths_[c], std::min(TextWidth(line.cells[c]), columns_[c].most));
    }
    if (style_.width == 0) return;
    size_t total = head_;
    for (size_t width : widths_) total += width == 0 ? 0 : width + 2;
    for (size_t c = 0; c < columns_.size() && total > style_.width; ++c) {
      if (!columns_[c].shrinks || widths_[c] <= kLeastShrunk) continue;
      const size_t less = std::min(total - style_.width, widths_[c] - kLeastShrunk);
      widths_[c] -= less;
      total -= less;
    }
  }

  void Append(std::string& out, const ColumnLine& line) const {
    std::vector<std::string> parts{Padded(line.head, line.cells.empty() ? 0 : head_, false)};
    std::vector<LineColor> colors{line.color};
    for (size_t c = 0; c < line.cells.size(); ++c) {
      if (widths_[c] == 0) continue;
      const bool shrinks = style_.width != 0 && columns_[c].shrinks;
      parts.push_back(
          "  " + Padded(shrinks ? TailOf(line.cells[c], widths_[c]) : line.cells[c], widths_[c], columns_[c].right));
      colors.push_back(columns_[c].faint || line.color == LineColor::kFaint ? LineColor::kFaint : LineColor::kPlain);
    }
    while (!parts.empty() && parts.back().find_last_not_of(' ') == std::string::npos) parts.pop_back();
    if (!parts.empty()) parts.back().erase(parts.back().find_last_not_of(' ') + 1);
    size_t room = style_.width == 0 ? SIZE_MAX : style_.width;
    for (size_t i = 0; i < parts.size() && room > 0; ++i) {
      const std::string part = style_.width == 0 ? parts[i] : HeadOf(parts[i], room);
      room -= std::min(room, TextWidth(part));
      const char* code = style_.color ? Code(colors[i]) : "";
      out += code + part + (*code != '\0' ? "\033[0m" : "");
    }
    out += '\n';
  }

 private:
  static std::string Padded(const std::string& text, size_t width, bool right) {
    const size_t now = TextWidth(text);
    const std::string space(now < width ? width - now : 0, ' ');
    return right ? space + text : text + space;
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
