#include "cli/commands/terminal.h"

#include "cli/commands/base.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace shoal::cli {
namespace {

constexpr size_t kMin = 40, kMax = 100000;
std::optional<size_t> requested_width;

TextStyle StyleOf(int file) {
  const bool is_terminal = isatty(file) != 0;
  size_t width = 0;
  if (const char* columns = std::getenv("COLUMNS"))
    std::from_chars(columns, columns + std::string_view(columns).size(), width);
  winsize size{};
  if (width == 0 && is_terminal && ioctl(file, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  if (width != 0) width = std::clamp(width, kMin, kMax);
  return {requested_width.value_or(width), is_terminal && std::getenv("NO_COLOR") == nullptr};
}

}  // namespace

void SetWidth(std::optional<size_t> columns) { requested_width = columns; }

std::string ValidateWidth(const std::string& text) {
  size_t width = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && (width == 0 || (width >= kMin && width <= kMax))) return "";
  return StrCat("must be 0 or in [", kMin, ", ", kMax, "], got ", text);
}

TextStyle OutputStyle() { return StyleOf(STDOUT_FILENO); }
TextStyle ErrorStyle() { return StyleOf(STDERR_FILENO); }

}  // namespace shoal::cli
