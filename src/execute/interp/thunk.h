// Thunk: code that an engine generated to replace the evaluator of an instruction. The engine attaches it to the
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

// The address of the Thunk. It is not in any op's kAttrs and is never printed.
inline constexpr Attr<int64_t> kThunk{"(compiled step)"};

// The address of the engine's thread pool, which the evaluators of collectives may use for large arrays. It is set on
// collectives and on the root of the entry computation.
inline constexpr Attr<int64_t> kThreadPool{"(engine pool)"};
inline ThreadPool* EnginePoolOf(const Instruction& hlo) { return reinterpret_cast<ThreadPool*>(hlo[kThreadPool]); }

inline const Thunk* ThunkOf(const Instruction& hlo) {
  return reinterpret_cast<const Thunk*>(hlo[kThunk]);
}

}  // namespace shoal::internal
