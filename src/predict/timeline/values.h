// Maps the leaves of values to buffers, so that the cache model recognizes data that was accessed before.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "core/ir/module.h"

namespace shoal::internal {

using Leaves = std::vector<uint64_t>;  // a buffer number for each array of a value

class Values {
 public:
  const Leaves& Of(const Instruction& hlo);
  void Set(const Instruction& hlo, Leaves leaves) { leaves_[&hlo] = std::move(leaves); }
  // Returns new buffer numbers for a value of this shape.
  Leaves Fresh(const Shape& shape);
  uint64_t FreshLeaf() { return next_++; }
  // If `hlo` only forwards operands, like a tuple or a bitcast, forwards their leaves and returns true.
  bool Forward(const Instruction& hlo);

 private:
  absl::flat_hash_map<const Instruction*, Leaves> leaves_;
  uint64_t next_ = 1;
};

}  // namespace shoal::internal
