#include "base/counted_diags.h"

#include <algorithm>

#include "base/strings.h"
#include "base/world.h"

namespace shoal {
namespace {

// Long lines are cut to a window around the span, so that a caret stays visible on a terminal.
constexpr size_t kLineWidth = 120;

std::string Marked(std::string_view line, size_t column, size_t length, const char* mark, const char* reset) {
  size_t start = 0;
  if (line.size() > kLineWidth && column > kLineWidth / 2) start = column - kLineWidth / 2;
  std::string shown(line.substr(start, kLineWidth));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  size_t at = column - start;
  size_t carets = std::clamp<size_t>(length, 1, shown.size() > at ? shown.size() - at : 1);
  std::string_view before = start > 0 ? "…" : "";
  std::string_view after = start + kLineWidth < line.size() ? "…" : "";
  std::string pad(2 + at + (start > 0 ? 1 : 0), ' ');
  return StrCat("\n  ", before, shown, after, "\n", pad, mark, std::string(carets, '^'), reset);
}

}  // namespace

std::vector<CountedDiag> WithoutRepeats(const Diags& diags) {
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

std::string Render(const Diag& diag, const Source& source, const DiagStyle& style) {
  const bool error = diag.severity == Severity::kError;
  const char* bold = style.color ? "\033[1m" : "";
  const char* hue = !style.color ? "" : error ? "\033[1;31m" : "\033[1;33m";
  const char* reset = style.color ? "\033[0m" : "";

  std::string out;
  if (diag.at.known()) {
    LineColumn place = source.Locate(diag.at.offset);
    StrAppend(&out, bold, source.name(), ":", place.line, ":", place.column, ": ", reset);
  } else {
    StrAppend(&out, bold, source.name(), ": ", reset);
  }
  StrAppend(&out, hue, error ? "error: " : "warning: ", reset, diag.message);
  if (!diag.rule.empty() && diag.rule != kWorldRule) StrAppend(&out, " [", diag.rule, "]");
  if (style.verbose) StrAppend(&out, " (", diag.site.file, ":", diag.site.line, ")");
  if (diag.at.known()) {
    std::string_view line = source.LineAt(diag.at.offset);
    out += Marked(line, source.Locate(diag.at.offset).column - 1, diag.at.length, hue, reset);
  }
  out += "\n";
  return out;
}

std::string Render(const Diags& diags, const Source& source, const DiagStyle& style) {
  std::string out;
  int texts[2] = {0, 0}, shown[2] = {0, 0};
  for (const CountedDiag& each : WithoutRepeats(diags)) {
    const auto severity = static_cast<size_t>(each.diag->severity);
    if (texts[severity]++ >= static_cast<int>(style.limit)) continue;
    shown[severity] += each.times;
    Diag diag = *each.diag;
    if (each.times > 1) StrAppend(&diag.message, " (", each.times, " times, here first)");
    out += Render(diag, source, style);
  }
  auto count_rest = [&](int rest, const char* what) {
    if (rest > 0) StrAppend(&out, source.name(), ": and ", rest, " more ", what, rest == 1 ? "\n" : "s\n");
  };
  count_rest(diags.errors() - shown[0], "error");
  count_rest(diags.warnings() - shown[1], "warning");
  return out;
}

}  // namespace shoal
