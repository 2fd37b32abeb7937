// The HTML page about one module, or about the differences of two.
#pragma once

#include "shoal/predict.h"

namespace shoal::inline v0_1 {

struct PageOptions {
  std::vector<Machine> machines = {};  // for the predicted timeline
  std::vector<std::string> profiles = {};  // files of measured profiles
  int64_t devices_per_node = 8;
  std::optional<int64_t> budget = {};  // bytes of a device
};
struct HtmlPage {
  std::string html;      // one file that a browser opens from disk
  std::string contents;  // what is in it, as JSON
};
// `b`: the module to compare with.
SHOAL_API Result<HtmlPage> Page(const Facts& a, const PageOptions& options = {}, const Facts* b = nullptr);

}  // namespace shoal::inline v0_1
