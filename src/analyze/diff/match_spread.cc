// Propagates matches to similar operands, users and called computations.
#include "analyze/diff/matcher.h"
#include "analyze/summary/skeleton.h"
#include "core/base/name_hash.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Only this many operands are compared. A tuple with thousands of elements would otherwise take quadratic time.
constexpr size_t kMaxOperands = 16;

}  // namespace

uint64_t Matcher::SimilarityHash(const DiffSide& side, uint32_t id, Similarity::Of of) const {
  const Instruction& hlo = side.ids[id];
  if (of == Similarity::Of::kOpcode) return OpcodeHash(hlo);
  if (of == Similarity::Of::kOpHash || OpNameOf(hlo).empty()) return side.fingerprints.OpHash(id);
  return Mix(OpcodeHash(hlo), HashName(OpNameOf(hlo)));
}

// Returns a key that an instruction shares with its equal or matched instruction in the other module, or 0 if unknown.
uint64_t Matcher::KnownValue(const DiffSide& side, uint32_t id) const {
  const bool in_a = &side == &a_;
  if ((in_a ? common_in_a_ : common_in_b_)[id]) return side.values[id];
  const uint32_t partner = (in_a ? result_.b_of : result_.a_of)[id];
  if (partner == kNoMatch) return 0;
  return in_a ? id + 1 : partner + 1;
}

uint64_t Matcher::KnownOperands(const DiffSide& side, uint32_t id) const {
  const Instruction& hlo = side.ids[id];
  uint64_t hash = KnownValue(side, id);
  if (IsTuple(hlo)) return hash;
  for (const Instruction* operand : hlo.operands.first(std::min(kMaxOperands, hlo.operand_count())))
    hash = Mix(hash, KnownValue(side, side.ids(*side.flow.SourceOf(side.ids(*operand)).hlo)));
  return hash;
}

bool Matcher::OperandsAgree(const Instruction& a, const Instruction& b) const {
  auto agree = [&](uint32_t in_a, uint32_t in_b) {
    const uint64_t known_a = KnownValue(a_, in_a), known_b = KnownValue(b_, in_b);
    return known_a == known_b || known_a == 0 || known_b == 0;
  };
  if (common_in_a_[a_.ids(a)] != common_in_b_[b_.ids(b)] || !agree(a_.ids(a), b_.ids(b))) return false;
  if (IsTuple(a)) return true;
  const size_t count = std::min({kMaxOperands, a.operand_count(), b.operand_count()});
  for (size_t i = 0; i < count; ++i)
    if (!agree(a_.ids(*a_.flow.SourceOf(a_.ids(*a.operands[i])).hlo),
               b_.ids(*b_.flow.SourceOf(b_.ids(*b.operands[i])).hlo)))
      return false;
  return true;
}

void Matcher::PairIfSimilar(const Instruction& a, const Instruction& b, Similarity similarity) {
  const uint32_t in_a = a_.ids(a), in_b = b_.ids(b);
  if (a.opcode != b.opcode || !Free(in_a, in_b)) return;
  if (similarity.with_operands && !OperandsAgree(a, b)) return;
  if (SimilarityHash(a_, in_a, similarity.of) == SimilarityHash(b_, in_b, similarity.of)) Pair(in_a, in_b);
}

void Matcher::TrySources(const Instruction& a, const Instruction& b, Similarity similarity) {
  const ValueRef& from_a = a_.flow.SourceOf(a_.ids(a));
  const ValueRef& from_b = b_.flow.SourceOf(b_.ids(b));
  if (from_a.path == from_b.path) PairIfSimilar(*from_a.hlo, *from_b.hlo, similarity);
}

void Matcher::TryRoots(const Computation& a, const Computation& b, Similarity similarity) {
  if (a.root != nullptr && b.root != nullptr) TrySources(*a.root, *b.root, similarity);
}

