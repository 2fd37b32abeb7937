// The steps of MatchInstructions. match.cc matches by keys. match_spread.cc matches neighbours of matched instructions.
// This header is private to analyze/diff.
#pragma once

#include <algorithm>

#include "analyze/diff/match.h"
#include "analyze/diff/match_uses.h"

namespace shoal::internal {

// The similarity required to match two instructions with matched neighbours.
struct Similarity {
  enum class Of : uint8_t { kOpHash, kOpName, kOpcode } of = Of::kOpHash;
  bool with_operands = false;  // also require that operands with known values are equal
};

struct Candidate {
  uint64_t key = 0;
  uint32_t id = 0;
};
using Candidates = std::span<const Candidate>;

// For each key in both lists, calls visit(as, bs) with the candidates that have this key.
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

  Matching Match();

 private:
  // Computes the key of an instruction, or 0 if the instruction is not a candidate.
  using Key = uint64_t (Matcher::*)(const DiffSide& side, uint32_t id) const;

  bool Free(uint32_t a, uint32_t b) const { return result_.b_of[a] == kNoMatch && result_.a_of[b] == kNoMatch; }
  void Pair(uint32_t a, uint32_t b) {
    result_.b_of[a] = b;
    result_.a_of[b] = a;
    pairs_.push_back({a, b});
    open_.push_back({a, b});
  }
  void PairIfSimilar(const Instruction& a, const Instruction& b, Similarity similarity);

  void MatchEqualComputations();
  void MatchEqualValues();
  void FindCommonValues();
  void MatchByKey(Key key, bool only_single = false);
  void Spread(Similarity similarity);
  bool IsOpen(uint32_t a, uint32_t b) const;
  void SpreadToOperands(const Instruction& a, const Instruction& b, Similarity similarity);
  void SpreadToCallees(const Instruction& a, const Instruction& b, Similarity similarity);
  void SpreadToUsers(uint32_t a, uint32_t b, Similarity similarity);
  void TrySources(const Instruction& a, const Instruction& b, Similarity similarity);
  void TryRoots(const Computation& a, const Computation& b, Similarity similarity);
  void MatchRemaining();
  void MatchReplaced();
  bool Replaces(const Instruction& a, const Instruction& b) const;
  void MatchForwardingOps();

  uint64_t SimilarityHash(const DiffSide& side, uint32_t id, Similarity::Of of) const;
  uint64_t KnownValue(const DiffSide& side, uint32_t id) const;
  uint64_t KnownOperands(const DiffSide& side, uint32_t id) const;
  bool OperandsAgree(const Instruction& a, const Instruction& b) const;
  uint64_t ValueInComputation(const DiffSide& side, uint32_t id) const;
  uint64_t ValueOfLoop(const DiffSide& side, uint32_t id) const;
  uint64_t ValueInLoop(const DiffSide& side, uint32_t id) const;
  uint64_t ValueAtDepth(const DiffSide& side, uint32_t id) const;
  uint64_t Value(const DiffSide& side, uint32_t id) const;
  uint64_t OpHashAndOpName(const DiffSide& side, uint32_t id) const;
  uint64_t OpcodeAndOpName(const DiffSide& side, uint32_t id) const;
  uint64_t ParameterNumber(const DiffSide& side, uint32_t id) const;
  uint64_t HeavyOpHash(const DiffSide& side, uint32_t id) const;
  uint64_t HashInComputation(const DiffSide& side, uint32_t id, uint64_t hash) const;
  uint64_t OpHashInComputation(const DiffSide& side, uint32_t id) const;
  uint64_t NoLayoutHashInComputation(const DiffSide& side, uint32_t id) const;
  uint64_t NoLayoutHashAndOpName(const DiffSide& side, uint32_t id) const;
  uint64_t ForwardedValue(const DiffSide& side, uint32_t id) const;

  const DiffSide& a_;
  const DiffSide& b_;
  const ValueUses a_uses_, b_uses_;
  std::vector<bool> common_in_a_, common_in_b_;  // for each instruction, true if both modules have its value
  Matching result_;
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;
  std::vector<std::pair<uint32_t, uint32_t>> open_;  // matched pairs that may have unmatched neighbours
  int64_t depth_ = 0;                                // nesting depth of the loops being matched
};

// Hash of the opcode, or of the target for a custom call.
uint64_t OpcodeHash(const Instruction& hlo);

}  // namespace shoal::internal
