#include "analyze/diff/changes.h"

#include <algorithm>
#include <map>

#include "analyze/diff/group_names.h"
#include "core/base/strings.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// True for ops that only forward values. Changes of such ops are counted but not listed.
bool IsForwardingOp(const DiffSide& side, uint32_t id) {
  const Instruction& hlo = side.ids[id];
  if (IsParameter(hlo)) return hlo.parent != side.module.entry;
  return IsTuple(hlo) || side.flow.ForwardingOf(id);
}

bool DoesWork(const Instruction& hlo) { return Info(hlo.opcode).op_class != OpClass::kStructure; }

std::string LoopText(const DiffSide& side, const Instruction* loop) {
  return loop == nullptr
             ? "no loop"
             : StrCat(loop->name, " in ", loop->parent == side.module.entry ? "the entry" : loop->parent->name);
}

class Comparison {
 public:
  Comparison(const DiffSide& a, const DiffSide& b) : a_(a), b_(b), matching_(MatchInstructions(a, b)) {}

  std::vector<Change> Compare() {
    for (uint32_t id = 0; id < a_.ids.size(); ++id) {
      if (matching_.b_of[id] != kNoMatch) {
        ComparePair(a_.ids[id], b_.ids[matching_.b_of[id]]);
      } else if (!IsForwardingOp(a_, id)) {
        changes_.push_back({ChangeKind::kRemoved, &a_.ids[id], nullptr, "", ToString(a_.ids[id].shape()), ""});
      }
    }
    for (uint32_t id = 0; id < b_.ids.size(); ++id)
      if (matching_.a_of[id] == kNoMatch && !IsForwardingOp(b_, id))
        changes_.push_back({ChangeKind::kAdded, nullptr, &b_.ids[id], "", "", ToString(b_.ids[id].shape())});
    CompareForwardingOps();
    return std::move(changes_);
  }

 private:
  bool ArePartners(const Instruction* a, const Instruction* b) const {
    return a == nullptr || b == nullptr ? a == b : matching_.b_of[a_.ids(*a)] == b_.ids(*b);
  }
  void Add(ChangeKind kind, const Instruction& a, const Instruction& b, std::string before = "",
           std::string after = "") {
    changes_.push_back({kind, &a, &b, "", std::move(before), std::move(after)});
  }

  void ComparePair(const Instruction& a, const Instruction& b);
  bool IsPropagated(const Instruction& a, const Instruction& b) const;
  void CompareTrips(const Instruction& a, const Instruction& b);
  void CompareContexts(const Instruction& a, const Instruction& b);
  void CompareOperands(const Instruction& a, const Instruction& b);
  bool HasMoved(const Instruction& a, const Instruction& b) const {
    return a_.flow.ContextOf(*a.parent).loops != b_.flow.ContextOf(*b.parent).loops;
  }
  bool SameValue(const ValueRef& a, const ValueRef& b) const;
  bool IsExplained(const ValueRef& a, const ValueRef& b) const;
  bool IsInitialState(const DiffSide& side, const ValueRef& state, const DiffSide& other,
                      const ValueRef& value) const;
  void CompareForwardingOps();

  const DiffSide& a_;
  const DiffSide& b_;
  const Matching matching_;
  std::vector<Change> changes_;
};

void Comparison::ComparePair(const Instruction& a, const Instruction& b) {
  if (a.opcode != b.opcode) Add(ChangeKind::kReplaced, a, b, std::string(Text(a.opcode)), std::string(Text(b.opcode)));
  if (IsLoop(a) && IsLoop(b)) CompareTrips(a, b);
  std::vector<Change> own;
  AddAttrChanges(a_, b_, a, b, own);
  for (Change& change : own) {
    const bool is_type = change.kind == ChangeKind::kType || change.kind == ChangeKind::kLayout;
    if (is_type && IsPropagated(a, b)) change = {ChangeKind::kPropagated, &a, &b, "types of operands", "", ""};
    changes_.push_back(std::move(change));
  }
  const bool forwards = a_.flow.ForwardingOf(a_.ids(a)) || b_.flow.ForwardingOf(b_.ids(b));
  if (forwards) return;
  if (DoesWork(a)) CompareContexts(a, b);
  CompareOperands(a, b);
}

// True if a type change follows from the types of the operands or, for a parameter, from the type of the argument.
bool Comparison::IsPropagated(const Instruction& a, const Instruction& b) const {
  if (IsParameter(a)) return a.parent != a_.module.entry;
  for (size_t i = 0; i < std::min(a.operand_count(), b.operand_count()); ++i) {
    const bool same = TypeText(a.operand_shape(i)) == TypeText(b.operand_shape(i));
    if (!same &&
        ArePartners(a_.flow.SourceOf(a_.ids(*a.operands[i])).hlo, b_.flow.SourceOf(b_.ids(*b.operands[i])).hlo))
      return true;
  }
  return false;
}

