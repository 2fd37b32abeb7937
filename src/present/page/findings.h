// What somebody who tunes a module would look at first.
#pragma once

#include "present/page/page_module.h"

namespace shoal::internal {

struct Finding {
  std::string sentence;
  std::string address;  // a fragment of the page that shows it; empty: none
};
std::vector<Finding> FindIssues(const PageModule& page);

// The fragment that selects an instruction: i=computation/name, percent-encoded.
std::string AddressOf(const Instruction& hlo);

}  // namespace shoal::internal
