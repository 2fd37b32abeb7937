// The rules for a sharding of a value, for readers and the verifier.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/ir/shape.h"
#include "core/ir/sharding.h"

namespace shoal::internal {

struct ShardingProblem {
  std::string_view rule;  // empty: no problem
  std::string message;
};

// The first rule that the sharding breaks for a value of this shape; an empty rule if it is valid. `devices` is the number
// of partitions of the module, if it is known.
ShardingProblem ProblemOf(const Sharding& sharding, const Shape& shape, std::optional<int64_t> devices);

}  // namespace shoal::internal
