#include "predict/timeline/arrivals.h"

#include <algorithm>

namespace shoal::internal {

void Arrivals::Restart(size_t c) {
  times_[c].previous = std::move(times_[c].current);
  times_[c].current.clear();
}

double Arrivals::LatestOther(size_t c, const PlannedAsync& async, size_t n) {
  double latest = 0;
  for (uint32_t other : meetings_.ClassesWaitedFor(*async.use->participants, c)) {
    const auto found = times_[other].current.find({&async, n});
    if (found != times_[other].current.end()) latest = std::max(latest, found->second);
  }
  return latest;
}

bool Arrivals::Participates(size_t c, const PlannedAsync& async) { return meetings_.Participates(*async.use->participants, c); }

}  // namespace shoal::internal
