// Thunk: code that an engine generated to replace the evaluator of an instruction.
#pragma once

#include <memory>
#include <unordered_map>

#include "execute/interp/evaluate.h"

namespace shoal::internal {

class Thunk {
 public:
  virtual ~Thunk() = default;
  // Several devices and runs may call it simultaneously. call.device has the pool and the other settings of the run.
  virtual Result<Value> Run(Call& call) const = 0;
};

using Thunks = std::unordered_map<const Instruction*, std::unique_ptr<const Thunk>>;

}  // namespace shoal::internal
