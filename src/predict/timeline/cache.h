// Which bytes a kernel finds in the cache. Values that were not touched for longest go first, and a value of which a part
// is gone is read from memory as a whole: what comes in while its first part is read pushes out the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>

#include "absl/container/flat_hash_map.h"

namespace shoal::internal {

class Cache {
 public:
  explicit Cache(double capacity) : capacity_(std::max(1.0, capacity)) {}

  // Reads or writes `bytes` of a value; how many of them were there.
  double Touch(uint64_t value, double bytes) {
    double there = 0;
    if (auto found = at_.find(value); found != at_.end()) {
      there = std::min(bytes, found->second->bytes);
      bytes = std::max(bytes, found->second->bytes);
      total_ -= found->second->bytes;
      held_.erase(found->second);
      at_.erase(found);
    }
    if (bytes > capacity_) {  // it leaves nothing of what was there
      held_.clear();
      at_.clear();
      total_ = 0;
      return there;
    }
    held_.push_front({value, bytes});
    at_[value] = held_.begin();
    total_ += bytes;
    while (total_ > capacity_) {
      total_ -= held_.back().bytes;
      at_.erase(held_.back().value);
      held_.pop_back();
    }
    return there;
  }

 private:
  struct Held {
    uint64_t value;
    double bytes;
  };
  double capacity_, total_ = 0;
  std::list<Held> held_;  // the last touched first
  absl::flat_hash_map<uint64_t, std::list<Held>::iterator> at_;
};

}  // namespace shoal::internal
