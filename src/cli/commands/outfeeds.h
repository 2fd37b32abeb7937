// What the devices of a run put out with outfeed, as text.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "execute/transport/job.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

class Outfeeds {
 public:
  // Called by all devices' threads.
  void Keep(int64_t device, const Value& value);
  // The first process gets those of all.
  void Gather(Job& job);
  // In the order of the devices.
  std::string Text() const;

 private:
  std::mutex mutex_;
  std::map<int64_t, std::string> texts_;
};

}  // namespace shoal::internal
