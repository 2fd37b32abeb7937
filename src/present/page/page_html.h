// The page: one file that a browser opens from the disk. What it says first stands in it as plain HTML; the rest is
// data, and the script of viewer/ that draws it.
#pragma once

#include "present/page/page_diff.h"

namespace shoal::internal {

// `b` and `diff` are null for one module. The data are already packed.
std::string PageHtml(const PageModule& a, const PageModule* b, const PageDiff* diff, std::string_view data);

// Text for HTML: nothing in it is markup, control characters and marks of direction are visible, and what is longer
// than `most` characters is cut.
std::string HtmlText(std::string_view text, size_t most = 200);

// The bundle of viewer/, with what a Content-Security-Policy calls it.
struct PageAsset {
  std::string_view text;
  std::string sha256;  // base64
};
PageAsset PageScript();
PageAsset PageStyle();

}  // namespace shoal::internal
