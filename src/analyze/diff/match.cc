#include "analyze/diff/match.h"

#include "analyze/diff/matcher.h"
#include "analyze/summary/skeleton.h"
#include "core/base/name_hash.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// True for expensive or rare ops, which are matched by OpHash even if their computations are not matched.
bool IsHeavy(const Instruction& hlo) {
  static constexpr OpClass kHeavy[] = {OpClass::kReduction,     OpClass::kContraction, OpClass::kGatherScatter,
                                       OpClass::kLinearAlgebra, OpClass::kControlFlow, OpClass::kCollective,
                                       OpClass::kTransfer,      OpClass::kOpaque};
  return std::find(std::begin(kHeavy), std::end(kHeavy), Info(hlo.opcode).op_class) != std::end(kHeavy);
}

}  // namespace

uint64_t OpcodeHash(const Instruction& hlo) {
  if (IsUnknown(hlo)) return HashName(hlo[kUnknownOpcode]);
  if (IsCustomCall(hlo)) return HashName(TargetOf(hlo));
  return static_cast<uint64_t>(hlo.opcode);
}

// Matches unique values first, because copies of a value can be distinguished only by their users.
Matching Matcher::Match() {
  using Of = Similarity::Of;
  FindCommonValues();
  MatchEqualComputations();
  MatchByKey(&Matcher::Value, /*only_single=*/true);
  if (a_.module.entry != nullptr && b_.module.entry != nullptr)
    TryRoots(*a_.module.entry, *b_.module.entry, {Of::kOpcode});
  Spread({Of::kOpHash, true});
  MatchEqualValues();
  for (bool with_operands : {true, false})
    for (Of of : {Of::kOpHash, Of::kOpName, Of::kOpcode}) Spread({of, with_operands});
  MatchRemaining();
  Spread({Of::kOpcode});
  MatchReplaced();
  MatchForwardingOps();
  return std::move(result_);
}

uint64_t Matcher::ValueInComputation(const DiffSide& side, uint32_t id) const {
  return side.flow.ForwardingOf(id) ? 0 : Mix(side.values[id], side.fingerprints.Of(*side.ids[id].parent));
}
uint64_t Matcher::ValueOfLoop(const DiffSide& side, uint32_t id) const {
  const Instruction& hlo = side.ids[id];
  const bool is_loop = IsLoop(hlo) && side.flow.ContextOf(*hlo.parent).loops == depth_;
  return is_loop ? side.values[id] : 0;
}
uint64_t Matcher::ValueInLoop(const DiffSide& side, uint32_t id) const {
  const Instruction* loop = side.flow.ContextOf(*side.ids[id].parent).loop;
  if (side.flow.ForwardingOf(id) || loop == nullptr) return 0;
  const uint64_t known = KnownValue(side, side.ids(*loop));
  return known == 0 ? 0 : Mix(side.values[id], known);
}
uint64_t Matcher::ValueAtDepth(const DiffSide& side, uint32_t id) const {
  if (side.flow.ForwardingOf(id)) return 0;
  const EnclosingContext& context = side.flow.ContextOf(*side.ids[id].parent);
  return Mix(side.values[id], static_cast<uint64_t>(context.loops * 2 + (context.fusion != nullptr ? 1 : 0)));
}
uint64_t Matcher::Value(const DiffSide& side, uint32_t id) const {
  return side.flow.ForwardingOf(id) ? 0 : side.values[id];
}
uint64_t Matcher::OpHashAndOpName(const DiffSide& side, uint32_t id) const {
  const std::string_view name = OpNameOf(side.ids[id]);
  return name.empty() || side.flow.ForwardingOf(id) ? 0 : Mix(side.fingerprints.OpHash(id), HashName(name));
}
uint64_t Matcher::OpcodeAndOpName(const DiffSide& side, uint32_t id) const {
  const std::string_view name = OpNameOf(side.ids[id]);
  return name.empty() || side.flow.ForwardingOf(id) ? 0 : Mix(OpcodeHash(side.ids[id]), HashName(name));
}
uint64_t Matcher::ParameterNumber(const DiffSide& side, uint32_t id) const {
  const Instruction& hlo = side.ids[id];
  if (!IsParameter(hlo) || hlo.parent != side.module.entry) return 0;
  return static_cast<uint64_t>(hlo[kParameterNumber]) + 1;
}
uint64_t Matcher::HeavyOpHash(const DiffSide& side, uint32_t id) const {
  return IsHeavy(side.ids[id]) && !side.flow.ForwardingOf(id) ? side.fingerprints.OpHash(id) : 0;
}
// Combines the hash with a key for the computation: the entry, no unique caller, or the match of the caller.
uint64_t Matcher::HashInComputation(const DiffSide& side, uint32_t id, uint64_t hash) const {
  const Computation* computation = side.ids[id].parent;
  if (side.flow.ForwardingOf(id)) return 0;
  if (computation == side.module.entry) return Mix(hash, 1);
  const EnclosingContext& context = side.flow.ContextOf(*computation);
  if (context.caller == nullptr) return Mix(hash, 2);
  const uint64_t known = KnownValue(side, side.ids(*side.flow.SourceOf(side.ids(*context.caller)).hlo));
  return known == 0 ? 0 : Mix(Mix(hash, known), static_cast<uint64_t>(context.number));
}
uint64_t Matcher::OpHashInComputation(const DiffSide& side, uint32_t id) const {
  return HashInComputation(side, id, side.fingerprints.OpHash(id));
}
// Key that matches instructions which differ only in layout.
uint64_t Matcher::NoLayoutHashInComputation(const DiffSide& side, uint32_t id) const {
  return HashInComputation(side, id, side.fingerprints.OpHashWithoutLayout(id));
}
uint64_t Matcher::NoLayoutHashAndOpName(const DiffSide& side, uint32_t id) const {
  const std::string_view name = OpNameOf(side.ids[id]);
  if (name.empty() || side.flow.ForwardingOf(id)) return 0;
  return Mix(side.fingerprints.OpHashWithoutLayout(id), HashName(name));
}
uint64_t Matcher::ForwardedValue(const DiffSide& side, uint32_t id) const {
  if (!side.flow.ForwardingOf(id)) return 0;
  const ValueRef& source = side.flow.SourceOf(id);
  uint32_t id_in_a = side.ids(*source.hlo);
  if (&side == &b_) id_in_a = result_.a_of[id_in_a];
  if (id_in_a == kNoMatch || (&side == &a_ && result_.b_of[id_in_a] == kNoMatch)) return 0;
  uint64_t hash = Mix(id_in_a, static_cast<uint64_t>(side.ids[id].opcode));
  for (int64_t element : source.path) hash = Mix(hash, static_cast<uint64_t>(element));
  return Mix(hash, static_cast<uint64_t>(side.flow.ContextOf(*side.ids[id].parent).loops));
}