void Comparison::CompareTrips(const Instruction& a, const Instruction& b) {
  auto text = [](const DiffSide& side, const Instruction& loop) {
    const TripCount* trips = side.executions.FindTripCount(loop);
    return trips == nullptr || !trips->known() ? std::string("unknown") : StrCat(trips->count);
  };
  const std::string before = text(a_, a), after = text(b_, b);
  if (before != after) Add(ChangeKind::kTrips, a, b, before, after);
}

void Comparison::CompareContexts(const Instruction& a, const Instruction& b) {
  const EnclosingContext& in_a = a_.flow.ContextOf(*a.parent);
  const EnclosingContext& in_b = b_.flow.ContextOf(*b.parent);
  // A reducer or a computation with several callers has no unique context.
  auto has_context = [](const Instruction& hlo, const EnclosingContext& context, const Module& module) {
    return hlo.parent == module.entry || (context.caller != nullptr && context.kind != CallKind::kElements);
  };
  if (!has_context(a, in_a, a_.module) || !has_context(b, in_b, b_.module)) return;
  const bool other_loop = in_a.loops != in_b.loops || (in_a.loop != nullptr && !ArePartners(in_a.loop, in_b.loop) &&
                                                       matching_.b_of[a_.ids(*in_a.loop)] != kNoMatch);
  if (other_loop) Add(ChangeKind::kMoved, a, b, LoopText(a_, in_a.loop), LoopText(b_, in_b.loop));
  if (in_a.fusion == nullptr && in_b.fusion != nullptr) Add(ChangeKind::kFused, a, b);
  if (in_a.fusion != nullptr && in_b.fusion == nullptr) Add(ChangeKind::kUnfused, a, b);
  if (in_a.fusion != nullptr && in_b.fusion != nullptr && !ArePartners(in_a.fusion, in_b.fusion))
    Add(ChangeKind::kRegrouped, a, b);
}

bool Comparison::SameValue(const ValueRef& a, const ValueRef& b) const {
  if (a.path == b.path && ArePartners(a.hlo, b.hlo)) return true;
  return a_.values.Of(a) == b_.values.Of(b);  // copies of one value have equal hashes
}

// True if another reported change explains the difference: an added, removed or moved op, or a changed loop state.
bool Comparison::IsExplained(const ValueRef& a, const ValueRef& b) const {
  if (matching_.b_of[a_.ids(*a.hlo)] == kNoMatch || matching_.a_of[b_.ids(*b.hlo)] == kNoMatch) return true;
  if (HasMoved(*a.hlo, b_.ids[matching_.b_of[a_.ids(*a.hlo)]])) return true;
  if (HasMoved(a_.ids[matching_.a_of[b_.ids(*b.hlo)]], *b.hlo)) return true;
  if (ArePartners(a.hlo, b.hlo))
    return a.hlo->shape().IsTuple() && ToString(a.hlo->shape()) != ToString(b.hlo->shape());
  return IsInitialState(a_, a, b_, b) || IsInitialState(b_, b, a_, a);
}

// True if `state` is an element of a loop's state and `value` is the initial value of this element in `other`.
bool Comparison::IsInitialState(const DiffSide& side, const ValueRef& state, const DiffSide& other,
                                const ValueRef& value) const {
  const EnclosingContext& context = side.flow.ContextOf(*state.hlo->parent);
  if (!IsParameter(*state.hlo) || context.kind != CallKind::kLoop || context.caller == nullptr) return false;
  const uint32_t loop = (&side == &a_ ? matching_.b_of : matching_.a_of)[side.ids(*context.caller)];
  if (loop == kNoMatch || other.ids[loop].operand_count() == 0) return false;
  return other.flow.SourceOf(ValueRef{other.ids[loop].operands[0], state.path}) == value;
}

void Comparison::CompareOperands(const Instruction& a, const Instruction& b) {
  const bool same_count = a.operand_count() == b.operand_count();
  if (!same_count && IsTuple(a)) return;
  std::vector<std::string> before, after;
  bool explained = false;
  for (size_t i = 0; i < std::max(a.operand_count(), b.operand_count()); ++i) {
    const ValueRef* in_a = i < a.operand_count() ? &a_.flow.SourceOf(a_.ids(*a.operands[i])) : nullptr;
    const ValueRef* in_b = i < b.operand_count() ? &b_.flow.SourceOf(b_.ids(*b.operands[i])) : nullptr;
    if (in_a != nullptr && in_b != nullptr && SameValue(*in_a, *in_b)) continue;
    if (in_a != nullptr && in_b != nullptr) explained |= IsExplained(*in_a, *in_b);
    if (in_a == nullptr) explained |= matching_.a_of[b_.ids(*in_b->hlo)] == kNoMatch;
    if (in_b == nullptr) explained |= matching_.b_of[a_.ids(*in_a->hlo)] == kNoMatch;
    if (in_a != nullptr) before.push_back(StrCat(Text(in_a->hlo->opcode), " ", in_a->hlo->name));
    if (in_b != nullptr) after.push_back(StrCat(Text(in_b->hlo->opcode), " ", in_b->hlo->name));
  }
  if (explained || (before.empty() && after.empty())) return;
  Add(ChangeKind::kOperands, a, b, StrJoin(before, ", "), StrJoin(after, ", "));
}

