#include "formats/stablehlo/read.h"

#include <cstring>
#include <optional>

#include "formats/stablehlo/bytecode_parser.h"
#include "formats/stablehlo/import.h"
#include "formats/stablehlo/simplify.h"
#include "formats/stablehlo/text_parser.h"

namespace shoal::internal {
namespace {

// The first word of the text after comments and alias definitions.
std::string_view FirstWord(std::string_view text) {
  for (;;) {
    const size_t start = text.find_first_not_of(" \t\r\n");
    if (start == text.npos) return {};
    text.remove_prefix(start);
    const bool is_comment = text.starts_with("//");
    const bool is_alias = text[0] == '#' || text[0] == '!';
    if (!is_comment && !is_alias) return text.substr(0, text.find_first_of(" \t\r\n({<"));
    if (is_alias && text.substr(0, text.find('\n')).find('=') == text.npos) return {};
    const size_t line = text.find('\n');
    if (line == text.npos) return {};
    text.remove_prefix(line);
  }
}

// A file of jax.export is a flatbuffer that holds the artifact as a vector of bytes.
std::optional<std::string_view> ArtifactIn(std::string_view bytes) {
  constexpr std::string_view kMagic = "ML\xEFR";
  for (size_t at = bytes.find(kMagic); at != bytes.npos; at = bytes.find(kMagic, at + 1)) {
    if (at < 4) continue;
    uint32_t size = 0;
    std::memcpy(&size, bytes.data() + at - 4, 4);
    if (size >= 8 && size <= bytes.size() - at) return bytes.substr(at, size);
  }
  return std::nullopt;
}

}  // namespace

bool LooksLikeStablehlo(std::string_view bytes) {
  if (IsMlirBytecode(bytes)) return true;
  // A flatbuffer begins with the offset of its root table.
  if (bytes.size() > 16 && bytes[2] == 0 && bytes[3] == 0 && ArtifactIn(bytes)) return true;
  const std::string_view word = FirstWord(bytes.substr(0, 1 << 20));
  return word == "module" || word == "builtin.module" || word == "\"builtin.module\"" || word == "func.func" ||
         word == "\"func.func\"" || word == "sdy.mesh" || word == "func";
}

std::unique_ptr<Module> ReadStablehlo(std::unique_ptr<Source>& source, bool strict, Diags& diags) {
  const int errors = diags.errors();
  std::string_view bytes = source->text();
  const bool is_text = !IsMlirBytecode(bytes) && (bytes.size() < 4 || bytes[3] != 0);
  if (!is_text && !IsMlirBytecode(bytes)) bytes = ArtifactIn(bytes).value_or(bytes);
  std::unique_ptr<MlirModule> tree = is_text ? ParseMlirText(bytes, diags, !strict) : ParseMlirBytecode(bytes, diags);
  if (tree == nullptr) return nullptr;
  SimplifyMlir(*tree);
  std::unique_ptr<Module> module = ImportMlir(*tree, {.strict = strict}, diags);
  if (module == nullptr || diags.errors() != errors) return nullptr;
  module->source = std::move(source);
  return module;
}

}  // namespace shoal::internal
