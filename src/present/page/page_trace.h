// A trace in the page's data.
#pragma once

#include <functional>

#include "present/page/page_module.h"

namespace shoal::internal {

struct PageTrace {
  std::string name;
  const Trace& trace;
  bool predicted = false;
  double steps = 1;                          // that it holds
  std::function<int32_t(size_t)> instr_of;   // the id of an event's instruction; -1: it belongs to none
};

void AddTrace(PageModule& page, const PageTrace& what, PageSection& section);

}  // namespace shoal::internal
