// Arrival times of device classes at collectives, which determine how long the classes wait for each other.
#pragma once

#include <map>

#include "predict/timeline/device_plan.h"

namespace shoal::internal {

// The time at which each class was ready for the n-th execution of a collective.
class Arrivals {
 public:
  explicit Arrivals(const DeviceClasses& classes) : meetings_(classes), times_(classes.all.size()) {}

  // Clears a class's arrivals before it is simulated again. `changed` then compares the new arrivals with the old ones.
  void Restart(size_t c);
  bool changed(size_t c) const { return times_[c].current != times_[c].previous; }
  void Arrive(size_t c, const PlannedAsync& async, size_t n, double ready) { times_[c].current[{&async, n}] = ready; }
  // The latest arrival among the classes that class `c` waits for; 0 if there are none.
  double LatestOther(size_t c, const PlannedAsync& async, size_t n);
  bool Participates(size_t c, const PlannedAsync& async);
  // For a send: true if a device of the class is a source.
  bool Sends(size_t c, const PlannedAsync& async) { return meetings_.Sends(*async.use->participants, c); }

 private:
  using Times = std::map<std::pair<const PlannedAsync*, size_t>, double>;
  struct ArrivalTimes {
    Times current, previous;
  };
  ClassDependencies meetings_;
  std::vector<ArrivalTimes> times_;
};

}  // namespace shoal::internal
