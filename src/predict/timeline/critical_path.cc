#include "predict/timeline/critical_path.h"

#include <algorithm>
#include <unordered_map>

namespace shoal::internal {
namespace {

constexpr double kTolerance = 1e-12;  // seconds

class Path {
 public:
  explicit Path(const Trace& trace) : trace_(trace), by_end_(trace.events.size()), seen_(trace.events.size(), false) {
    for (size_t i = 0; i < by_end_.size(); ++i) by_end_[i] = i;
    std::stable_sort(by_end_.begin(), by_end_.end(), [&](size_t a, size_t b) { return End(a) < End(b); });
    for (const TraceFlow& flow : trace.flows) waited_for_.emplace(flow.to, flow.from);
  }

  std::vector<bool> Events() {
    std::vector<bool> on_path(seen_.size(), false);
    for (size_t at = by_end_.empty() ? kNone : by_end_.back(); at != kNone; at = Predecessor(at)) {
      seen_[at] = true;
      on_path[at] = trace_.events[at].category != "exposed";
    }
    return on_path;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  double End(size_t i) const { return trace_.events[i].start + trace_.events[i].duration; }

  // Returns the event that had to end before `event` could start.
  size_t Predecessor(size_t event) const {
    if (auto found = waited_for_.find(event); found != waited_for_.end() && !seen_[found->second]) return found->second;
    const double start = trace_.events[event].start;
    auto at = std::upper_bound(by_end_.begin(), by_end_.end(), start + kTolerance,
                               [&](double time, size_t i) { return time < End(i); });
    size_t best = kNone;
    while (at != by_end_.begin()) {
      const size_t i = *--at;
      if (best != kNone && End(i) < End(best) - kTolerance) break;
      if (seen_[i]) continue;
      // Among events that end at the same time, prefer an event on the same stream. `event` had to wait for that event.
      if (best == kNone || trace_.events[i].stream == trace_.events[event].stream) best = i;
    }
    return best;
  }

  const Trace& trace_;
  std::vector<size_t> by_end_;
  std::vector<bool> seen_;
  std::unordered_map<size_t, size_t> waited_for_;
};

}  // namespace

std::vector<bool> CriticalPathOf(const Trace& trace) { return Path(trace).Events(); }

}  // namespace shoal::internal
