#include "core/verify/async_trace.h"

#include "absl/container/flat_hash_set.h"
#include "core/ops/control_flow.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

constexpr int kMaxSteps = 2000;  // of one search; nobody writes as long a chain


// Collectives that are written as a start, and chains that wrap a computation.
bool IsProducer(const Instruction& hlo) {
  if (IsAsyncChain(hlo)) return !IsAsyncDone(hlo);
  return IsAsyncStart(hlo) && Info(hlo.opcode).op_class == OpClass::kCollective;
}

// The while loop whose body `computation` is, if there is exactly one.
const Instruction* LoopOf(const Computation& computation, const VerifierContext& inspection) {
  const Instruction* loop = nullptr;
  for (const Instruction* caller : inspection.CallersOf(computation)) {
    if (CallKindOf(*caller) != CallKind::kLoop) continue;
    if (loop != nullptr) return nullptr;
    loop = caller;
  }
  return loop != nullptr && BodyOf(*loop) == &computation ? loop : nullptr;
}

class Trace {
 public:
  explicit Trace(const VerifierContext& inspection) : inspection_(inspection) {}

  const Instruction* Back(const ValueRef& place) {
    if (place.hlo == nullptr || steps_++ > kMaxSteps || !visited_.insert(place.hlo).second) return nullptr;
    if (IsProducer(*place.hlo)) return place.hlo;
    if (const Instruction* found = BackThrough(place)) return found;
    visited_.erase(place.hlo);
    return nullptr;
  }

 private:
  const Instruction* BackThrough(ValueRef place) {
    const Forwarding hands = ForwardingOf(*place.hlo);
    if (hands == Forwarding::kTuple && place.path.empty()) {
      for (const Instruction* operand : place.hlo->operands)
        if (const Instruction* found = Back({operand, {}})) return found;
      return nullptr;
    }
    if (hands == Forwarding::kArgument) {
      const Instruction* loop = LoopOf(*place.hlo->parent, inspection_);
      return loop == nullptr ? nullptr : BackThroughLoop(*loop, place.path, /*body_first=*/false);
    }
    if (hands == Forwarding::kLoopState) return BackThroughLoop(*place.hlo, place.path, /*body_first=*/true);
    return TraceToOperand(place, kCarriesAsync) ? Back(place) : nullptr;
  }

  const Instruction* BackThroughLoop(const Instruction& loop, const ShapeIndex& path, bool body_first) {
    const Computation* body = BodyOf(loop);
    const Instruction* root = body == nullptr ? nullptr : body->root;
    const Instruction* init = loop.operands.empty() ? nullptr : loop.operands[0];
    if (const Instruction* found = Back({body_first ? root : init, path})) return found;
    return Back({body_first ? init : root, path});
  }

  const VerifierContext& inspection_;
  absl::flat_hash_set<const Instruction*> visited_;
  int steps_ = 0;
};

}  // namespace

const Instruction* AsyncProducer(const Instruction& hlo, const VerifierContext& inspection) {
  return IsProducer(hlo) ? &hlo : Trace(inspection).Back({&hlo, {}});
}

bool CrossesLoopBoundary(const Instruction& hlo, VerifierContext& inspection) {
  constexpr Forwarding kCalls = Forwarding::kCalled | Forwarding::kBranch;
  constexpr Forwarding kFollowed =
      kCalls | Forwarding::kAsyncUpdate | Forwarding::kDomain | Forwarding::kSame | Forwarding::kTupleElement | Forwarding::kTuple;
  absl::flat_hash_set<const Instruction*> seen{&hlo};
  std::vector<const Instruction*> todo{&hlo};
  auto follow = [&](const Instruction* next) {
    if (seen.insert(next).second) todo.push_back(next);
  };
  while (!todo.empty() && seen.size() <= kMaxSteps) {
    const Instruction& at = *todo.back();
    todo.pop_back();
    if (&at == at.parent->root) {
      for (const Instruction* caller : inspection.CallersOf(*at.parent)) {
        if (CallKindOf(*caller) == CallKind::kLoop && BodyOf(*caller) == at.parent) return true;
        if (Has(kCalls, ForwardingOf(*caller))) follow(caller);
      }
    }
    for (const Instruction* user : inspection.UsersOf(at)) {
      if (ForwardingOf(*user) == Forwarding::kLoopState) return true;
      if (Has(kFollowed, ForwardingOf(*user))) follow(user);
    }
  }
  return false;
}

}  // namespace shoal::internal
