#include "analyze/memory/timeline.h"

#include <algorithm>
#include <optional>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {

std::vector<const Computation*> ExecutedComputations(const Instruction& caller) {
  const bool runs = IsLoop(caller) || IsBranch(caller) || (CalleeRunOnce(caller) != nullptr && !IsFusion(caller));
  if (!runs) return {};
  std::vector<const Computation*> callees;
  if (IsLoop(caller)) {
    callees = {ConditionOf(caller), BodyOf(caller)};
  } else {
    const std::vector<Computation*> called = CalledComputations(caller);
    callees.assign(called.begin(), called.end());
  }
  std::erase_if(callees, [](const Computation* callee) { return callee == nullptr || callee->root == nullptr; });
  return callees;
}

// A computation that is being added. Frames are in a vector, since calls may nest too deep for recursion.
struct Timeline::Frame {
  std::vector<const Instruction*> order;
  size_t first = 0;  // index in times_ of the computation's first instruction
  Span* span = nullptr;
  size_t next = 0;                                         // index of the next instruction in `order`
  std::optional<std::vector<const Computation*>> callees;  // callees of order[next], in reverse order
};

Timeline::Timeline(const Module& module, ScheduleSource order) : entry_(module.entry) {
  if (entry_ == nullptr || entry_->root == nullptr) return;
  std::vector<Frame> frames;
  Open(*entry_, nullptr, order, frames);
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.next == frame.order.size()) {
      frame.span->end = end();
      frames.pop_back();
      continue;
    }
    const Instruction& hlo = *frame.order[frame.next];
    if (!frame.callees) {
      frame.callees = ExecutedComputations(hlo);
      std::reverse(frame.callees->begin(), frame.callees->end());
    }
    if (!frame.callees->empty()) {
      const Computation& callee = *frame.callees->back();
      frame.callees->pop_back();
      Open(callee, &hlo, order, frames);
      continue;
    }
    frame.callees.reset();
    ++frame.next;
    times_[frame.first + hlo.index] = end();
    steps_.push_back(&hlo);
  }
  ExtendAsync();
}

void Timeline::Open(const Computation& computation, const Instruction* caller, ScheduleSource order,
                    std::vector<Frame>& frames) {
  auto [span, is_new] = spans_.try_emplace(&computation);
  if (!is_new) return;
  const size_t first = times_.size();
  times_.resize(first + computation.instructions.size(), -1);
  span->second = {end(), end(), -1, first, caller};
  Frame frame;
  frame.first = first;
  frame.span = &span->second;  // an unordered_map keeps its values at stable addresses
  if (order == ScheduleSource::kText)
    frame.order.assign(computation.instructions.begin(), computation.instructions.end());
  else
    frame.order = ListSchedule(computation);
  frames.push_back(std::move(frame));
}

// Sets the end of async computations. An async computation may keep its memory until its done.
void Timeline::ExtendAsync() {
  for (const Instruction* done : steps_) {
    if (!IsAsyncChain(*done) || !IsAsyncDone(*done)) continue;
    const Instruction* start = AsyncStartOf(*done);
    if (start == nullptr) continue;
    for (const Computation* callee : ExecutedComputations(*start)) {
      if (!RunsAt(*callee, *start)) continue;
      Span& span = spans_.at(callee);
      span.until = std::max(span.until, TimeOf(*done));
    }
  }
}

int64_t Timeline::TimeOf(const Instruction& hlo) const {
  const Span* span = SpanOf(*hlo.parent);
  return span == nullptr ? -1 : times_[span->first + hlo.index];
}

const Timeline::Span* Timeline::SpanOf(const Computation& computation) const {
  auto found = spans_.find(&computation);
  return found == spans_.end() ? nullptr : &found->second;
}

bool Timeline::RunsAt(const Computation& computation, const Instruction& caller) const {
  const Span* span = SpanOf(computation);
  return span != nullptr && span->caller == &caller;
}

}  // namespace shoal::internal
