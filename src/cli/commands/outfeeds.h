// The values that the devices of a run send to outfeed, as text.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "execute/transport/job.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

class Outfeeds {
 public:
  // Thread-safe: called by the threads of all devices.
  void Add(int64_t device, const Value& value);
  // Collects the texts of all processes in the first one.
  void Gather(Job& job);
  // The texts in device order.
  std::string Text() const;

 private:
  std::mutex mutex_;
  std::map<int64_t, std::string> texts_;
};

}  // namespace shoal::internal
