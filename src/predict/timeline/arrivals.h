// Arrival times of device classes at collectives. These times determine the waits of one class for another.
#pragma once

#include <map>

#include "predict/timeline/device_plan.h"

namespace shoal::internal {

// Records the time at which each class was ready for the n-th execution of a collective.
class Arrivals {
 public:
  explicit Arrivals(const DeviceClasses& classes) : meetings_(classes), times_(classes.all.size()) {}

  // Clears the arrivals of class `c` before its next simulation. `changed` then compares the new arrivals with the old.
  void Restart(size_t c);
  bool changed(size_t c) const { return times_[c].current != times_[c].previous; }
  void Arrive(size_t c, const PlannedAsync& async, size_t n, double ready) { times_[c].current[{&async, n}] = ready; }
  // Returns the latest arrival of the classes that class `c` waits for, or 0 if `c` waits for no class.
  double LatestOther(size_t c, const PlannedAsync& async, size_t n);
  bool Participates(size_t c, const PlannedAsync& async);
  // True if `async` is a send and a device of the class is a source.
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
