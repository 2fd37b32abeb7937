// A model of the L2 cache with least-recently-used eviction of whole values. If a part of a value is evicted, a read of
// this part evicts the rest of the value, so the model evicts the entire value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>

#include "absl/container/flat_hash_map.h"

namespace shoal::internal {

class Cache {
 public:
  explicit Cache(double capacity) : capacity_(std::max(1.0, capacity)) {}

  // Reads or writes `bytes` of a value. Returns the bytes that were in the cache.
  double Touch(uint64_t value, double bytes) {
    double hit = 0;
    if (auto found = entry_of_.find(value); found != entry_of_.end()) {
      hit = std::min(bytes, found->second->bytes);
      bytes = std::max(bytes, found->second->bytes);
      total_ -= found->second->bytes;
      entries_.erase(found->second);
      entry_of_.erase(found);
    }
    if (bytes > capacity_) {  // evicts everything
      entries_.clear();
      entry_of_.clear();
      total_ = 0;
      return hit;
    }
    entries_.push_front({value, bytes});
    entry_of_[value] = entries_.begin();
    total_ += bytes;
    while (total_ > capacity_) {
      total_ -= entries_.back().bytes;
      entry_of_.erase(entries_.back().value);
      entries_.pop_back();
    }
    return hit;
  }

 private:
  struct Entry {
    uint64_t value;
    double bytes;
  };
  double capacity_, total_ = 0;
  std::list<Entry> entries_;  // the most recently used value comes first
  absl::flat_hash_map<uint64_t, std::list<Entry>::iterator> entry_of_;
};

}  // namespace shoal::internal
