#include "core/base/text_width.h"

#include <algorithm>
#include <iterator>

namespace shoal::internal {
namespace {

struct Range {
  uint32_t first, last;
};
// The common blocks of Unicode's EastAsianWidth.txt (W and F) and of the general categories Mn, Me and Cf.
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
                           {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},
                           {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
                           {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr Range kNarrow[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
                             {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
                             {0x202a, 0x202e}, {0x2060, 0x2064}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};

template <size_t kCount>
bool IsIn(const Range (&ranges)[kCount], uint32_t letter) {
  const Range* after = std::upper_bound(std::begin(ranges), std::end(ranges), letter,
                                        [](uint32_t value, const Range& range) { return value < range.first; });
  return after != std::begin(ranges) && letter <= std::prev(after)->last;
}

// The first letter of a non-empty text: its size in bytes and its width in columns.
struct Letter {
  size_t bytes = 1, columns = 1;
};

Letter FirstLetter(std::string_view text) {
  if (text.starts_with("\033[")) return {std::min(text.find('m'), text.size() - 1) + 1, 0};  // a colour
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t bytes = byte(0) < 0xc2 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : byte(0) < 0xf5 ? 4 : 1;
  if (bytes == 1 || bytes > text.size()) return {};
  uint32_t letter = byte(0) & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    letter = letter << 6 | (byte(i) & 0x3f);
  }
  return {bytes, IsIn(kNarrow, letter) ? 0u : IsIn(kWide, letter) ? 2u : 1u};
}

// Length in bytes of the longest prefix that fits into `columns`.
size_t HeadBytes(std::string_view text, size_t columns) {
  size_t at = 0, width = 0;
  while (at < text.size()) {
    const Letter letter = FirstLetter(text.substr(at));
    if (width + letter.columns > columns) break;
    width += letter.columns;
    at += letter.bytes;
  }
  return at;
}

// Offset of the longest suffix that fits into `columns`.
size_t TailStart(std::string_view text, size_t columns) {
  size_t at = 0;
  for (size_t width = TextWidth(text); width > columns;) {
    const Letter letter = FirstLetter(text.substr(at));
    width -= letter.columns;
    at += letter.bytes;
  }
  return at;
}

// End of the first line when `line` is wrapped at `columns`, and start of the next: at a space, or within a long word.
std::pair<size_t, size_t> Break(std::string_view line, size_t columns) {
  size_t end = HeadBytes(line, columns);
  if (end == 0) end = FirstLetter(line).bytes;
  const size_t text = std::min(line.find_first_not_of(' '), line.size()), space = line.rfind(' ', end);
  if (space == std::string_view::npos || space < text) return {end, end};
  return {line.find_last_not_of(' ', space) + 1, std::min(line.find_first_not_of(' ', space), line.size())};
}

void AppendWrapped(std::string& out, std::string_view line, size_t width, size_t hang) {
  size_t indent = 0;
  const size_t deeper = std::min(std::min(line.find_first_not_of(' '), line.size()) + hang, width / 2);
  while (TextWidth(line) > width - indent) {
    const auto [end, next] = Break(line, width - indent);
    out.append(indent, ' ').append(line.substr(0, end)) += '\n';
    line.remove_prefix(next);
    indent = deeper;
  }
  out.append(line.empty() ? 0 : indent, ' ').append(line);
}

}  // namespace

size_t TextWidth(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    const Letter letter = FirstLetter(text.substr(at));
    width += letter.columns;
    at += letter.bytes;
  }
  return width;
}

std::string ElideTo(std::string_view text, size_t columns, ElideMode mode) {
  if (mode == ElideMode::kNever || TextWidth(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  const size_t rest = columns - 1;
  std::string shown;
  if (mode == ElideMode::kPath) {
    const size_t slash = text.find('/', TailStart(text, rest));
    mode = ElideMode::kLeft;
    if (slash != std::string_view::npos) return shown.append("…").append(text.substr(slash));
  }
  const size_t head = mode == ElideMode::kRight ? rest : mode == ElideMode::kMiddle ? rest / 2 : 0;
  shown.append(text.substr(0, HeadBytes(text, head))).append("…");
  return shown.append(text.substr(TailStart(text, rest - head)));
}

std::string Wrapped(std::string_view text, size_t width, size_t hang) {
  if (width == 0) return std::string(text);
  std::string out;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    AppendWrapped(out, text.substr(start, end - start), width, hang);
    if (end < text.size()) out += '\n';
    start = end + 1;
  }
  return out;
}

}  // namespace shoal::internal
