// Which bytes a kernel finds in the cache. Lines are replaced at random, as it seems: a value that is read again and
// again keeps a part in a cache that is too small for it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

namespace shoal {

class Cache {
 public:
  explicit Cache(double capacity) : capacity_(std::max(1.0, capacity)) {}

  // Reads or writes `bytes` of a value; how many of them were there.
  double Touch(uint64_t value, double bytes) {
    double& held = held_[value];  // in units of `scale_`, which shrinks for all at once
    const double there = std::min(bytes, held * scale_);
    const double room = capacity_ - total_;
    const double others = total_ - held * scale_;
    // What does not fit pushes out the same part of everything.
    const double over = std::max(0.0, bytes - there - room);
    const double kept = std::exp(-over / capacity_);
    const double mine = std::min(bytes, capacity_ - others * kept);
    total_ = others * kept + mine;
    scale_ *= kept;
    held = mine / scale_;
    if (scale_ < 1e-100) Rescale();
    return there;
  }

 private:
  void Rescale() {
    for (auto& [value, held] : held_) held *= scale_;
    scale_ = 1;
  }

  double capacity_, total_ = 0, scale_ = 1;
  std::unordered_map<uint64_t, double> held_;
};

}  // namespace shoal
