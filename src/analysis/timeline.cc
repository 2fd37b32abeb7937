#include "analysis/timeline.h"

#include <algorithm>

#include "analysis/call_graph.h"
#include "ops/families.h"

namespace shoal {

std::vector<const Computation*> RunBy(const Instruction& caller) {
  static constexpr Opcode kWhole[] = {Opcode::kAsyncStart, Opcode::kCall, Opcode::kConditional, Opcode::kWhile};
  if (std::find(std::begin(kWhole), std::end(kWhole), caller.opcode) == std::end(kWhole)) return {};
  std::vector<const Computation*> callees;
  if (caller.opcode == Opcode::kWhile) {
    callees = {caller[Op<Opcode::kWhile>::kCondition], caller[Op<Opcode::kWhile>::kBody]};
  } else {
    const std::vector<Computation*> called = CalledComputations(caller);
    callees.assign(called.begin(), called.end());
  }
  std::erase_if(callees, [](const Computation* callee) { return callee == nullptr || callee->root == nullptr; });
  return callees;
}

Timeline::Timeline(const Module& module, StepOrder order) : entry_(module.entry) {
  if (entry_ == nullptr || entry_->root == nullptr) return;
  Add(*entry_, nullptr, order);
  ExtendAsync();
}

void Timeline::Add(const Computation& computation, const Instruction* caller, StepOrder order) {
  auto [span, is_new] = spans_.try_emplace(&computation);
  if (!is_new) return;
  const size_t first = times_.size();
  times_.resize(first + computation.instructions.size(), -1);
  const int64_t start = end();
  span->second = {start, start, -1, first, caller};
  auto add = [&](const Instruction& hlo) {
    AddCallees(hlo, order);
    times_[first + hlo.index] = end();
    steps_.push_back(&hlo);
  };
  if (order == StepOrder::kText)
    for (const Instruction* hlo : computation.instructions) add(*hlo);
  else
    for (const Instruction* hlo : ListSchedule(computation)) add(*hlo);
  spans_.at(&computation).end = end();
}

void Timeline::AddCallees(const Instruction& caller, StepOrder order) {
  for (const Computation* callee : RunBy(caller)) Add(*callee, &caller, order);
}

// What an async computation holds, it may hold until the done.
void Timeline::ExtendAsync() {
  for (const Instruction* done : steps_) {
    if (done->opcode != Opcode::kAsyncDone) continue;
    const Instruction* start = AsyncStartOf(*done);
    if (start == nullptr) continue;
    for (const Computation* callee : RunBy(*start)) {
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

}  // namespace shoal