void Matcher::FindCommonValues() {
  auto sorted = [](const DiffSide& side) {
    std::vector<uint64_t> all;
    for (uint32_t id = 0; id < side.ids.size(); ++id) all.push_back(side.values[id]);
    std::sort(all.begin(), all.end());
    return all;
  };
  const std::vector<uint64_t> in_a = sorted(a_), in_b = sorted(b_);
  for (uint32_t id = 0; id < a_.ids.size(); ++id)
    common_in_a_.push_back(std::binary_search(in_b.begin(), in_b.end(), a_.values[id]));
  for (uint32_t id = 0; id < b_.ids.size(); ++id)
    common_in_b_.push_back(std::binary_search(in_a.begin(), in_a.end(), b_.values[id]));
}

// Pairs instructions with equal keys, in text order. `only_single` restricts this to keys unique in both modules.
void Matcher::MatchByKey(Key key, bool only_single) {
  auto candidates = [&](const DiffSide& side, const std::vector<uint32_t>& partner) {
    std::vector<Candidate> all;
    for (uint32_t id = 0; id < side.ids.size(); ++id)
      if (partner[id] == kNoMatch)
        if (const uint64_t hash = (this->*key)(side, id); hash != 0) all.push_back({hash, id});
    return all;
  };
  ForEachSharedKey(candidates(a_, result_.b_of), candidates(b_, result_.a_of), [&](Candidates as, Candidates bs) {
    if (only_single && (as.size() != 1 || bs.size() != 1)) return;
    for (size_t i = 0; i < std::min(as.size(), bs.size()); ++i) Pair(as[i].id, bs[i].id);
  });
}

// Matches the instructions of equal computations whose callers have equal values. Skips ambiguous computations, whose
// instructions are matched by their users in later steps.
void Matcher::MatchEqualComputations() {
  auto candidates = [](const DiffSide& side) {
    std::vector<Candidate> all;
    for (const Computation* computation : side.module.computations) {
      const EnclosingContext& context = side.flow.ContextOf(*computation);
      const uint64_t value = context.caller == nullptr ? 0 : side.values[side.ids(*context.caller)];
      all.push_back({Mix(Mix(side.fingerprints.Of(*computation), value), static_cast<uint64_t>(context.loops)),
                     static_cast<uint32_t>(all.size())});
    }
    return all;
  };
  auto instructions = [](const DiffSide& side, const Computation& computation) {
    std::vector<Candidate> all;
    for (const Instruction* hlo : computation.instructions)
      all.push_back({side.fingerprints.SubgraphHash(side.ids(*hlo)), side.ids(*hlo)});
    return all;
  };
  ForEachSharedKey(candidates(a_), candidates(b_), [&](Candidates as, Candidates bs) {
    if (as.size() != 1 || bs.size() != 1) return;
    ForEachSharedKey(instructions(a_, *a_.module.computations[as[0].id]),
                     instructions(b_, *b_.module.computations[bs[0].id]), [&](Candidates in_a, Candidates in_b) {
                       for (size_t i = 0; i < std::min(in_a.size(), in_b.size()); ++i) Pair(in_a[i].id, in_b[i].id);
                     });
  });
}

