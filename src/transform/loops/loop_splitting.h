// Loop splitting for a concatenate or a pad in a fused loop nest. Splits the loops at the operand boundaries, so that
// each part reads only one operand and computes the entire chain of ops from it.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "core/ir/instruction.h"

namespace shoal::internal {

// Maximum number of parts: compiling more kernels would take longer than copying the operands.
inline constexpr int64_t kMaxSplits = 16;

// The first iteration i of a loop at which factor * i + offset has crossed `border`, from below or from above.
int64_t FirstIterationPast(int64_t border, int64_t factor, int64_t offset);

// The split points of the loops over the dimensions of a root: 0 < split point < size.
class LoopSplits {
 public:
  explicit LoopSplits(const Instruction& root);

  // Returns these split points and those that the concat-like `hlo` needs. `is_inside` is true for instructions that
  // the root's loops compute. Returns nullopt if the loops cannot be split (an index on the path is not affine in one
  // loop variable) or if splitting is not profitable: too many parts, or too many elements in short parts.
  using Users = std::function<const std::vector<Instruction*>&(const Instruction&)>;
  using IsInside = std::function<bool(const Instruction&)>;
  std::optional<LoopSplits> WithSplitsFor(const Instruction& hlo, const Users& users, const IsInside& is_inside) const;

  int64_t PartCount() const;

 private:
  bool AreLongEnough() const;

  const Instruction* root_;
  std::vector<std::set<int64_t>> split_points_;  // for each dimension
};

}  // namespace shoal::internal
