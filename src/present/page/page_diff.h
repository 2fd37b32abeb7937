// The differences between the two modules of a page.
#pragma once

#include "analyze/diff/changes.h"
#include "present/page/page_module.h"

namespace shoal::internal {

struct PageDiff {
  PageDiff(const PageModule& a, const PageModule& b);

  enum Mark : uint8_t { kSame, kChanged, kOnlyHere };
  Matching matching;
  std::vector<uint8_t> a_marks, b_marks;  // by instruction id
  std::vector<Change> changes;
};

void AddDiffSection(const PageDiff& diff, const PageModule& a, const PageModule& b, PageSections& sections);

// Formats a change: "type: f32[2] → bf16[2], dot.3 and 4 more".
std::string ChangeSentence(const Change& change);

}  // namespace shoal::internal
