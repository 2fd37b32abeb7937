// Writes a trace as a section of the page.
#pragma once

#include <functional>

#include "present/page/page_module.h"

namespace shoal::internal {

struct PageTrace {
  std::string name;
  const Trace& trace;
  bool predicted = false;
  double steps = 1;                          // number of steps in the trace
  std::function<int32_t(size_t)> instr_of;   // the instruction id of an event; -1: none
};

void AddTrace(PageModule& page, const PageTrace& input, PageSection& section);

}  // namespace shoal::internal
