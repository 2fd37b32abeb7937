// ParseModule: the whole text, or the beginning of one that breaks off.
#include <algorithm>

#include "formats/text/module_parser.h"

namespace shoal::internal {
namespace {

std::unique_ptr<Module> ParseText(std::unique_ptr<Source>& source, std::string_view text, const ParseOptions& options,
                                  bool truncated, Diags& diags, std::optional<uint32_t>* broken_from = nullptr) {
  auto module = std::make_unique<Module>(std::move(source));
  int errors = diags.errors();
  Parser parser(*module, text, options, truncated, diags);
  bool read = parser.Run();
  if (broken_from != nullptr) *broken_from = parser.FirstUnreadableOffset();
  if (read && diags.errors() == errors) return module;
  source = std::move(module->source);
  return nullptr;
}

// Whether a text breaks off in what it begins with: a string or a bracket stays open, or an instruction is not followed
// by the brace that closes its computation.
bool BreaksOff(std::string_view rest, bool in_computation) {
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
  const Diags before = diags;
  const std::string_view text = source->text();
  std::optional<uint32_t> broken_from;
  if (std::unique_ptr<Module> module = ParseText(source, text, options, false, diags, &broken_from)) return module;
  if (options.strict) return nullptr;
  // A dump of which the end is missing: its whole lines, or what stands before the instruction in which it breaks off,
  // if nothing else is wrong with that.
  std::vector<std::string_view> beginnings{text.substr(0, text.rfind('\n') + 1)};
  if (broken_from) {
    const std::string_view beginning = text.substr(0, *broken_from);
    const bool in_computation = beginning.rfind('{') != beginning.npos && beginning.find_last_not_of(" \t\r\n") != beginning.rfind('}');
    if (BreaksOff(text.substr(*broken_from), in_computation)) beginnings.push_back(beginning);
  }
  for (const std::string_view beginning : beginnings) {
    Diags again = before;
    std::unique_ptr<Module> module = ParseText(source, beginning, options, true, again);
    if (module == nullptr) continue;
    const bool said = std::any_of(again.found().begin(), again.found().end(), [](const Diag& diag) { return diag.rule == kCutShortRule; });
    if (!said && beginning.size() < text.size())
      again.Warn({static_cast<uint32_t>(beginning.size()), 1}, kCutShortRule, "the text ends inside a computation that begins here");
    diags = std::move(again);
    return module;
  }
  return nullptr;
}

}  // namespace shoal::internal
