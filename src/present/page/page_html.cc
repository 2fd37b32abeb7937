#include "present/page/page_html.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "analyze/facts/source_lines.h"
#include "analyze/summary/module_role.h"
#include "analyze/summary/totals.h"
#include "analyze/summary/work_kind.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "present/page/page_text.h"
#include "present/page/findings.h"

namespace shoal::internal {
namespace {

// Returns the code point of a UTF-8 character and its size in bytes. An invalid byte counts as U+FFFD.
std::pair<uint32_t, size_t> CharacterAt(std::string_view text, size_t at) {
  const auto first = static_cast<uint8_t>(text[at]);
  const size_t size = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (size == 1) return {first, 1};
  if (size == 0 || first > 0xF4 || at + size > text.size()) return {0xFFFD, 1};
  uint32_t code_point = first & (0xFF >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    const auto next = static_cast<uint8_t>(text[at + i]);
    if ((next & 0xC0) != 0x80) return {0xFFFD, 1};
    code_point = code_point << 6 | (next & 0x3F);
  }
  const bool is_overlong = (size == 3 && code_point < 0x800) || (size == 4 && code_point < 0x10000);
  if (is_overlong || code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000)) return {0xFFFD, 1};
  return {code_point, size};
}

// True for characters that change the direction of the following text.
bool IsDirectionalMark(uint32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

void AppendCharacter(std::string& out, uint32_t c, std::string_view bytes) {
  if (c < 0x20) {
    StrAppend(&out, "&#", 0x2400 + c, ";");
  } else if (c == 0x7F) {
    out += "&#9249;";
  } else if (c == 0xFFFD || (c >= 0x80 && c < 0xA0) || IsDirectionalMark(c)) {
    out += "&#65533;";
  } else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'') {
    StrAppend(&out, "&#", c, ";");
  } else {
    out += bytes;
  }
}

class Html {
 public:
  std::string out;

