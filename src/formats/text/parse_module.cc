// ParseModule: reads the whole text, or the readable part of a truncated text.
#include <algorithm>

#include "formats/text/module_parser.h"

namespace shoal::internal {
namespace {

std::unique_ptr<Module> ParseText(std::unique_ptr<Source>& source, std::string_view text, const ParseOptions& options,
                                  bool truncated, Diags& diags, std::optional<uint32_t>* first_unreadable = nullptr) {
  auto module = std::make_unique<Module>(std::move(source));
  int errors = diags.errors();
  Parser parser(*module, text, options, truncated, diags);
  bool read = parser.Run();
  if (first_unreadable != nullptr) *first_unreadable = parser.FirstUnreadableOffset();
  if (read && diags.errors() == errors) return module;
  source = std::move(module->source);
  return nullptr;
}

// True if `rest` is truncated: it ends inside a string or inside brackets, or before the brace that closes its
// computation.
bool IsTruncated(std::string_view rest, bool in_computation) {
  std::string open;  // brackets
  bool in_string = false;
  for (size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    if (in_string) continue;
    if (c == '{' || c == '(' || c == '[') open += c == '(' ? ')' : static_cast<char>(c + 2);
    if (c != '}' && c != ')' && c != ']') continue;
    if (open.empty() || open.back() != c) return false;
    open.pop_back();
  }
  return !open.empty() || in_string || in_computation;
}

}  // namespace

std::unique_ptr<Module> ParseModule(std::unique_ptr<Source>& source, const ParseOptions& options, Diags& diags) {
  if (options.strict && options.collects_deviations) {
    Diags found;
    std::unique_ptr<Module> module = ParseModule(source, {.strict = false, .collects_deviations = true}, found);
    for (Diag diag : found.found()) {
      diag.severity = Severity::kError;
      diags.Add(std::move(diag));
    }
    return module;
  }
  const Diags before = diags;
  const std::string_view text = source->text();
  std::optional<uint32_t> first_unreadable;
  if (std::unique_ptr<Module> module = ParseText(source, text, options, false, diags, &first_unreadable)) return module;
  if (options.strict) return nullptr;
  // If the end of a dump is missing, read its complete lines or, failing that, the text before the incomplete
  // instruction. Either part must have no errors.
  std::vector<std::string_view> prefixes{text.substr(0, text.rfind('\n') + 1)};
  if (first_unreadable) {
    const std::string_view prefix = text.substr(0, *first_unreadable);
    const bool in_computation = prefix.rfind('{') != prefix.npos && prefix.find_last_not_of(" \t\r\n") != prefix.rfind('}');
    if (IsTruncated(text.substr(*first_unreadable), in_computation)) prefixes.push_back(prefix);
  }
  for (const std::string_view prefix : prefixes) {
    Diags retry_diags = before;
    std::unique_ptr<Module> module = ParseText(source, prefix, options, true, retry_diags);
    if (module == nullptr) continue;
    const bool reported = std::any_of(retry_diags.found().begin(), retry_diags.found().end(),
                                      [](const Diag& diag) { return diag.rule == kTruncatedRule; });
    if (!reported && prefix.size() < text.size())
      retry_diags.Warn({static_cast<uint32_t>(prefix.size()), 1}, kTruncatedRule,
                       "the text ends inside a computation that begins here");
    diags = std::move(retry_diags);
    return module;
  }
  return nullptr;
}

}  // namespace shoal::internal
