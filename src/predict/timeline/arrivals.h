// Who waits for whom between classes of devices.
#pragma once

#include <map>

#include "predict/timeline/device_plan.h"

namespace shoal::internal {

// When each class was ready for the n-th run of a collective.
class Arrivals {
 public:
  explicit Arrivals(const DeviceClasses& classes) : meetings_(classes), at_(classes.all.size()) {}

  // Forgets what the class said; whether its new arrivals differ is then known to `changed`.
  void Begin(size_t c);
  bool changed(size_t c) const { return at_[c].now != at_[c].before; }
  void Arrive(size_t c, const PlannedAsync& async, size_t n, double ready) { at_[c].now[{&async, n}] = ready; }
  // When the last of those that class `c` waits for was ready; 0 if it waits for nobody.
  double Others(size_t c, const PlannedAsync& async, size_t n);
  bool TakesPart(size_t c, const PlannedAsync& async);
  // Of a send: whether a device of the class is a source.
  bool Sends(size_t c, const PlannedAsync& async) { return meetings_.Sends(*async.use->participants, c); }

 private:
  using Times = std::map<std::pair<const PlannedAsync*, size_t>, double>;
  struct ArrivalTimes {
    Times now, before;
  };
  ClassMeetings meetings_;
  std::vector<ArrivalTimes> at_;
};

}  // namespace shoal::internal
