// The users of an instruction's values, traced through ops that only forward values.
#pragma once

#include "analyze/diff/data_flow.h"

namespace shoal::internal {

struct ValueUse {
  uint32_t user = 0;
  uint64_t slot = 0;  // hash of the used tuple element and the operand index, without the index if `user` is a tuple
};

class ValueUses {
 public:
  explicit ValueUses(const DataFlow& flow);
  std::span<const ValueUse> Of(uint32_t id) const {
    return std::span(all_).subspan(starts_[id], starts_[id + 1] - starts_[id]);
  }

 private:
  std::vector<size_t> starts_;
  std::vector<ValueUse> all_;
};

}  // namespace shoal::internal
