// A concatenate or a pad as part of a loop nest: the loops are cut where one operand ends and the next begins, and each
// piece computes the whole chain from the one operand it sees.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "core/ir/instruction.h"

namespace shoal::internal {

// More kernels than this take longer to compile than a copy takes.
inline constexpr int64_t kMaxSplits = 16;

// The first round i of a loop in which factor * i + offset has passed `border`, from below or from above.
int64_t FirstIterationPast(int64_t border, int64_t factor, int64_t offset);

// Where the loops over a root's dimensions are cut: 0 < cut < size.
class LoopSplits {
 public:
  explicit LoopSplits(const Instruction& root);

  // With the cuts that `hlo` needs as well. `is_inside` says which instructions the loops of the root compute; users:
  // of an instruction. Nothing where the loops cannot be cut so (an index on the way that is no multiple of one loop's
  // variable), or where that would not pay: too many pieces, or too many elements in short ones.
  using Users = std::function<const std::vector<Instruction*>&(const Instruction&)>;
  using IsInside = std::function<bool(const Instruction&)>;
  std::optional<LoopSplits> With(const Instruction& hlo, const Users& users, const IsInside& is_inside) const;

  int64_t Pieces() const;

 private:
  bool AreLongEnough() const;

  const Instruction* root_;
  std::vector<std::set<int64_t>> cuts_;  // of each dimension
};

}  // namespace shoal::internal
