#include "analyze/facts/async_regions.h"

#include <unordered_set>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

constexpr int kMaxSteps = 200;  // limits one search; the paths in real modules are far shorter

}  // namespace

// Traces back from a done to all starts whose results may reach the done.
class AsyncRegions::Trace {
 public:
  Trace(const CallGraph& calls, const Instruction& done) : calls_(calls) {
    if (const AsyncPair* pair = PairOf(done.opcode)) start_opcode_ = pair->start;
    if (done.operand_count() > 0) Enqueue({done.operands[0], {}});
  }

  template <class Found>
  void Run(Found found) {
    for (int steps = 0; !todo_.empty() && steps < kMaxSteps; ++steps) {
      ValueRef position = std::move(todo_.back());
      todo_.pop_back();
      if (position.hlo->opcode == start_opcode_) {
        found(*position.hlo);
      } else {
        FollowOperands(std::move(position));
      }
    }
  }

 private:
  void Enqueue(ValueRef position) {
    if (position.hlo != nullptr && seen_.insert(position.hlo).second) todo_.push_back(std::move(position));
  }

  void FollowOperands(ValueRef position) {
    constexpr Forwarding kTraced = kCarriesAsync | Forwarding::kAddDependency | Forwarding::kDomain |
                                   Forwarding::kAsyncUpdate | Forwarding::kBitcast;
    const Instruction& hlo = *position.hlo;
    const Forwarding forwarding = ForwardingOf(hlo);
    if (forwarding == Forwarding::kArgument) return BackToCallers(hlo, position.path);
    if (forwarding == Forwarding::kLoopState) return BackThroughLoop(hlo, position.path);
    if (forwarding == Forwarding::kCalled) {
      const Computation* callee = CalleeRunOnce(hlo);
      return Enqueue({callee == nullptr ? nullptr : callee->root, std::move(position.path)});
    }
    if (TraceToOperand(position, kTraced)) Enqueue(std::move(position));
  }

  void BackThroughLoop(const Instruction& loop, const ShapeIndex& path) {
    if (const Computation* body = BodyOf(loop)) Enqueue({body->root, path});
    if (loop.operand_count() > 0) Enqueue({loop.operands[0], path});
  }

  void BackToCallers(const Instruction& parameter, const ShapeIndex& path) {
    for (const Instruction* caller : calls_.CallersOf(*parameter.parent)) {
      if (CallKindOf(*caller) == CallKind::kLoop) {
        BackThroughLoop(*caller, path);
      } else {
        Enqueue({ArgumentOf(*caller, *parameter.parent, parameter[kParameterNumber]), path});
      }
    }
  }

  const CallGraph& calls_;
  Opcode start_opcode_{};
  std::vector<ValueRef> todo_;
  std::unordered_set<const Instruction*> seen_;
};

const Instruction* CallerWithin(const Computation& computation, const Instruction& hlo, const CallGraph& calls) {
  constexpr int kMaxLevels = 16;
  const Instruction* at = &hlo;
  for (int level = 0; level < kMaxLevels; ++level) {
    if (at->parent == &computation) return at;
    const auto callers = calls.CallersOf(*at->parent);
    if (callers.empty()) return nullptr;
    at = callers[0];
  }
  return nullptr;
}

AsyncRegions::AsyncRegions(const CallGraph& calls) : calls_(calls) {
  for (const Computation* computation : calls.ReachableFromEntry())
    for (const Instruction* hlo : computation->instructions)
      if (IsAsyncDone(*hlo)) Trace(calls, *hlo).Run([&](const Instruction& start) { RecordDone(start, *hlo); });
}

// Distance in instructions of the start's computation. A done before the start is farther away than any done after it.
int64_t AsyncRegions::Distance(const Instruction& start, const Instruction& done) const {
  const Instruction* at = CallerWithin(*start.parent, done, calls_);
  const auto size = std::ssize(start.parent->instructions);
  if (at == nullptr) return 2 * size;
  return int64_t{at->index} - int64_t{start.index} + (at->index > start.index ? 0 : size);
}

void AsyncRegions::RecordDone(const Instruction& start, const Instruction& done) {
  auto [nearest, inserted] = dones_.try_emplace(&start, &done);
  if (!inserted && Distance(start, done) < Distance(start, *nearest->second)) nearest->second = &done;
}

const Instruction* AsyncRegions::DoneOf(const Instruction& start) const {
  auto found = dones_.find(&start);
  return found == dones_.end() ? nullptr : found->second;
}

}  // namespace shoal::internal
