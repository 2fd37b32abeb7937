#include "predict/timeline/arrivals.h"

#include <algorithm>

namespace shoal::internal {

void Arrivals::Begin(size_t c) {
  at_[c].before = std::move(at_[c].now);
  at_[c].now.clear();
}

double Arrivals::Others(size_t c, const PlannedAsync& async, size_t n) {
  double latest = 0;
  for (uint32_t other : meetings_.ClassesWaitedFor(*async.use->participants, c)) {
    const auto found = at_[other].now.find({&async, n});
    if (found != at_[other].now.end()) latest = std::max(latest, found->second);
  }
  return latest;
}

bool Arrivals::TakesPart(size_t c, const PlannedAsync& async) { return meetings_.TakesPart(*async.use->participants, c); }

}  // namespace shoal::internal
