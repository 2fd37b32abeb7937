#include "analysis/async_regions.h"

#include <algorithm>
#include <unordered_set>

#include "ops/families.h"

namespace shoal {
namespace {

using While = Op<Opcode::kWhile>;

constexpr int kMostSteps = 200;  // of one search; nobody hands a start's result on as often

struct StartAndDone {
  Opcode start, done;
};
constexpr StartAndDone kPairs[] = {
    {Opcode::kAllGatherStart, Opcode::kAllGatherDone},
    {Opcode::kAllReduceStart, Opcode::kAllReduceDone},
    {Opcode::kAsyncStart, Opcode::kAsyncDone},
    {Opcode::kCollectivePermuteStart, Opcode::kCollectivePermuteDone},
    {Opcode::kCopyStart, Opcode::kCopyDone},
    {Opcode::kRecv, Opcode::kRecvDone},
    {Opcode::kSend, Opcode::kSendDone},
};

// Ops whose result is their first operand's, or holds it at the same place.
bool HandsOn(const Instruction& hlo) {
  static constexpr Opcode kHandOn[] = {Opcode::kAsyncUpdate, Opcode::kBitcast, Opcode::kCopy,
                                       Opcode::kOptimizationBarrier};
  return std::find(std::begin(kHandOn), std::end(kHandOn), hlo.opcode) != std::end(kHandOn) ||
         (hlo.opcode == Opcode::kCustomCall && IsRemark(hlo));
}

}  // namespace

bool IsAsyncStart(const Instruction& hlo) {
  return std::any_of(std::begin(kPairs), std::end(kPairs),
                     [&](const StartAndDone& pair) { return pair.start == hlo.opcode; });
}

bool IsAsyncDone(const Instruction& hlo) {
  return std::any_of(std::begin(kPairs), std::end(kPairs),
                     [&](const StartAndDone& pair) { return pair.done == hlo.opcode; });
}

// The way back from a done to all starts whose results may reach it.
class AsyncRegions::Trace {
 public:
  Trace(const CallGraph& calls, const Instruction& done) : calls_(calls) {
    for (const StartAndDone& pair : kPairs)
      if (pair.done == done.opcode) wanted_ = pair.start;
    if (done.operand_count() > 0) Go(done.operands[0], {});
  }

  template <class Found>
  void Run(Found found) {
    for (int steps = 0; !todo_.empty() && steps < kMostSteps; ++steps) {
      auto [hlo, path] = std::move(todo_.back());
      todo_.pop_back();
      if (hlo->opcode == wanted_) {
        found(*hlo);
      } else {
        Back(*hlo, std::move(path));
      }
    }
  }

 private:
  using Path = std::vector<int64_t>;  // the elements to be taken of a tuple further up, innermost last

  void Go(const Instruction* hlo, Path path) {
    if (hlo != nullptr && seen_.insert(hlo).second) todo_.emplace_back(hlo, std::move(path));
  }

  void Back(const Instruction& hlo, Path path) {
    if (hlo.opcode == Opcode::kParameter) return BackToCallers(hlo, path);
    if (hlo.opcode == Opcode::kTuple) {
      if (path.empty() || path.back() < 0 || path.back() >= std::ssize(hlo.operands)) return;
      const auto element = static_cast<size_t>(path.back());
      path.pop_back();
      return Go(hlo.operands[element], std::move(path));
    }
    if (hlo.opcode == Opcode::kWhile)
      if (const Computation* body = hlo[While::kBody]) Go(body->root, path);
    if (hlo.opcode == Opcode::kCall)
      if (const Computation* callee = hlo[kToApply]) return Go(callee->root, std::move(path));
    const bool takes_element = hlo.opcode == Opcode::kGetTupleElement;
    if (takes_element) path.push_back(hlo[Op<Opcode::kGetTupleElement>::kIndex]);
    if (hlo.operand_count() > 0 && (takes_element || hlo.opcode == Opcode::kWhile || HandsOn(hlo)))
      Go(hlo.operands[0], std::move(path));
  }

  void BackToCallers(const Instruction& parameter, const Path& path) {
    for (const Instruction* caller : calls_.CallersOf(*parameter.parent)) {
      if (caller->opcode != Opcode::kWhile) {
        Go(ArgumentOf(*caller, *parameter.parent, parameter[kParameterNumber]), path);
      } else if (caller->operand_count() > 0) {
        Go(caller->operands[0], path);
        if (const Computation* body = (*caller)[While::kBody]) Go(body->root, path);
      }
    }
  }

  const CallGraph& calls_;
  Opcode wanted_{};
  std::vector<std::pair<const Instruction*, Path>> todo_;
  std::unordered_set<const Instruction*> seen_;
};

const Instruction* CallerWithin(const Computation& computation, const Instruction& hlo, const CallGraph& calls) {
  constexpr int kMostLevels = 16;
  const Instruction* at = &hlo;
  for (int level = 0; level < kMostLevels; ++level) {
    if (at->parent == &computation) return at;
    const auto callers = calls.CallersOf(*at->parent);
    if (callers.empty()) return nullptr;
    at = callers[0];
  }
  return nullptr;
}

AsyncRegions::AsyncRegions(const CallGraph& calls) : calls_(calls) {
  for (const Computation* computation : calls.FromEntry())
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

}  // namespace shoal
