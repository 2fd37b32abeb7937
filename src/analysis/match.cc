#include "analysis/match.h"

#include <algorithm>

#include "analysis/match_uses.h"
#include "base/names.h"
#include "ops/families.h"

namespace shoal {
namespace {

// How much two instructions must have in common to be taken for one another where their neighbours are.
struct Likeness {
  enum class Of : uint8_t { kOwn, kOpName, kOpcode } of = Of::kOwn;
  bool with_operands = false;  // none of them may be known to be another value
};

uint64_t OpcodeHash(const Instruction& hlo) {
  if (hlo.opcode == Opcode::kUnknown) return HashName(hlo[kUnknownOpcode]);
  if (hlo.opcode == Opcode::kCustomCall) return HashName(hlo[Op<Opcode::kCustomCall>::kTarget]);
  return static_cast<uint64_t>(hlo.opcode);
}

// Ops that are worth finding again wherever they went.
bool IsWeighty(const Instruction& hlo) {
  static constexpr OpClass kWeighty[] = {OpClass::kReduction,     OpClass::kContraction, OpClass::kGatherScatter,
                                         OpClass::kLinearAlgebra, OpClass::kControlFlow, OpClass::kCollective,
                                         OpClass::kTransfer,      OpClass::kOpaque};
  return std::find(std::begin(kWeighty), std::end(kWeighty), Info(hlo.opcode).op_class) != std::end(kWeighty);
}

struct Candidate {
  uint64_t key = 0;
  uint32_t id = 0;
};
using Candidates = std::span<const Candidate>;

// Calls visit(as, bs) for each key that both lists have.
template <class Visit>
void ForEachSharedKey(std::vector<Candidate> as, std::vector<Candidate> bs, Visit visit) {
  for (std::vector<Candidate>* list : {&as, &bs})
    std::sort(list->begin(), list->end(),
              [](const Candidate& x, const Candidate& y) { return std::pair(x.key, x.id) < std::pair(y.key, y.id); });
  for (size_t i = 0, j = 0; i < as.size() && j < bs.size();) {
    const uint64_t key = std::min(as[i].key, bs[j].key);
    const size_t first_a = i, first_b = j;
    while (i < as.size() && as[i].key == key) ++i;
    while (j < bs.size() && bs[j].key == key) ++j;
    if (i > first_a && j > first_b)
      visit(Candidates(as).subspan(first_a, i - first_a), Candidates(bs).subspan(first_b, j - first_b));
  }
}

class Matcher {
 public:
  Matcher(const DiffSide& a, const DiffSide& b) : a_(a), b_(b), a_uses_(a.flow), b_uses_(b.flow) {
    result_.b_of.assign(a.ids.size(), kNoMatch);
    result_.a_of.assign(b.ids.size(), kNoMatch);
  }

  // Copies of one value are told apart by their users, so those that stand alone come first.
  Matching Match() {
    using Of = Likeness::Of;
    FindCommonValues();
    MatchEqualComputations();
    MatchByKey(&Matcher::Value, /*only_single=*/true);
    if (a_.module.entry != nullptr && b_.module.entry != nullptr)
      TryRoots(*a_.module.entry, *b_.module.entry, {Of::kOpcode});
    Spread({Of::kOwn, true});
    MatchEqualValues();
    for (bool with_operands : {true, false})
      for (Of of : {Of::kOwn, Of::kOpName, Of::kOpcode}) Spread({of, with_operands});
    MatchTheRest();
    Spread({Of::kOpcode});
    MatchReplaced();
    MatchWhatHandsOn();
    return std::move(result_);
  }

 private:
  // 0: no candidate.
  using Key = uint64_t (Matcher::*)(const DiffSide& side, uint32_t id) const;

  bool Free(uint32_t a, uint32_t b) const { return result_.b_of[a] == kNoMatch && result_.a_of[b] == kNoMatch; }
  void Pair(uint32_t a, uint32_t b) {
    result_.b_of[a] = b;
    result_.a_of[b] = a;
    pairs_.push_back({a, b});
  }
  void PairIfAlike(const Instruction& a, const Instruction& b, Likeness likeness);

  void MatchEqualComputations();
  void MatchEqualValues();
  void FindCommonValues();
  void MatchByKey(Key key, bool only_single = false);
  void Spread(Likeness likeness);
  void SpreadToOperands(const Instruction& a, const Instruction& b, Likeness likeness);
  void SpreadToCallees(const Instruction& a, const Instruction& b, Likeness likeness);
  void SpreadToUsers(uint32_t a, uint32_t b, Likeness likeness);
  void TrySources(const Instruction& a, const Instruction& b, Likeness likeness);
  void TryRoots(const Computation& a, const Computation& b, Likeness likeness);
  void MatchTheRest();
  void MatchReplaced();
  bool Replaces(const Instruction& a, const Instruction& b) const;
  void MatchWhatHandsOn();

