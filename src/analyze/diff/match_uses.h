// Who uses the values that an instruction makes, seen through what only hands them on.
#pragma once

#include "analyze/diff/data_flow.h"

namespace shoal::internal {

struct ValueUse {
  uint32_t user = 0;
  uint64_t slot = 0;  // which operand, and which part of the value; of a tuple any, since elements come and go
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