  void Raw(std::string_view html) { out += html; }
  void Text(std::string_view text) { out += HtmlText(text); }
  // A name from the module, isolated so that its text direction does not affect its surroundings.
  void Name(std::string_view text) { StrAppend(&out, "<bdi>", HtmlText(text), "</bdi>"); }
  void Metric(std::string_view name, std::string_view value, std::string_view note = "") {
    StrAppend(&out, "<div class=figure><dt>", HtmlText(name), "</dt><dd>", HtmlText(value), "</dd>");
    if (!note.empty()) StrAppend(&out, "<dd class=note>", HtmlText(note), "</dd>");
    out += "</div>";
  }
};

// "model.py, layers.py and 3 more"
std::string Sources(const PageModule& page) {
  std::set<std::string> files;
  for (const Computation* computation : page.module.computations)
    for (const Instruction* hlo : computation->instructions) {
      std::string location = page.facts->sources().LocationOf(*hlo);
      location.resize(location.rfind(':') == std::string::npos ? 0 : location.rfind(':'));
      if (!location.empty()) files.insert(location.substr(location.find_last_of('/') + 1));
    }
  constexpr size_t kMax = 3;
  std::string text;
  size_t count = 0;
  for (const std::string& file : files)
    if (count++ < kMax) StrAppend(&text, text.empty() ? "" : ", ", file);
  if (count > kMax) StrAppend(&text, " and ", count - kMax, " more");
  return text;
}

void WriteSummary(const PageModule& page, Html& html) {
  static constexpr const char* kBackends[] = {"CPU", "GPU", "TPU"};
  html.Raw("<p class=what>");
  html.Raw(StrCat(Grouped(static_cast<int64_t>(page.ids.size()), "instruction"), " in ",
                  Grouped(std::ssize(page.module.computations), "computation"), ", "));
  html.Raw(page.module.is_scheduled ? "scheduled" : "without a schedule");
  html.Raw(StrCat(", backend ", kBackends[static_cast<size_t>(page.facts->memory().backend)], " (inferred). "));
  html.Text(StrCat("Runs on ", page.facts->devices().from));
  if (page.facts->collectives().mesh && !page.facts->collectives().mesh->ToText().empty()) {
    html.Raw("; mesh ");
    html.Name(page.facts->collectives().mesh->ToText());
  }
  html.Raw(". ");
  if (const std::string_view role = ToString(RoleOf(*page.facts)); !role.empty()) {
    html.Raw(StrCat("Role: ", role));
    if (const std::string line = MainLineOf(*page.facts); !line.empty()) {
      html.Raw(", mostly ");
      html.Name(line);
    }
    html.Raw(" (inferred). ");
  }
  if (const std::string sources = Sources(page); !sources.empty()) {
    html.Raw("Source files: ");
    html.Name(sources);
    html.Raw(".");
  }
  html.Raw("</p>");
}

// Says above all numbers that another backend compiled the module than that of a machine, each sentence once.
void WriteMismatches(const PageModule& page, Html& html) {
  std::set<std::string_view> written;
  for (const Prediction& forecast : page.forecasts) {
    if (forecast.backend_mismatch.empty() || !written.insert(forecast.backend_mismatch).second) continue;
    StrAppend(&html.out, "<p class=mismatch>Warning: ", HtmlText(forecast.backend_mismatch, 10'000), "</p>");
  }
}

void WriteTotals(const PageModule& page, Html& html) {
  const SpaceMemory& device = page.facts->memory().device;
  html.Raw("<dl class=figures>");
  html.Metric("flops", FormatSi(page.facts->cost().total.flops),
              StrCat(FormatSi(page.facts->cost().total.transcendentals), " transcendentals"));
  html.Metric("memory traffic", ShortBytes(page.facts->cost().total.bytes()),
              StrCat(ShortBytes(page.facts->cost().total.bytes_read), " read, ", ShortBytes(page.facts->cost().total.bytes_written), " written"));
  html.Metric("wire bytes", ShortBytes(page.facts->totals().wire_bytes),
              StrCat("received per device, ", Grouped(std::ssize(page.facts->collectives().all), "collective")));
  html.Metric("peak memory", ShortBytes(static_cast<double>(device.peak)),
              StrCat(ShortBytes(static_cast<double>(device.arguments)), " arguments, ",
                     ShortBytes(static_cast<double>(device.temporaries)), " temporaries"));
  for (const Prediction& forecast : page.forecasts) {
    char mfu[64];
    std::snprintf(mfu, sizeof(mfu), forecast.hfu > forecast.mfu ? "%.0f %% MFU, %.0f %% HFU" : "%.0f %% MFU", 100 * forecast.mfu, 100 * forecast.hfu);
    html.Metric(StrCat("time on ", forecast.machine.name), ShortSeconds(forecast.prediction.step_seconds),
                StrCat("predicted; ", mfu));
  }
  html.Raw("</dl>");
}

// Draws one bar per machine, which divides the step time by kind.
void WriteTimeByKind(const PageModule& page, Html& html) {
  if (page.forecasts.empty()) return;
  static constexpr const char* kClasses[] = {"k0", "k2", "k1", "k3", "idle"};
  static_assert(std::size(kClasses) == kTimeKinds);
  double longest = 0;
  for (const Prediction& forecast : page.forecasts) longest = std::max(longest, forecast.prediction.step_seconds);
  html.Raw("<h2>Step time by kind</h2>");
  for (const Prediction& forecast : page.forecasts) {
    html.Raw("<div class=timebar><span>");
    html.Name(forecast.machine.name);
    html.Raw("</span><svg viewBox=\"0 0 1000 14\" preserveAspectRatio=none role=img>");
    double at = 0;
    std::string label;
    for (size_t i = 0; i < kTimeKinds; ++i) {
      const double seconds = forecast.prediction.kinds[i], width = longest > 0 ? 1000 * seconds / longest : 0;
      if (seconds <= 0) continue;
      const std::string_view kind = ToString(static_cast<TimeKind>(i));
      html.Raw(StrCat("<rect class=", kClasses[i], " fill=currentColor x=", at, " y=0 height=14 width=", width,
                      "><title>", kind, " ", ShortSeconds(seconds), "</title></rect>"));
      StrAppend(&label, label.empty() ? "" : ", ", kind, " ", ShortSeconds(seconds));
      at += width;
    }
    html.Raw("</svg></div><p class=note>");
    html.Text(label);
    html.Raw("</p>");
  }
}

void WriteList(const char* title, const std::vector<Finding>& rows, const char* none, Html& html) {
  html.Raw(StrCat("<h2>", title, "</h2>"));
  if (rows.empty()) {
    html.Raw(StrCat("<p class=muted>", none, "</p>"));
    return;
  }
  constexpr size_t kMax = 12;
  html.Raw("<ul>");
  for (size_t i = 0; i < rows.size() && i < kMax; ++i) {
    html.Raw("<li>");
    if (!rows[i].address.empty()) StrAppend(&html.out, "<a href=\"#", HtmlText(rows[i].address, 100'000), "\">");
    html.Name(rows[i].sentence);
    if (!rows[i].address.empty()) html.Raw("</a>");
    html.Raw("</li>");
  }
  if (rows.size() > kMax) StrAppend(&html.out, "<li class=muted>and ", rows.size() - kMax, " more</li>");
  html.Raw("</ul>");
}

void WriteModule(const PageModule& page, const char* letter, Html& html) {
  html.Raw(StrCat("<section class=module data-module=", letter, "><div class=left><h1>"));
  html.Name(page.module.name.empty() ? page.file : page.module.name);
  html.Raw("</h1>");
  WriteSummary(page, html);
  WriteMismatches(page, html);
  html.Raw("<h2>Per device and step</h2>");
  WriteTotals(page, html);
  WriteTimeByKind(page, html);
  html.Raw("<div class=pictures></div></div><div class=right>");
  WriteList("Potential issues", FindIssues(page), "none found", html);
  std::vector<Finding> assumptions;
  for (const std::string& sentence : page.assumptions) assumptions.push_back({sentence, ""});
  WriteList("Assumptions", assumptions, "none", html);
  html.Raw("</div></section>");
}

// Changes of collectives come first, those of data movement last; what B adds precedes what it removes.
std::pair<int, int> RankOf(const Change& change, const PageModule& a, const PageModule& b) {
  const int what = change.kind == ChangeKind::kAdded ? 0 : change.kind == ChangeKind::kRemoved ? 2 : 1;
  const Instruction* hlo = change.instruction();
  if (hlo == nullptr) return {1, what};
  const WorkKind kind = WorkKindOf(*hlo, (change.b != nullptr ? b : a).facts->fusion_works());
  return {kind == WorkKind::kCollective ? 0 : kind == WorkKind::kMove || kind == WorkKind::kNone ? 2 : 1, what};
}

void WriteChanges(const PageDiff& diff, const PageModule& a, const PageModule& b, Html& html) {
  std::vector<Finding> rows;
  std::vector<Change> changes = diff.changes;
  std::stable_sort(changes.begin(), changes.end(), [&](const Change& x, const Change& y) { return RankOf(x, a, b) < RankOf(y, a, b); });
  for (const Change& change : changes)
    rows.push_back({ChangeSentence(change), change.instruction() == nullptr
                                                ? std::string()
                                                : StrCat("program&", change.b == nullptr ? "" : "m=b&",
                                                         AddressOf(*change.instruction()))});
  WriteList("Changes", rows, "none: the modules are semantically equal", html);
}

}  // namespace

std::string HtmlText(std::string_view text, size_t max_characters) {
  std::string out;
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    if (count == max_characters) return out + "…";
    const auto [code_point, size] = CharacterAt(text, at);
    AppendCharacter(out, code_point, text.substr(at, size));
    at += size;
  }
  return out;
}

std::string PageHtml(const PageModule& a, const PageModule* b, const PageDiff* diff, std::string_view data) {
  const PageAsset script = PageScript(), style = PageStyle();
  Html html;
  html.Raw("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n");
  html.Raw(StrCat("<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; script-src 'sha256-",
                  script.sha256, "'; style-src 'sha256-", style.sha256,
                  "'; img-src blob: data:; base-uri 'none'; form-action 'none'\">\n"));
  html.Raw("<meta name=viewport content=\"width=device-width, initial-scale=1\">\n<link rel=icon href=\"data:,\">\n");
  html.Raw("<title>");
  html.Text(StrCat(a.module.name.empty() ? a.file : a.module.name, b == nullptr ? "" : " vs. ",
                   b == nullptr ? "" : b->module.name.empty() ? b->file : b->module.name, " · shoal"));
  html.Raw(StrCat("</title>\n<style>", style.text, "</style>\n</head>\n<body>\n<div id=app></div>\n<main id=overview>"));
  if (diff != nullptr) WriteChanges(*diff, a, *b, html);
  WriteModule(a, "a", html);
  if (b != nullptr) WriteModule(*b, "b", html);
  html.Raw("</main>\n<noscript><p class=muted>The other views require JavaScript.</p></noscript>\n");
  html.Raw("<script type=\"application/octet-stream\" id=shoal-data>");
  html.out += Base64(data);
  html.Raw(StrCat("</script>\n<script>", script.text, "</script>\n</body>\n</html>\n"));
  return std::move(html.out);
}

}  // namespace shoal::internal