  uint64_t LikenessHash(const DiffSide& side, uint32_t id, Likeness::Of of) const;
  uint64_t KnownValue(const DiffSide& side, uint32_t id) const;
  uint64_t KnownOperands(const DiffSide& side, uint32_t id) const;
  bool OperandsAgree(const Instruction& a, const Instruction& b) const;
  uint64_t ValueInComputation(const DiffSide& side, uint32_t id) const;
  uint64_t ValueInLoop(const DiffSide& side, uint32_t id) const;
  uint64_t Value(const DiffSide& side, uint32_t id) const;
  uint64_t OwnAndOpName(const DiffSide& side, uint32_t id) const;
  uint64_t OpcodeAndOpName(const DiffSide& side, uint32_t id) const;
  uint64_t ParameterNumber(const DiffSide& side, uint32_t id) const;
  uint64_t OwnOfWeighty(const DiffSide& side, uint32_t id) const;
  uint64_t HandedOn(const DiffSide& side, uint32_t id) const;

  const DiffSide& a_;
  const DiffSide& b_;
  const ValueUses a_uses_, b_uses_;
  std::vector<bool> common_in_a_, common_in_b_;  // of each instruction: both modules have its value
  Matching result_;
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;
};

uint64_t Matcher::ValueInComputation(const DiffSide& side, uint32_t id) const {
  return side.flow.HandsOn(id) ? 0 : Mix(side.values[id], side.prints.Of(*side.ids[id].parent));
}
uint64_t Matcher::ValueInLoop(const DiffSide& side, uint32_t id) const {
  if (side.flow.HandsOn(id)) return 0;
  const Surroundings& around = side.flow.Around(*side.ids[id].parent);
  return Mix(side.values[id], static_cast<uint64_t>(around.loops * 2 + (around.fusion != nullptr ? 1 : 0)));
}
uint64_t Matcher::Value(const DiffSide& side, uint32_t id) const { return side.flow.HandsOn(id) ? 0 : side.values[id]; }
uint64_t Matcher::OwnAndOpName(const DiffSide& side, uint32_t id) const {
  const std::string_view name = OpNameOf(side.ids[id]);
  return name.empty() || side.flow.HandsOn(id) ? 0 : Mix(side.prints.Own(id), HashName(name));
}
uint64_t Matcher::OpcodeAndOpName(const DiffSide& side, uint32_t id) const {
  const std::string_view name = OpNameOf(side.ids[id]);
  return name.empty() || side.flow.HandsOn(id) ? 0 : Mix(OpcodeHash(side.ids[id]), HashName(name));
}
uint64_t Matcher::ParameterNumber(const DiffSide& side, uint32_t id) const {
  const Instruction& hlo = side.ids[id];
  if (hlo.opcode != Opcode::kParameter || hlo.parent != side.module.entry) return 0;
  return static_cast<uint64_t>(hlo[kParameterNumber]) + 1;
}
uint64_t Matcher::OwnOfWeighty(const DiffSide& side, uint32_t id) const {
  return IsWeighty(side.ids[id]) && !side.flow.HandsOn(id) ? side.prints.Own(id) : 0;
}
uint64_t Matcher::HandedOn(const DiffSide& side, uint32_t id) const {
  if (!side.flow.HandsOn(id)) return 0;
  const ValuePlace& source = side.flow.SourceOf(id);
  uint32_t made = side.ids(*source.hlo);
  if (&side == &b_) made = result_.a_of[made];
  if (made == kNoMatch || (&side == &a_ && result_.b_of[made] == kNoMatch)) return 0;
  uint64_t hash = Mix(made, static_cast<uint64_t>(side.ids[id].opcode));
  for (int64_t element : source.path) hash = Mix(hash, static_cast<uint64_t>(element));
  return Mix(hash, static_cast<uint64_t>(side.flow.Around(*side.ids[id].parent).loops));
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

// Those with the same key in the order of the text, as many as both modules have; or only where each has one.
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

// Computations that are the same throughout and make the same values where they are called; of several such, which is
// which their users will tell.
void Matcher::MatchEqualComputations() {
  auto candidates = [](const DiffSide& side) {
    std::vector<Candidate> all;
    for (const Computation* computation : side.module.computations) {
      const Surroundings& around = side.flow.Around(*computation);
      const uint64_t value = around.caller == nullptr ? 0 : side.values[side.ids(*around.caller)];
      all.push_back({Mix(Mix(side.prints.Of(*computation), value), static_cast<uint64_t>(around.loops)),
                     static_cast<uint32_t>(all.size())});
    }
    return all;
  };
  auto instructions = [](const DiffSide& side, const Computation& computation) {
    std::vector<Candidate> all;
    for (const Instruction* hlo : computation.instructions)
      all.push_back({side.prints.Whole(side.ids(*hlo)), side.ids(*hlo)});
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

void Matcher::MatchEqualValues() {
  for (Key key : {&Matcher::ValueInComputation, &Matcher::ValueInLoop, &Matcher::Value}) MatchByKey(key);
}

uint64_t Matcher::LikenessHash(const DiffSide& side, uint32_t id, Likeness::Of of) const {
  const Instruction& hlo = side.ids[id];
  if (of == Likeness::Of::kOpcode) return OpcodeHash(hlo);
  if (of == Likeness::Of::kOwn || OpNameOf(hlo).empty()) return side.prints.Own(id);
  return Mix(OpcodeHash(hlo), HashName(OpNameOf(hlo)));
}

// What is known of a value in the other module: that it is there, or that something stands for it; 0: nothing.
uint64_t Matcher::KnownValue(const DiffSide& side, uint32_t id) const {
  const bool in_a = &side == &a_;
  if ((in_a ? common_in_a_ : common_in_b_)[id]) return side.values[id];
  const uint32_t partner = (in_a ? result_.b_of : result_.a_of)[id];
  if (partner == kNoMatch) return 0;
  return in_a ? id + 1 : partner + 1;
}

// Of a tuple of thousands, which is looked at once for each of its elements, only the first count.
constexpr size_t kMostOperands = 16;

uint64_t Matcher::KnownOperands(const DiffSide& side, uint32_t id) const {
  const Instruction& hlo = side.ids[id];
  uint64_t hash = KnownValue(side, id);
  if (hlo.opcode == Opcode::kTuple) return hash;
  for (const Instruction* operand : hlo.operands.first(std::min(kMostOperands, hlo.operand_count())))
    hash = Mix(hash, KnownValue(side, side.ids(*side.flow.SourceOf(side.ids(*operand)).hlo)));
  return hash;
}

bool Matcher::OperandsAgree(const Instruction& a, const Instruction& b) const {
  auto agree = [&](uint32_t in_a, uint32_t in_b) {
    const uint64_t known_a = KnownValue(a_, in_a), known_b = KnownValue(b_, in_b);
    return known_a == known_b || known_a == 0 || known_b == 0;
  };
  if (common_in_a_[a_.ids(a)] != common_in_b_[b_.ids(b)] || !agree(a_.ids(a), b_.ids(b))) return false;
  if (a.opcode == Opcode::kTuple) return true;
  const size_t count = std::min({kMostOperands, a.operand_count(), b.operand_count()});
  for (size_t i = 0; i < count; ++i)
    if (!agree(a_.ids(*a_.flow.SourceOf(a_.ids(*a.operands[i])).hlo),
               b_.ids(*b_.flow.SourceOf(b_.ids(*b.operands[i])).hlo)))
      return false;
  return true;
}

void Matcher::PairIfAlike(const Instruction& a, const Instruction& b, Likeness likeness) {
  const uint32_t in_a = a_.ids(a), in_b = b_.ids(b);
  if (a.opcode != b.opcode || !Free(in_a, in_b)) return;
  if (likeness.with_operands && !OperandsAgree(a, b)) return;
  if (LikenessHash(a_, in_a, likeness.of) == LikenessHash(b_, in_b, likeness.of)) Pair(in_a, in_b);
}

void Matcher::TrySources(const Instruction& a, const Instruction& b, Likeness likeness) {
  const ValuePlace& from_a = a_.flow.SourceOf(a_.ids(a));
  const ValuePlace& from_b = b_.flow.SourceOf(b_.ids(b));
  if (from_a.path == from_b.path) PairIfAlike(*from_a.hlo, *from_b.hlo, likeness);
}

void Matcher::TryRoots(const Computation& a, const Computation& b, Likeness likeness) {
  if (a.root != nullptr && b.root != nullptr) TrySources(*a.root, *b.root, likeness);
}

// From users to operands first: an op has more users that look alike than operands in the same place.
void Matcher::Spread(Likeness likeness) {
  for (bool to_users : {false, true})
    for (size_t next = 0; next < pairs_.size(); ++next) {  // pairs that it makes come in turn
      const auto [a, b] = pairs_[next];
      SpreadToOperands(a_.ids[a], b_.ids[b], likeness);
      SpreadToCallees(a_.ids[a], b_.ids[b], likeness);
      if (to_users) SpreadToUsers(a, b, likeness);
    }
}

void Matcher::SpreadToOperands(const Instruction& a, const Instruction& b, Likeness likeness) {
  const size_t count = std::min(a.operand_count(), b.operand_count());
  for (size_t i = 0; i < count; ++i) TrySources(*a.operands[i], *b.operands[i], likeness);
  if (a.operand_count() == b.operand_count()) return;
  // Something came to a tuple or went: what stands behind it has moved.
  for (size_t i = 1; i <= count; ++i)
    TrySources(*a.operands[a.operand_count() - i], *b.operands[b.operand_count() - i], likeness);
}

void Matcher::SpreadToCallees(const Instruction& a, const Instruction& b, Likeness likeness) {
  if (!CallsComputations(a) || !CallsComputations(b)) return;
  const std::vector<Computation*> in_a = CalledComputations(a), in_b = CalledComputations(b);
  for (size_t i = 0; i < std::min(in_a.size(), in_b.size()); ++i) {
    TryRoots(*in_a[i], *in_b[i], likeness);
    const size_t count = std::min(in_a[i]->parameters.size(), in_b[i]->parameters.size());
    for (size_t p = 0; p < count; ++p)
      if (in_a[i]->parameters[p] != nullptr && in_b[i]->parameters[p] != nullptr)
        TrySources(*in_a[i]->parameters[p], *in_b[i]->parameters[p], {Likeness::Of::kOpcode});
  }
}

// Only where there is one candidate on each side.
void Matcher::SpreadToUsers(uint32_t a, uint32_t b, Likeness likeness) {
  auto candidates = [&](const DiffSide& side, const ValueUses& uses, const std::vector<uint32_t>& partner,
                        uint32_t of) {
    std::vector<Candidate> all;
    for (const ValueUse& use : uses.Of(of)) {
      if (partner[use.user] != kNoMatch) continue;
      const uint64_t operands = likeness.with_operands ? KnownOperands(side, use.user) : 0;
      all.push_back({Mix(Mix(use.slot, LikenessHash(side, use.user, likeness.of)), operands), use.user});
    }
    return all;
  };
  std::vector<Candidate> in_a = candidates(a_, a_uses_, result_.b_of, a);
  if (in_a.empty()) return;
  ForEachSharedKey(std::move(in_a), candidates(b_, b_uses_, result_.a_of, b), [&](Candidates as, Candidates bs) {
    if (as.size() == 1 && bs.size() == 1) PairIfAlike(a_.ids[as[0].id], b_.ids[bs[0].id], likeness);
  });
}

void Matcher::MatchTheRest() {
  for (Key key :
       {&Matcher::OwnAndOpName, &Matcher::OpcodeAndOpName, &Matcher::ParameterNumber, &Matcher::OwnOfWeighty}) {
    MatchByKey(key);
    Spread({Likeness::Of::kOwn});
  }
}

// Another op with the same operands, type and user in its place.
bool Matcher::Replaces(const Instruction& a, const Instruction& b) const {
  const uint32_t in_a = a_.ids(a), in_b = b_.ids(b);
  if (!Free(in_a, in_b) || a.operand_count() == 0 || a.operand_count() != b.operand_count()) return false;
  if (a.opcode == Opcode::kTuple || b.opcode == Opcode::kTuple || TypeText(a.shape()) != TypeText(b.shape()))
    return false;
  for (size_t i = 0; i < a.operand_count(); ++i) {
    const ValuePlace& from_a = a_.flow.SourceOf(a_.ids(*a.operands[i]));
    const ValuePlace& from_b = b_.flow.SourceOf(b_.ids(*b.operands[i]));
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

// Fusions and calls by what they give, elements of tuples by what they are.
void Matcher::MatchWhatHandsOn() { MatchByKey(&Matcher::HandedOn); }

}  // namespace

DiffSide::DiffSide(const Module& module, const ExecutionOptions& options, bool without_large_constants)
    : module(module),
      executions(module, options),
      ids(module),
      prints(module, ids, without_large_constants),
      flow(module, executions.calls(), ids),
      values(flow, prints) {}

Matching MatchInstructions(const DiffSide& a, const DiffSide& b) { return Matcher(a, b).Match(); }

std::string_view OpNameOf(const Instruction& hlo) {
  const Metadata* metadata = hlo[kMetadata];
  return metadata == nullptr ? std::string_view() : metadata->op_name;
}

}  // namespace shoal
