// Random choices that depend only on a seed.
#pragma once

#include <cstdint>
#include <random>

namespace shoal::internal::fuzz {

class Random {
 public:
  Random(uint64_t seed, uint64_t number) : engine_(seed * 0x9e3779b97f4a7c15u + number) {}

  // 0 <= result < n
  int64_t Below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <class List>
  auto& Of(List& list) {
    return list[static_cast<size_t>(Below(static_cast<int64_t>(std::size(list))))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace shoal::internal::fuzz