// Matches outer loops before inner loops. Each loop is matched with its contents, to keep copies of a loop apart.
void Matcher::MatchEqualValues() {
  constexpr int64_t kMaxDepth = 4;
  for (depth_ = 0; depth_ <= kMaxDepth; ++depth_) {
    MatchByKey(&Matcher::ValueOfLoop);
    Spread({Similarity::Of::kOpHash, true});
  }
  for (Key key : {&Matcher::ValueInComputation, &Matcher::ValueInLoop, &Matcher::ValueAtDepth, &Matcher::Value})
    MatchByKey(key);
}

void Matcher::MatchRemaining() {
  for (Key key : {&Matcher::OpHashAndOpName, &Matcher::NoLayoutHashAndOpName, &Matcher::OpcodeAndOpName,
                  &Matcher::ParameterNumber, &Matcher::HeavyOpHash, &Matcher::OpHashInComputation,
                  &Matcher::NoLayoutHashInComputation}) {
    MatchByKey(key);
    Spread({Similarity::Of::kOpHash});
  }
}

// True if `b` is a different op with matched operands and equal type. The callers ensure that the users match.
bool Matcher::Replaces(const Instruction& a, const Instruction& b) const {
  const uint32_t in_a = a_.ids(a), in_b = b_.ids(b);
  if (!Free(in_a, in_b) || a.operand_count() == 0 || a.operand_count() != b.operand_count()) return false;
  if (IsTuple(a) || IsTuple(b) || TypeText(a.shape()) != TypeText(b.shape())) return false;
  for (size_t i = 0; i < a.operand_count(); ++i) {
    const ValueRef& from_a = a_.flow.SourceOf(a_.ids(*a.operands[i]));
    const ValueRef& from_b = b_.flow.SourceOf(b_.ids(*b.operands[i]));
    if (result_.b_of[a_.ids(*from_a.hlo)] != b_.ids(*from_b.hlo) || from_a.path != from_b.path) return false;
  }
  return true;
}

void Matcher::MatchReplaced() {
  auto try_sources = [&](const Instruction& a, const Instruction& b) {
    const Instruction& from_a = *a_.flow.SourceOf(a_.ids(a)).hlo;
    const Instruction& from_b = *b_.flow.SourceOf(b_.ids(b)).hlo;
    if (Replaces(from_a, from_b)) Pair(a_.ids(from_a), b_.ids(from_b));
  };
  const Computation* entry_a = a_.module.entry;
  const Computation* entry_b = b_.module.entry;
  if (entry_a != nullptr && entry_b != nullptr && entry_a->root != nullptr && entry_b->root != nullptr)
    try_sources(*entry_a->root, *entry_b->root);
  for (size_t next = 0; next < pairs_.size(); ++next) {
    const Instruction& a = a_.ids[pairs_[next].first];
    const Instruction& b = b_.ids[pairs_[next].second];
    if (a.operand_count() != b.operand_count()) continue;
    for (size_t i = 0; i < a.operand_count(); ++i) try_sources(*a.operands[i], *b.operands[i]);
    if (!CallsComputations(a) || !CallsComputations(b)) continue;
    const std::vector<Computation*> in_a = CalledComputations(a), in_b = CalledComputations(b);
    for (size_t i = 0; i < std::min(in_a.size(), in_b.size()); ++i)
      if (in_a[i]->root != nullptr && in_b[i]->root != nullptr) try_sources(*in_a[i]->root, *in_b[i]->root);
  }
}

// Matches forwarding ops, such as fusions and get-tuple-elements, by the value that they forward.
void Matcher::MatchForwardingOps() { MatchByKey(&Matcher::ForwardedValue); }

DiffSide::DiffSide(const ModuleFacts& facts, bool without_large_constants)
    : facts(facts),
      module(facts.module()),
      executions(facts.executions()),
      ids(facts.ids()),
      fingerprints(module, ids, without_large_constants),
      flow(module, executions.calls(), ids),
      values(flow, fingerprints) {}

Matching MatchInstructions(const DiffSide& a, const DiffSide& b) { return Matcher(a, b).Match(); }

}  // namespace shoal::internal
