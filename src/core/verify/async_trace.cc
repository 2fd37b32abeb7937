#include "core/verify/async_trace.h"

#include "absl/container/flat_hash_set.h"
#include "core/ops/control_flow.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

constexpr int kMaxSteps = 2000;  // maximum per search; real chains are far shorter

// True for starts of collectives, and for async-start and async-update, which wrap a computation.
bool IsProducer(const Instruction& hlo) {
  if (IsAsyncChain(hlo)) return !IsAsyncDone(hlo);
  return IsAsyncStart(hlo) && Info(hlo.opcode).op_class == OpClass::kCollective;
}

// The only while loop whose body is `computation`; null if there is none or several.
const Instruction* LoopOf(const Computation& computation, const VerifierContext& context) {
  const Instruction* loop = nullptr;
  for (const Instruction* caller : context.CallersOf(computation)) {
    if (CallKindOf(*caller) != CallKind::kLoop) continue;
    if (loop != nullptr) return nullptr;
    loop = caller;
  }
  return loop != nullptr && BodyOf(*loop) == &computation ? loop : nullptr;
}

class Trace {
 public:
  explicit Trace(const VerifierContext& context) : context_(context) {}

  const Instruction* Back(const ValueRef& position) {
    if (position.hlo == nullptr || steps_++ > kMaxSteps || !visited_.insert(position.hlo).second) return nullptr;
    if (IsProducer(*position.hlo)) return position.hlo;
    if (const Instruction* found = BackThrough(position)) return found;
    visited_.erase(position.hlo);
    return nullptr;
  }

 private:
  const Instruction* BackThrough(ValueRef position) {
    const Forwarding forwarding = ForwardingOf(*position.hlo);
    if (forwarding == Forwarding::kTuple && position.path.empty()) {
      for (const Instruction* operand : position.hlo->operands)
        if (const Instruction* found = Back({operand, {}})) return found;
      return nullptr;
    }
    if (forwarding == Forwarding::kArgument) {
      const Instruction* loop = LoopOf(*position.hlo->parent, context_);
      return loop == nullptr ? nullptr : BackThroughLoop(*loop, position.path, /*body_first=*/false);
    }
    if (forwarding == Forwarding::kLoopState) return BackThroughLoop(*position.hlo, position.path, /*body_first=*/true);
    return TraceToOperand(position, kCarriesAsync) ? Back(position) : nullptr;
  }

  const Instruction* BackThroughLoop(const Instruction& loop, const ShapeIndex& path, bool body_first) {
    const Computation* body = BodyOf(loop);
    const Instruction* root = body == nullptr ? nullptr : body->root;
    const Instruction* init = loop.operands.empty() ? nullptr : loop.operands[0];
    if (const Instruction* found = Back({body_first ? root : init, path})) return found;
    return Back({body_first ? init : root, path});
  }

  const VerifierContext& context_;
  absl::flat_hash_set<const Instruction*> visited_;
  int steps_ = 0;
};

}  // namespace

const Instruction* AsyncProducer(const Instruction& hlo, const VerifierContext& context) {
  return IsProducer(hlo) ? &hlo : Trace(context).Back({&hlo, {}});
}

bool CrossesLoopBoundary(const Instruction& hlo, VerifierContext& context) {
  constexpr Forwarding kCalls = Forwarding::kCalled | Forwarding::kBranch;
  constexpr Forwarding kFollowed = kCalls | Forwarding::kAsyncUpdate | Forwarding::kDomain | Forwarding::kSame |
                                   Forwarding::kTupleElement | Forwarding::kTuple;
  absl::flat_hash_set<const Instruction*> seen{&hlo};
  std::vector<const Instruction*> todo{&hlo};
  auto follow = [&](const Instruction* next) {
    if (seen.insert(next).second) todo.push_back(next);
  };
  while (!todo.empty() && seen.size() <= kMaxSteps) {
    const Instruction& at = *todo.back();
    todo.pop_back();
    if (&at == at.parent->root) {
      for (const Instruction* caller : context.CallersOf(*at.parent)) {
        if (CallKindOf(*caller) == CallKind::kLoop && BodyOf(*caller) == at.parent) return true;
        if (Has(kCalls, ForwardingOf(*caller))) follow(caller);
      }
    }
    for (const Instruction* user : context.UsersOf(at)) {
      if (ForwardingOf(*user) == Forwarding::kLoopState) return true;
      if (Has(kFollowed, ForwardingOf(*user))) follow(user);
    }
  }
  return false;
}

}  // namespace shoal::internal
