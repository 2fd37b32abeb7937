// A way to compute an instruction other than its evaluator: code that an engine made for it. The engine hangs it on the
// instructions of its own copy of the module.
#pragma once

#include "execute/interp/evaluate.h"

namespace shoal::internal {

class ThreadPool;

class Thunk {
 public:
  virtual ~Thunk() = default;
  virtual Result<Value> Run(Call& call) const = 0;
};

// The address of the step; not written as an attribute, and no op has it in its kAttrs.
inline constexpr Attr<int64_t> kCompiledStep{"(compiled step)"};

// Likewise the threads of the engine, which the evaluator of a collective may use for large arrays: collectives and the
// root of the entry have them.
inline constexpr Attr<int64_t> kEnginePool{"(engine pool)"};
inline ThreadPool* EnginePoolOf(const Instruction& hlo) { return reinterpret_cast<ThreadPool*>(hlo[kEnginePool]); }

inline const Thunk* ThunkOf(const Instruction& hlo) {
  return reinterpret_cast<const Thunk*>(hlo[kCompiledStep]);
}

}  // namespace shoal::internal
