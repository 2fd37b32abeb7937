#include "core/base/counted_diags.h"

#include <algorithm>

#include "core/base/diag_width.h"
#include "core/base/printable.h"
#include "core/base/strings.h"
#include "core/base/text_width.h"
#include "core/base/environment_error.h"

namespace shoal::internal {
namespace {

constexpr size_t kDefaultWidth = 123;

// Shortens long lines to a window around the span, so that the carets stay visible on a terminal.
std::string ExcerptWithCarets(std::string_view line, size_t column, size_t length, size_t width, const char* mark,
                              const char* reset) {
  std::string text(line);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  const std::string_view before = std::string_view(text).substr(0, column), rest = std::string_view(text).substr(column);
  const size_t room = (width == 0 ? kDefaultWidth : width) - 2, after = TextWidth(rest);
  const std::string left = ElideTo(before, std::max(room / 2, room - std::min(room, after)), ElideMode::kLeft);
  const std::string right = ElideTo(rest, room - TextWidth(left), ElideMode::kRight);
  const size_t carets = std::clamp<size_t>(TextWidth(rest.substr(0, length)), 1, std::max<size_t>(TextWidth(right), 1));
  return StrCat("\n  ", left, right, "\n", std::string(2 + TextWidth(left), ' '), mark, std::string(carets, '^'), reset);
}

}  // namespace

std::vector<CountedDiag> Deduplicated(const Diags& diags) {
  std::vector<CountedDiag> all;
  for (const Diag& diag : diags.found()) {
    auto same = std::find_if(all.begin(), all.end(), [&](const CountedDiag& each) {
      return diag.severity == Severity::kWarning && each.diag->severity == diag.severity &&
             each.diag->rule == diag.rule && each.diag->message == diag.message;
    });
    if (same == all.end()) {
      all.push_back({&diag, 1});
    } else {
      ++same->times;
    }
  }
  return all;
}

namespace {

std::string RenderOne(const Diag& diag, const Source& source, const DiagStyle& style, size_t width) {
  const bool error = diag.severity == Severity::kError;
  const char* bold = style.color ? "\033[1m" : "";
  const char* hue = !style.color ? "" : error ? "\033[1;31m" : "\033[1;33m";
  const char* reset = style.color ? "\033[0m" : "";

  // Names and messages may contain control characters of a file; only the colours here may reach the terminal.
  const std::string name = EscapeName(source.name());
  std::string message = EscapeForTerminal(diag.message, /*has_colors=*/false);
  if (!diag.rule.empty() && diag.rule != kEnvironmentRule)
    message.insert(std::min(message.find('\n'), message.size()), StrCat(" [", diag.rule, "]"));
  std::string out;
  if (diag.at.known()) {
    LineColumn location = source.Locate(diag.at.offset);
    StrAppend(&out, bold, name, ":", location.line, ":", location.column, ": ", reset);
  } else {
    StrAppend(&out, bold, name, ": ", reset);
  }
  StrAppend(&out, hue, error ? "error: " : "warning: ", reset, message);
  if (style.verbose) StrAppend(&out, " (", diag.site.file, ":", diag.site.line, ")");
  if (diag.at.known()) {
    std::string_view line = source.LineAt(diag.at.offset);
    out += ExcerptWithCarets(line, source.Locate(diag.at.offset).column - 1, diag.at.length, width, hue, reset);
  }
  out += "\n";
  return out;
}

}  // namespace

std::string Render(const Diag& diag, const Source& source, const DiagStyle& style) {
  return RenderOne(diag, source, style, 0);
}

std::string Render(const Diags& diags, const Source& source, const DiagStyle& style) {
  return Render(diags, source, style, 0);
}

std::string Render(const Diags& diags, const Source& source, const DiagStyle& style, size_t width) {
  std::string out;
  int distinct[2] = {0, 0}, shown[2] = {0, 0};
  for (const CountedDiag& each : Deduplicated(diags)) {
    const auto severity = static_cast<size_t>(each.diag->severity);
    if (distinct[severity]++ >= static_cast<int>(style.limit)) continue;
    shown[severity] += each.times;
    Diag diag = *each.diag;
    if (each.times > 1) StrAppend(&diag.message, " (", each.times, " times, first occurrence shown)");
    out += RenderOne(diag, source, style, width);
  }
  auto count_rest = [&](int rest, const char* noun) {
    if (rest > 0) StrAppend(&out, EscapeName(source.name()), ": and ", rest, " more ", noun, rest == 1 ? "\n" : "s\n");
  };
  count_rest(diags.errors() - shown[0], "error");
  count_rest(diags.warnings() - shown[1], "warning");
  return out;
}

}  // namespace shoal::internal
