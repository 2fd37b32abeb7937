#include "present/page/page_diff.h"

#include "core/base/strings.h"
#include "nlohmann/json.hpp"

namespace shoal::internal {
namespace {

bool HasElided(const Module& module) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsElided(*hlo)) return true;
  return false;
}

// Marks an instruction as changed if a computation that it calls changed, such as an all-reduce's reducer.
void MarkCallers(const PageModule& page, std::vector<uint8_t>& marks) {
  for (uint32_t id = 0; id < marks.size(); ++id)  // callees precede their callers
    for (const Computation* callee : CalledComputations(page.ids[id])) {
      if (marks[id] != PageDiff::kSame || !IsCostedByCaller(*callee, page.facts->executions().calls())) continue;
      for (const Instruction* nested : callee->instructions)
        if (marks[page.ids(*nested)] != PageDiff::kSame) marks[id] = PageDiff::kChanged;
    }
}

}  // namespace

PageDiff::PageDiff(const PageModule& a, const PageModule& b) {
  const bool elided = HasElided(a.module) || HasElided(b.module);
  const DiffSide side_a(*a.facts, elided), side_b(*b.facts, elided);
  matching = MatchInstructions(side_a, side_b);
  const std::vector<Change> all_changes = EveryChange(side_a, side_b);
  changes = MergeEqualChanges(all_changes);
  a_marks.assign(a.ids.size(), kOnlyHere);
  b_marks.assign(b.ids.size(), kOnlyHere);
  for (uint32_t id = 0; id < matching.b_of.size(); ++id)
    if (matching.b_of[id] != kNoMatch) a_marks[id] = b_marks[matching.b_of[id]] = kSame;
  for (const Change& change : all_changes)
    if (change.a != nullptr && change.b != nullptr) a_marks[a.ids(*change.a)] = b_marks[b.ids(*change.b)] = kChanged;
  MarkCallers(a, a_marks);
  MarkCallers(b, b_marks);
}

void AddDiffSection(const PageDiff& diff, const PageModule& a, const PageModule& b, PageSections& sections) {
  using Json = nlohmann::ordered_json;
  Json changes = Json::array();
  for (const Change& change : diff.changes)
    changes.push_back({{"kind", ToString(change.kind)},
                       {"a", change.a == nullptr ? Json() : Json(a.ids(*change.a))},
                       {"b", change.b == nullptr ? Json() : Json(b.ids(*change.b))},
                       {"sentence", ChangeSentence(change)},
                       {"count", change.count}});
  PageSection& section = sections.Add("diff");
  section.Add("json", std::vector<std::string>{changes.dump(-1, ' ', false, Json::error_handler_t::replace)});
  section.Add("b_of", diff.matching.b_of);
  section.Add("a_mark", diff.a_marks);
  section.Add("b_mark", diff.b_marks);
}

std::string ChangeSentence(const Change& change) {
  std::string text(ToString(change.kind));
  if (!change.what.empty()) StrAppend(&text, " ", change.what);
  if (!change.before.empty() && !change.after.empty())
    StrAppend(&text, ": ", change.before, " → ", change.after);
  else if (!change.before.empty() || !change.after.empty())
    StrAppend(&text, ": ", change.before, change.after);
  if (const Instruction* hlo = change.instruction()) StrAppend(&text, ", ", hlo->name);
  if (change.count > 1) StrAppend(&text, " and ", change.count - 1, " more");
  return text;
}

}  // namespace shoal::internal