// Propagates to operands first, because an index identifies each operand. Users are often ambiguous.
void Matcher::Spread(Similarity similarity) {
  for (bool to_users : {false, true})
    for (size_t next = 0; next < open_.size(); ++next) {  // open_ grows during the loop
      const auto [a, b] = open_[next];
      SpreadToOperands(a_.ids[a], b_.ids[b], similarity);
      SpreadToCallees(a_.ids[a], b_.ids[b], similarity);
      if (to_users) SpreadToUsers(a, b, similarity);
    }
  std::erase_if(open_, [&](const auto& pair) { return !IsOpen(pair.first, pair.second); });
}

// True if the pair calls computations, or if both have unmatched operands, or if both have unmatched users.
bool Matcher::IsOpen(uint32_t a, uint32_t b) const {
  auto has_free_operand = [](const DiffSide& side, const Instruction& hlo, const std::vector<uint32_t>& partner) {
    return std::any_of(hlo.operands.begin(), hlo.operands.end(), [&](const Instruction* operand) {
      return partner[side.ids(*side.flow.SourceOf(side.ids(*operand)).hlo)] == kNoMatch;
    });
  };
  auto has_free_user = [](const ValueUses& uses, uint32_t id, const std::vector<uint32_t>& partner) {
    const std::span<const ValueUse> all = uses.Of(id);
    return std::any_of(all.begin(), all.end(), [&](const ValueUse& use) { return partner[use.user] == kNoMatch; });
  };
  const Instruction& in_a = a_.ids[a];
  if (CallsComputations(in_a)) return true;
  return (has_free_operand(a_, in_a, result_.b_of) && has_free_operand(b_, b_.ids[b], result_.a_of)) ||
         (has_free_user(a_uses_, a, result_.b_of) && has_free_user(b_uses_, b, result_.a_of));
}

void Matcher::SpreadToOperands(const Instruction& a, const Instruction& b, Similarity similarity) {
  const size_t count = std::min(a.operand_count(), b.operand_count());
  for (size_t i = 0; i < count; ++i) TrySources(*a.operands[i], *b.operands[i], similarity);
  if (a.operand_count() == b.operand_count()) return;
  // If elements of a tuple were added or removed, later elements have moved. Compare these from the end.
  for (size_t i = 1; i <= count; ++i)
    TrySources(*a.operands[a.operand_count() - i], *b.operands[b.operand_count() - i], similarity);
}

void Matcher::SpreadToCallees(const Instruction& a, const Instruction& b, Similarity similarity) {
  if (!CallsComputations(a) || !CallsComputations(b)) return;
  const std::vector<Computation*> in_a = CalledComputations(a), in_b = CalledComputations(b);
  for (size_t i = 0; i < std::min(in_a.size(), in_b.size()); ++i) {
    TryRoots(*in_a[i], *in_b[i], similarity);
    const size_t count = std::min(in_a[i]->parameters.size(), in_b[i]->parameters.size());
    for (size_t p = 0; p < count; ++p)
      if (in_a[i]->parameters[p] != nullptr && in_b[i]->parameters[p] != nullptr)
        TrySources(*in_a[i]->parameters[p], *in_b[i]->parameters[p], {Similarity::Of::kOpcode});
  }
}

// Matches users only if each module has exactly one candidate.
void Matcher::SpreadToUsers(uint32_t a, uint32_t b, Similarity similarity) {
  auto candidates = [&](const DiffSide& side, const ValueUses& uses, const std::vector<uint32_t>& partner,
                        uint32_t of) {
    std::vector<Candidate> all;
    for (const ValueUse& use : uses.Of(of)) {
      if (partner[use.user] != kNoMatch) continue;
      const uint64_t operands = similarity.with_operands ? KnownOperands(side, use.user) : 0;
      all.push_back({Mix(Mix(use.slot, SimilarityHash(side, use.user, similarity.of)), operands), use.user});
    }
    return all;
  };
  std::vector<Candidate> in_a = candidates(a_, a_uses_, result_.b_of, a);
  if (in_a.empty()) return;
  ForEachSharedKey(std::move(in_a), candidates(b_, b_uses_, result_.a_of, b), [&](Candidates as, Candidates bs) {
    if (as.size() == 1 && bs.size() == 1) PairIfSimilar(a_.ids[as[0].id], b_.ids[bs[0].id], similarity);
  });
}

}  // namespace shoal::internal
