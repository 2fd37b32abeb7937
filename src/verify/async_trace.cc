#include "verify/async_trace.h"

#include "absl/container/flat_hash_set.h"
#include "ops/families.h"

namespace shoal {
namespace {

constexpr int kMostSteps = 2000;  // of one search; nobody writes as long a chain

constexpr Opcode kProducers[] = {
    Opcode::kAllGatherStart, Opcode::kAllReduceStart,         Opcode::kAsyncStart,
    Opcode::kAsyncUpdate,    Opcode::kCollectivePermuteStart,
};
constexpr Opcode kHandOn[] = {
    Opcode::kCopy,      Opcode::kGetTupleElement, Opcode::kOptimizationBarrier,
    Opcode::kParameter, Opcode::kTuple,           Opcode::kWhile,
};

// The while loop whose body `computation` is, if there is exactly one.
const Instruction* LoopOf(const Computation& computation, const Inspection& inspection) {
  const Instruction* loop = nullptr;
  for (const Instruction* caller : inspection.CallersOf(computation)) {
    if (caller->opcode != Opcode::kWhile) continue;
    if (loop != nullptr) return nullptr;
    loop = caller;
  }
  return loop != nullptr && (*loop)[Op<Opcode::kWhile>::kBody] == &computation ? loop : nullptr;
}

class Trace {
 public:
  explicit Trace(const Inspection& inspection) : inspection_(inspection) {}

  // `path` are the elements to be taken of a tuple further up, innermost last.
  const Instruction* Back(const Instruction* hlo, std::vector<int64_t> path) {
    if (hlo == nullptr || steps_++ > kMostSteps || !visited_.insert(hlo).second) return nullptr;
    if (IsOneOf(*hlo, kProducers)) return hlo;
    if (const Instruction* found = BackThrough(*hlo, path)) return found;
    visited_.erase(hlo);
    return nullptr;
  }

 private:
  const Instruction* BackThrough(const Instruction& hlo, std::vector<int64_t>& path) {
    if (hlo.opcode == Opcode::kTuple) return BackThroughTuple(hlo, path);
    if (hlo.opcode == Opcode::kParameter) {
      const Instruction* loop = LoopOf(*hlo.parent, inspection_);
      return loop == nullptr ? nullptr : BackThroughLoop(*loop, path, /*body_first=*/false);
    }
    if (hlo.opcode == Opcode::kWhile) return BackThroughLoop(hlo, path, /*body_first=*/true);
    if (!HandsOn(hlo) || hlo.operands.empty()) return nullptr;
    if (hlo.opcode == Opcode::kGetTupleElement) path.push_back(hlo[Op<Opcode::kGetTupleElement>::kIndex]);
    return Back(hlo.operands[0], path);
  }

  const Instruction* BackThroughTuple(const Instruction& tuple, std::vector<int64_t>& path) {
    if (path.empty()) {
      for (const Instruction* operand : tuple.operands)
        if (const Instruction* found = Back(operand, {})) return found;
      return nullptr;
    }
    const int64_t element = path.back();
    path.pop_back();
    if (element < 0 || element >= std::ssize(tuple.operands)) return nullptr;
    return Back(tuple.operands[static_cast<size_t>(element)], path);
  }

  const Instruction* BackThroughLoop(const Instruction& loop, const std::vector<int64_t>& path, bool body_first) {
    const Computation* body = loop[Op<Opcode::kWhile>::kBody];
    const Instruction* root = body == nullptr ? nullptr : body->root;
    const Instruction* init = loop.operands.empty() ? nullptr : loop.operands[0];
    if (const Instruction* found = Back(body_first ? root : init, path)) return found;
    return Back(body_first ? init : root, path);
  }

  const Inspection& inspection_;
  absl::flat_hash_set<const Instruction*> visited_;
  int steps_ = 0;
};

}  // namespace

bool HandsOn(const Instruction& hlo) { return IsOneOf(hlo, kHandOn) || IsRemark(hlo); }

const Instruction* AsyncProducer(const Instruction& hlo, const Inspection& inspection) {
  if (IsOneOf(hlo, kProducers)) return &hlo;
  return Trace(inspection).Back(&hlo, {});
}

bool GoesAroundLoop(const Instruction& hlo, Inspection& inspection) {
  static constexpr Opcode kFollowed[] = {
      Opcode::kAsyncUpdate,         Opcode::kCall,  Opcode::kConditional, Opcode::kDomain, Opcode::kGetTupleElement,
      Opcode::kOptimizationBarrier, Opcode::kTuple,
  };
  static constexpr Opcode kCalls[] = {Opcode::kCall, Opcode::kConditional};
  absl::flat_hash_set<const Instruction*> seen{&hlo};
  std::vector<const Instruction*> todo{&hlo};
  auto follow = [&](const Instruction* next) {
    if (seen.insert(next).second) todo.push_back(next);
  };
  while (!todo.empty() && seen.size() <= kMostSteps) {
    const Instruction& at = *todo.back();
    todo.pop_back();
    if (&at == at.parent->root) {
      for (const Instruction* caller : inspection.CallersOf(*at.parent)) {
        const bool loop = caller->opcode == Opcode::kWhile;
        if (loop && (*caller)[Op<Opcode::kWhile>::kBody] == at.parent) return true;
        if (IsOneOf(*caller, kCalls)) follow(caller);
      }
    }
    for (const Instruction* user : inspection.UsersOf(at)) {
      if (user->opcode == Opcode::kWhile) return true;
      if (IsOneOf(*user, kFollowed)) follow(user);
    }
  }
  return false;
}

}  // namespace shoal
