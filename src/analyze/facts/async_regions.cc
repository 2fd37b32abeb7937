#include "analyze/facts/async_regions.h"

#include <unordered_set>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {


constexpr int kMaxSteps = 200;  // of one search; nobody hands a start's result on as often

}  // namespace

// The way back from a done to all starts whose results may reach it.
class AsyncRegions::Trace {
 public:
  Trace(const CallGraph& calls, const Instruction& done) : calls_(calls) {
    if (const AsyncPair* pair = PairOf(done.opcode)) wanted_ = pair->start;
    if (done.operand_count() > 0) Go({done.operands[0], {}});
  }

  template <class Found>
  void Run(Found found) {
    for (int steps = 0; !todo_.empty() && steps < kMaxSteps; ++steps) {
      ValueRef place = std::move(todo_.back());
      todo_.pop_back();
      if (place.hlo->opcode == wanted_) {
        found(*place.hlo);
      } else {
        Back(std::move(place));
      }
    }
  }

 private:
  void Go(ValueRef place) {
    if (place.hlo != nullptr && seen_.insert(place.hlo).second) todo_.push_back(std::move(place));
  }

  void Back(ValueRef place) {
    constexpr Forwarding kThrough = kCarriesAsync | Forwarding::kAddDependency | Forwarding::kDomain | Forwarding::kAsyncUpdate | Forwarding::kBitcast;
    const Instruction& hlo = *place.hlo;
    const Forwarding hands = ForwardingOf(hlo);
    if (hands == Forwarding::kArgument) return BackToCallers(hlo, place.path);
    if (hands == Forwarding::kLoopState) return BackThroughLoop(hlo, place.path);
    if (hands == Forwarding::kCalled) {
      const Computation* callee = RunOnceBy(hlo);
      return Go({callee == nullptr ? nullptr : callee->root, std::move(place.path)});
    }
    if (TraceToOperand(place, kThrough)) Go(std::move(place));
  }

  void BackThroughLoop(const Instruction& loop, const ShapeIndex& path) {
    if (const Computation* body = BodyOf(loop)) Go({body->root, path});
    if (loop.operand_count() > 0) Go({loop.operands[0], path});
  }

  void BackToCallers(const Instruction& parameter, const ShapeIndex& path) {
    for (const Instruction* caller : calls_.CallersOf(*parameter.parent)) {
      if (CallKindOf(*caller) == CallKind::kLoop) {
        BackThroughLoop(*caller, path);
      } else {
        Go({ArgumentOf(*caller, *parameter.parent, parameter[kParameterNumber]), path});
      }
    }
  }

  const CallGraph& calls_;
  Opcode wanted_{};
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
      if (IsAsyncDone(*hlo)) Trace(calls, *hlo).Run([&](const Instruction& start) { Join(start, *hlo); });
}

// How far a done is from its start, in instructions of the start's computation; what is not after it is further.
int64_t AsyncRegions::Distance(const Instruction& start, const Instruction& done) const {
  const Instruction* at = CallerWithin(*start.parent, done, calls_);
  const auto size = std::ssize(start.parent->instructions);
  if (at == nullptr) return 2 * size;
  return int64_t{at->index} - int64_t{start.index} + (at->index > start.index ? 0 : size);
}

void AsyncRegions::Join(const Instruction& start, const Instruction& done) {
  auto [known, inserted] = dones_.try_emplace(&start, &done);
  if (!inserted && Distance(start, done) < Distance(start, *known->second)) known->second = &done;
}

const Instruction* AsyncRegions::DoneOf(const Instruction& start) const {
  auto found = dones_.find(&start);
  return found == dones_.end() ? nullptr : found->second;
}

}  // namespace shoal::internal
