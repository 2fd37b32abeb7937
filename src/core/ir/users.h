// The users of each instruction.
#pragma once

#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/ir/module.h"

namespace shoal::internal {

class Users {
 public:
  // Each user once, in the order of the text.
  std::span<const Instruction* const> Of(const Instruction& hlo);

 private:
  struct Lists {
    std::vector<const Instruction*> all;
    std::vector<uint32_t> starts;  // users of instruction i: all[starts[i]] up to, not including, all[starts[i + 1]]
  };
  const Lists& ListsOf(const Computation& computation);

  absl::flat_hash_map<const Computation*, Lists> lists_;
};

}  // namespace shoal::internal
