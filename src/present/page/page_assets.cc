#include <cctype>

#include "page_hashes.h"
#include "present/page/page_html.h"

// The build of viewer/ generates the files.
#define SHOAL_EMBED(symbol, file)                                                        \
  __asm__(".section .rodata\n.global " #symbol "\n.global " #symbol "_end\n" #symbol ":\n" \
          ".incbin \"" file "\"\n" #symbol "_end:\n.byte 0\n.text\n");                   \
  extern "C" const char symbol[];                                                        \
  extern "C" const char symbol##_end[];
SHOAL_EMBED(shoal_page_script, SHOAL_PAGE_SCRIPT)
SHOAL_EMBED(shoal_page_style, SHOAL_PAGE_STYLE)

namespace shoal::internal {
namespace {

std::string Base64OfHex(std::string_view hex) {
  auto digit = [](char c) { return c <= '9' ? c - '0' : std::tolower(c) - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return Base64(bytes);
}

}  // namespace

PageAsset PageScript() { return {{shoal_page_script, shoal_page_script_end}, Base64OfHex(kPageScriptSha256)}; }
PageAsset PageStyle() { return {{shoal_page_style, shoal_page_style_end}, Base64OfHex(kPageStyleSha256)}; }

}  // namespace shoal::internal
