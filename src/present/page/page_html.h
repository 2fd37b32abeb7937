// The page: one file that a browser opens from disk. The overview is plain HTML; the rest is data and the script of
// viewer/ that draws it.
#pragma once

#include "present/page/page_diff.h"

namespace shoal::internal {

// `b` and `diff` are null for one module. `data` is PageSections::Packed::bytes.
std::string PageHtml(const PageModule& a, const PageModule* b, const PageDiff* diff, std::string_view data);

// Escapes text for HTML: neutralizes markup, makes control characters and directional marks visible, and truncates the
// text to `max_characters`.
std::string HtmlText(std::string_view text, size_t max_characters = 200);

// A file of the viewer bundle, with its hash for the Content-Security-Policy.
struct PageAsset {
  std::string_view text;
  std::string sha256;  // base64
};
PageAsset PageScript();
PageAsset PageStyle();

}  // namespace shoal::internal