void Comparison::CompareForwardingOps() {
  std::map<Opcode, std::pair<int64_t, int64_t>> counts;
  for (uint32_t id = 0; id < a_.ids.size(); ++id)
    if (IsForwardingOp(a_, id)) ++counts[a_.ids[id].opcode].first;
  for (uint32_t id = 0; id < b_.ids.size(); ++id)
    if (IsForwardingOp(b_, id)) ++counts[b_.ids[id].opcode].second;
  for (const auto& [opcode, count] : counts)
    if (count.first != count.second)
      changes_.push_back({ChangeKind::kForwarding, nullptr, nullptr, std::string(Text(opcode)), StrCat(count.first),
                          StrCat(count.second)});
  if (changes_.empty())
    changes_.push_back({ChangeKind::kForwarding, nullptr, nullptr,
                        "order of tuple elements or parameters, or copies of equal values", "", ""});
}

// True if both modules have equal computations, possibly in different orders.
bool AreEqual(const DiffSide& a, const DiffSide& b) {
  auto prints = [](const DiffSide& side) {
    std::vector<uint64_t> all;
    for (const Computation* computation : side.module.computations) all.push_back(side.fingerprints.Of(*computation));
    std::sort(all.begin(), all.end());
    all.push_back(side.module.entry == nullptr ? 0 : side.fingerprints.Of(*side.module.entry));
    return all;
  };
  return prints(a) == prints(b);
}

// True unless the op belongs to a class that typically dominates run time.
bool IsMinor(const Change& change) {
  static constexpr OpClass kHeavy[] = {OpClass::kCollective, OpClass::kContraction, OpClass::kControlFlow,
                                       OpClass::kOpaque};
  const Instruction* hlo = change.instruction();
  return hlo == nullptr ||
         std::find(std::begin(kHeavy), std::end(kHeavy), Info(hlo->opcode).op_class) == std::end(kHeavy);
}

}  // namespace

std::string_view ToString(ChangeKind kind) {
  static constexpr std::string_view kNames[] = {"header", "trips",    "removed",   "added", "replaced", "moved",
                                                "fused",  "unfused",  "regrouped", "type",  "layout",   "propagated",
                                                "groups", "sharding", "attribute", "value", "operands", "forwarding"};
  return kNames[static_cast<size_t>(kind)];
}

namespace {

// Replaces the text of changed groups by mesh axes, such as "data=8", if the axes in A and B differ.
void NameGroups(const DiffSide& a, const DiffSide& b, std::vector<Change>& changes) {
  auto is_about_groups = [](const Change& change) {
    return change.kind == ChangeKind::kGroups && change.a != nullptr && change.b != nullptr;
  };
  if (std::none_of(changes.begin(), changes.end(), is_about_groups)) return;
  GroupNames names_a(a.module), names_b(b.module);
  for (Change& change : changes) {
    if (!is_about_groups(change)) continue;
    const std::string before = names_a.Of(*change.a), after = names_b.Of(*change.b);
    if (before.empty() || after.empty() || before == after) continue;
    change.before = before;
    change.after = after;
  }
}

}  // namespace

std::vector<Change> MergeEqualChanges(const std::vector<Change>& changes) {
  using Key = std::tuple<ChangeKind, int, std::string, std::string, std::string>;
  std::map<Key, size_t> indices;
  std::vector<Change> folded;
  for (const Change& change : changes) {
    const Instruction* hlo = change.instruction();
    const bool any = hlo == nullptr || change.kind == ChangeKind::kPropagated;
    const int opcode = any ? -1 : static_cast<int>(hlo->opcode);
    // Changes of operands merge regardless of operand names. Propagated changes merge regardless of opcode.
    const bool named = change.kind == ChangeKind::kOperands;
    auto [index, is_new] = indices.try_emplace(
        Key{change.kind, opcode, change.what, named ? "" : change.before, named ? "" : change.after}, folded.size());
    if (is_new) {
      folded.push_back(change);
    } else {
      folded[index->second].count += change.count;
    }
  }
  std::stable_sort(folded.begin(), folded.end(), [](const Change& x, const Change& y) {
    return std::tuple(x.kind, IsMinor(x), -x.count) < std::tuple(y.kind, IsMinor(y), -y.count);
  });
  return folded;
}

std::vector<Change> EveryChange(const DiffSide& a, const DiffSide& b) {
  std::vector<Change> changes;
  AddHeaderChanges(a.module, b.module, changes);
  if (!AreEqual(a, b)) {
    std::vector<Change> compared = Comparison(a, b).Compare();
    changes.insert(changes.end(), compared.begin(), compared.end());
  }
  NameGroups(a, b, changes);
  return changes;
}

std::vector<Change> ChangesBetween(const DiffSide& a, const DiffSide& b) { return MergeEqualChanges(EveryChange(a, b)); }

}  // namespace shoal::internal
