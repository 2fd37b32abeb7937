// Which buffer an instruction's value is in, leaf by leaf, so that the cache knows what was touched before.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "core/ir/module.h"

namespace shoal::internal {

using Leaves = std::vector<uint64_t>;  // a number for each array of a value

class Values {
 public:
  const Leaves& Of(const Instruction& hlo);
  void Set(const Instruction& hlo, Leaves leaves) { leaves_[&hlo] = std::move(leaves); }
  // Fresh numbers for a value.
  Leaves Fresh(const Shape& shape);
  uint64_t FreshLeaf() { return next_++; }
  // Tuples, their elements, bitcasts and the like hand leaves on; true if that is all the instruction does.
  bool HandOn(const Instruction& hlo);

 private:
  absl::flat_hash_map<const Instruction*, Leaves> leaves_;
  uint64_t next_ = 1;
};

}  // namespace shoal::internal
