#include "compile/library/function_scatter.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/algorithms/windows_by_range.h"
#include "transform/loops/lane_kernel.h"

namespace shoal::internal {
namespace {

constexpr int64_t kBlock = kLaneRows * kLaneRow;

// Elements of the arrays, and the updates to combine them with, by their numbers.
struct Block {
  int64_t at[kBlock], from[kBlock], count = 0;
};

// Calls copy(element) with a value of the size of an element.
template <class Copy>
void WithElementBytes(int bytes, const Copy& copy) {
  if (bytes == 1) return copy(uint8_t{});
  if (bytes == 2) return copy(uint16_t{});
  if (bytes == 4) return copy(uint32_t{});
  if (bytes == 8) return copy(uint64_t{});
  copy(static_cast<unsigned __int128>(0));
}

// Combines updates with distinct elements, a block at a time.
class BlockCombiner {
 public:
  BlockCombiner(std::span<const std::byte* const> updates, std::span<const Array> arrays, std::span<std::byte* const> out,
                KernelCode function)
      : updates_(updates), arrays_(arrays), out_(out), function_(function) {
    int64_t bytes = 0;
    for (const Array& array : arrays) bytes += array.element_bytes() * kBlock;
    scratch_.resize(static_cast<size_t>(3 * bytes));  // elements, updates, results
    std::byte* next = scratch_.data();
    for (int part = 0; part < 3; ++part)
      for (const Array& array : arrays) {
        buffers_.push_back(next);
        next += array.element_bytes() * kBlock;
      }
  }

  void Combine(const Block& block) {
    const size_t n = arrays_.size();
    for (size_t k = 0; k < n; ++k) {
      WithElementBytes(arrays_[k].element_bytes(), [&]<class T>(T) {
        const auto *elements = reinterpret_cast<const T*>(out_[k]), *updates = reinterpret_cast<const T*>(updates_[k]);
        auto *to = static_cast<T*>(buffers_[k]), *values = static_cast<T*>(buffers_[n + k]);
        for (int64_t i = 0; i < block.count; ++i) to[i] = elements[block.at[i]];
        for (int64_t i = 0; i < block.count; ++i) values[i] = updates[block.from[i]];
      });
    }
    function_(buffers_.data(), 0, (block.count + kLaneRow - 1) / kLaneRow, 0, kLaneRow);
    for (size_t k = 0; k < n; ++k) {
      WithElementBytes(arrays_[k].element_bytes(), [&]<class T>(T) {
        const auto* results = static_cast<const T*>(buffers_[2 * n + k]);
        for (int64_t i = 0; i < block.count; ++i) reinterpret_cast<T*>(out_[k])[block.at[i]] = results[i];
      });
    }
  }

 private:
  std::span<const std::byte* const> updates_;
  std::span<const Array> arrays_;
  std::span<std::byte* const> out_;
  KernelCode function_;
  std::vector<std::byte> scratch_;
  std::vector<void*> buffers_;
};

// Collects windows, or the elements of windows that may overlap, and combines those that are distinct. The others stay
// in the queue before later ones, so the updates of an element are combined in order.
class WindowQueue {
 public:
  WindowQueue(const ScatterPlan& plan, BlockCombiner& combiner) : plan_(plan), combiner_(combiner) {}

  // Combines the windows of a group, moved by `offset`. The updates of the first window begin at `from`.
  void CombineAll(const WindowsByRange<int64_t>& windows, int64_t part, int64_t offset, int64_t from) {
    windows.ForEach(part, [&](int64_t i) {
      const int64_t start = plan_.starts[static_cast<size_t>(i)] + offset, update = from + i * plan_.window();
      if (plan_.windows_disjoint)
        Push(start, update);
      else
        AddElements(start, update);
    });
    while (queue_.count > 0) CombineDistinct();
  }

 private:
  void Push(int64_t start, int64_t from) {
    queue_.at[queue_.count] = start;
    queue_.from[queue_.count] = from;
    if (++queue_.count == kBlock) CombineDistinct();
  }

  void AddElements(int64_t start, int64_t from) {
    for (int64_t inner : plan_.inner)
      for (int64_t i = 0; i < plan_.length; ++i) Push(start + inner + i, from++);
  }

  static size_t SlotOf(int64_t start) { return static_cast<uint32_t>(static_cast<uint64_t>(start) * 0x9e3779b1) >> 20; }

  // Combines the first window of each slot, which includes the first of all equal ones.
  void CombineDistinct() {
    const int64_t count = queue_.count;
    for (int64_t i = count; i-- > 0;) slots_[SlotOf(queue_.at[i])] = static_cast<uint16_t>(i);
    int64_t taken = 0, left = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = queue_.at[i], from = queue_.from[i];
      const int64_t is_first = slots_[SlotOf(at)] == i ? 1 : 0;
      first_.at[taken] = queue_.at[left] = at;
      first_.from[taken] = queue_.from[left] = from;
      taken += is_first;
      left += 1 - is_first;
    }
    first_.count = taken;
    queue_.count = left;
    CombineWindows(first_);
    if (taken * 8 >= count) return;
    // Few distinct ones: one by one, because looking for others takes longer.
    Block one;
    one.count = 1;
    for (int64_t i = 0; i < left; ++i) {
      one.at[0] = queue_.at[i];
      one.from[0] = queue_.from[i];
      CombineWindows(one);
    }
    queue_.count = 0;
  }

  void CombineWindows(const Block& windows) {
    if (!plan_.windows_disjoint || plan_.window() == 1) return combiner_.Combine(windows);
    block_.count = 0;
    for (int64_t w = 0; w < windows.count; ++w) {
      int64_t from = windows.from[w];
      for (int64_t inner : plan_.inner)
        for (int64_t i = 0; i < plan_.length; ++i) {
          block_.at[block_.count] = windows.at[w] + inner + i;
          block_.from[block_.count] = from++;
          if (++block_.count < kBlock) continue;
          combiner_.Combine(block_);
          block_.count = 0;
        }
    }
    if (block_.count > 0) combiner_.Combine(block_);
  }

  const ScatterPlan& plan_;
  BlockCombiner& combiner_;
  Block queue_, first_, block_;
  uint16_t slots_[4096];  // the number of the first window in the queue with each hash
};

}  // namespace

void ScatterByFunction(const ScatterPlan& plan, std::span<const Array> updates, std::span<Array> arrays, KernelCode function,
                       ThreadPool& pool) {
  const auto windows = static_cast<int64_t>(plan.starts.size()), outer = static_cast<int64_t>(plan.outer.size());
  constexpr int64_t kFew = int64_t{1} << 13;
  const bool is_split = plan.windows_disjoint && windows * plan.window() * outer >= kFew;
  const WindowsByRange<int64_t> ranges(plan.starts, plan.count, is_split, pool);
  const int64_t parts = ranges.parts();
  std::vector<const std::byte*> from;
  std::vector<std::byte*> out;
  for (size_t k = 0; k < arrays.size(); ++k) {
    from.push_back(updates[k].data());
    out.push_back(arrays[k].mutable_data());
  }
  const auto task = [&](int64_t task) {
    const int64_t o = task / parts;
    BlockCombiner combiner(from, arrays, out, function);
    WindowQueue(plan, combiner).CombineAll(ranges, task % parts, plan.outer[static_cast<size_t>(o)], o * windows * plan.window());
  };
  if (is_split) return pool.Run(outer * parts, task);
  for (int64_t o = 0; o < outer; ++o) task(o);
}

}  // namespace shoal::internal
