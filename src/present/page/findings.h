// Potential performance and memory issues of a module.
#pragma once

#include "present/page/page_module.h"

namespace shoal::internal {

struct Finding {
  std::string sentence;
  std::string address;  // the URL fragment of the view that shows it; empty: none
};
std::vector<Finding> FindIssues(const PageModule& page);

// The URL fragment that selects an instruction: i=computation/name, percent-encoded.
std::string AddressOf(const Instruction& hlo);

}  // namespace shoal::internal
