// The whole page about one module, or about the differences of two.
#pragma once

#include "present/page/page_module.h"

namespace shoal::internal {

struct PageInput {
  std::string path;
  std::shared_ptr<const ModuleFacts> facts;
};
struct PageOptions {
  std::vector<Machine> machines;      // for predictions
  std::vector<std::string> profiles;  // files of measured profiles of the first module
  int64_t devices_per_node = 8;
  int64_t budget = -1;  // memory of a device in bytes; -1: not given
};
struct Page {
  std::string html;
  std::string directory;  // of the page's data, as JSON
};
// `b` is null for one module. The facts of both must have equal options.
Result<Page> MakePage(const PageInput& a, const PageInput* b, const PageOptions& options);

}  // namespace shoal::internal
