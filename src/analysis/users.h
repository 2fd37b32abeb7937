// Who uses an instruction's value.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "ir/module.h"

namespace shoal {

class Users {
 public:
  // Each user once, in the order of the text.
  std::span<const Instruction* const> Of(const Instruction& hlo);

 private:
  struct Lists {
    std::vector<const Instruction*> all;
    std::vector<size_t> starts;  // of instruction number i: all[starts[i]] to all[starts[i + 1]]
  };
  const Lists& ListsOf(const Computation& computation);

  std::unordered_map<const Computation*, Lists> lists_;
};

}  // namespace shoal
