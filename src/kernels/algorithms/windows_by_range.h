// The windows of a scatter, grouped by the range of the array in which they start, so that each group can be combined by
// one thread. The windows of a group are in their original order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/thread_pool.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

template <class Index>
class WindowsByRange {
 public:
  // With one part, all windows are in one group. Starts outside [0, size) belong to no group. `starts` must outlive this.
  WindowsByRange(std::span<const Index> starts, int64_t size, bool is_split, ThreadPool& pool) : starts_(starts), size_(size) {
    if (!is_split) return;
    parts_ = pool.threads();
    each_ = (size + parts_ - 1) / parts_;
    if (parts_ >= kManyThreads) MakeLists(pool);
  }

  int64_t parts() const { return parts_; }

  // Calls task(i) for the numbers of the windows in a group.
  template <class Task>
  void ForEach(int64_t part, const Task& task) const {
    if (!begins_.empty()) {
      for (int64_t k = begins_[static_cast<size_t>(part)]; k < begins_[static_cast<size_t>(part) + 1]; ++k) task(int64_t{lists_[k]});
    } else if (parts_ == 1) {
      ForStartsIn(0, size_, task);
    } else {
      ForStartsIn(part * each_, std::min(size_, (part + 1) * each_), task);
    }
  }

 private:
  // If there are fewer threads, each of them looks for its windows among all: lists would take longer to make.
  static constexpr int64_t kManyThreads = 8;

  // Selects windows in blocks, without an unpredictable branch.
  template <class Task>
  void ForStartsIn(int64_t begin, int64_t end, const Task& task) const {
    const auto count = static_cast<int64_t>(starts_.size());
    const auto size = static_cast<uint64_t>(std::max<int64_t>(0, end - begin));
    constexpr int64_t kBlock = 256;
    int32_t selected[kBlock];
    for (int64_t first = 0; first < count; first += kBlock) {
      int64_t found = 0;
      for (int64_t i = 0; i < std::min(kBlock, count - first); ++i) {
        selected[found] = static_cast<int32_t>(i);
        found += static_cast<uint64_t>(starts_[static_cast<size_t>(first + i)] - begin) < size ? 1 : 0;
      }
      for (int64_t k = 0; k < found; ++k) task(first + selected[k]);
    }
  }

  // Sorts the numbers of the windows by range, several ranges for each thread, in blocks of windows.
  void MakeLists(ThreadPool& pool) {
    constexpr int64_t kBlock = int64_t{1} << 13;
    const auto count = static_cast<int64_t>(starts_.size());
    const int shift = std::bit_width(static_cast<uint64_t>(size_ / (4 * parts_)));
    parts_ = (size_ >> shift) + 1;
    const int64_t blocks = (count + kBlock - 1) / kBlock;
    // The group of a start; one more group has the starts outside of the array.
    const auto group_of = [&](Index start) {
      const auto at = static_cast<uint64_t>(int64_t{start});
      return static_cast<size_t>(at < static_cast<uint64_t>(size_) ? at >> shift : static_cast<uint64_t>(parts_));
    };
    const auto groups = static_cast<size_t>(parts_) + 1;
    std::vector<int64_t> next(groups * static_cast<size_t>(blocks));  // place of the next window, by group and block
    const auto next_of = [&](size_t group, int64_t begin) -> int64_t& {
      return next[group * static_cast<size_t>(blocks) + static_cast<size_t>(begin / kBlock)];
    };
    ForBlocks(pool, count, kBlock, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> counts(groups);
      for (int64_t i = begin; i < end; ++i) ++counts[group_of(starts_[static_cast<size_t>(i)])];
      for (size_t group = 0; group < groups; ++group) next_of(group, begin) = counts[group];
    });
    int64_t place = 0;
    for (int64_t& entry : next) place += std::exchange(entry, place);
    for (size_t group = 0; group < groups; ++group) begins_.push_back(next_of(group, 0));
    lists_memory_ = Array(ElementType::kS32, Dims{count});
    lists_ = lists_memory_.Mutable<int32_t>().data();
    ForBlocks(pool, count, kBlock, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> to(groups);
      for (size_t group = 0; group < groups; ++group) to[group] = next_of(group, begin);
      for (int64_t i = begin; i < end; ++i) lists_[to[group_of(starts_[static_cast<size_t>(i)])]++] = static_cast<int32_t>(i);
    });
  }

  std::span<const Index> starts_;
  int64_t size_, parts_ = 1, each_ = 0;
  Array lists_memory_;           // an array, because its memory is kept between runs
  int32_t* lists_ = nullptr;     // numbers of windows by group, if they were sorted
  std::vector<int64_t> begins_;  // begin of each group in lists_
};

}  // namespace shoal::internal
