// A way to compute an instruction other than its evaluator: code that an engine made for it. The engine hangs it on the
// instructions of its own copy of the module.
#pragma once

#include "interp/evaluate.h"

namespace shoal {

class CompiledStep {
 public:
  virtual ~CompiledStep() = default;
  virtual Result<Value> Run(Call& call) const = 0;
};

// The address of the step; not written as an attribute, and no op has it in its kAttrs.
inline constexpr Attr<int64_t> kCompiledStep{"(compiled step)"};

// Likewise the threads that the evaluator of a collective may use for large arrays.
inline constexpr Attr<int64_t> kEnginePool{"(engine pool)"};

inline const CompiledStep* CompiledStepOf(const Instruction& hlo) {
  return reinterpret_cast<const CompiledStep*>(hlo[kCompiledStep]);
}

}  // namespace shoal
