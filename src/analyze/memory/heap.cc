#include "analyze/memory/heap.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "core/ir/sizes.h"

namespace shoal::internal {
namespace {

struct Chunk {
  int64_t offset = 0, end = 0;
};

// The time intervals of all blocks, with their memory chunks. An interval becomes active when it is assigned a chunk.
class OccupiedChunks {
 public:
  explicit OccupiedChunks(const std::vector<HeapBlock>& blocks) {
    for (const HeapBlock& block : blocks) starts_.insert(starts_.end(), block.intervals.begin(), block.intervals.end());
    std::vector<uint32_t> order(starts_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return starts_[a].start < starts_[b].start; });
    slot_.resize(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) slot_[order[i]] = i;
    std::sort(starts_.begin(), starts_.end(), [](auto& a, auto& b) { return a.start < b.start; });
    while (leaves_ < starts_.size()) leaves_ *= 2;
    latest_.assign(2 * leaves_, -1);
    chunks_.resize(starts_.size());
  }

  // Assigns the chunk to interval `i`, where `i` counts the intervals of all blocks.
  void Add(uint32_t i, HeapInterval interval, Chunk chunk) {
    chunks_[slot_[i]] = chunk;
    for (size_t node = leaves_ + slot_[i]; node > 0; node /= 2) latest_[node] = std::max(latest_[node], interval.end);
  }

  // Appends the chunks of all active intervals that overlap `interval`.
  void Find(HeapInterval interval, std::vector<Chunk>& found) {
    const auto until = std::upper_bound(starts_.begin(), starts_.end(), interval.end,
                                        [](int64_t end, const HeapInterval& each) { return end < each.start; });
    Find(1, 0, leaves_, static_cast<size_t>(until - starts_.begin()), interval.start, found);
  }

  int64_t visited() const { return visited_; }

 private:
  void Find(size_t node, size_t first, size_t size, size_t until, int64_t start, std::vector<Chunk>& found) {
    ++visited_;
    if (first >= until || latest_[node] < start) return;
    if (size == 1) return found.push_back(chunks_[first]);
    Find(2 * node, first, size / 2, until, start, found);
    Find(2 * node + 1, first + size / 2, size / 2, until, start, found);
  }

  std::vector<HeapInterval> starts_;  // sorted by start
  std::vector<uint32_t> slot_;        // index in starts_ of interval i
  std::vector<int64_t> latest_;       // maximum end of the active intervals below each node of a tree over starts_
  std::vector<Chunk> chunks_;
  size_t leaves_ = 1;
  int64_t visited_ = 0;
};

// Returns the offset of the smallest sufficient gap between the used chunks. Without such a gap, returns their end.
int64_t BestGap(std::vector<Chunk>& used, int64_t bytes, int64_t alignment) {
  std::sort(used.begin(), used.end(), [](const Chunk& a, const Chunk& b) { return a.offset < b.offset; });
  int64_t free_from = 0, best = -1, best_size = INT64_MAX;
  for (const Chunk& chunk : used) {
    const int64_t gap = chunk.offset - free_from;
    if (gap >= bytes && gap < best_size) {
      best = free_from;
      best_size = gap;
    }
    free_from = std::max(free_from, RoundUp(chunk.end, alignment));
  }
  return best >= 0 ? best : free_from;
}

int64_t EndOf(const HeapBlock& block) {
  int64_t end = 0;
  for (const HeapInterval& interval : block.intervals) end = std::max(end, interval.end);
  return end;
}

// Returns the block indices sorted by key, then by index.
template <class Key>
std::vector<uint32_t> SortedBy(const std::vector<HeapBlock>& blocks, Key key) {
  std::vector<std::pair<std::pair<int64_t, int64_t>, uint32_t>> keys;
  for (uint32_t i = 0; i < blocks.size(); ++i) keys.push_back({key(blocks[i]), i});
  std::sort(keys.begin(), keys.end());
  std::vector<uint32_t> order;
  for (const auto& each : keys) order.push_back(each.second);
  return order;
}

constexpr int64_t kMaxVisits = 4'000'000;

// Returns nullopt if packing would take too long.
std::optional<HeapPacking> PackInOrder(const std::vector<HeapBlock>& blocks, const std::vector<uint32_t>& order,
                                       int64_t alignment) {
  std::vector<uint32_t> first_interval;
  uint32_t count = 0;
  for (const HeapBlock& block : blocks) {
    first_interval.push_back(count);
    count += static_cast<uint32_t>(block.intervals.size());
  }
  OccupiedChunks occupied(blocks);
  HeapPacking heap{0, std::vector<int64_t>(blocks.size(), 0)};
  std::vector<Chunk> used;
  for (uint32_t number : order) {
    const HeapBlock& block = blocks[number];
    if (block.bytes == 0) continue;
    used.clear();
    for (const HeapInterval& interval : block.intervals) occupied.Find(interval, used);
    if (occupied.visited() > kMaxVisits) return std::nullopt;
    const int64_t offset = BestGap(used, block.bytes, alignment);
    heap.bytes = std::max(heap.bytes, offset + block.bytes);
    heap.offsets[number] = offset;
    for (uint32_t i = 0; i < block.intervals.size(); ++i)
      occupied.Add(first_interval[number] + i, block.intervals[i], {offset, offset + block.bytes});
  }
  return heap;
}

// Packs like an online allocator. Places blocks in the order of their start times, each in the smallest sufficient gap.
HeapPacking PackInTime(const std::vector<HeapBlock>& blocks, int64_t alignment) {
  struct Event {
    int64_t time;
    bool is_end;
    uint32_t block;
  };
  std::vector<Event> events;
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].bytes == 0) continue;
    events.push_back({blocks[i].intervals.front().start, false, i});
    events.push_back({EndOf(blocks[i]), true, i});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tie(a.time, a.is_end, a.block) < std::tie(b.time, b.is_end, b.block);
  });
  std::map<int64_t, int64_t> gaps;                // end of each gap, by start
  std::set<std::pair<int64_t, int64_t>> by_size;  // (size, start) of each gap
  HeapPacking packing{0, std::vector<int64_t>(blocks.size(), 0)};
  int64_t& heap = packing.bytes;
  auto remove = [&](std::map<int64_t, int64_t>::iterator gap) {
    by_size.erase({gap->second - gap->first, gap->first});
    gaps.erase(gap);
  };
  auto add = [&](int64_t from, int64_t to) {
    if (from == to) return;
    gaps[from] = to;
    by_size.insert({to - from, from});
  };
  for (const Event& event : events) {
    const int64_t bytes = RoundUp(blocks[event.block].bytes, alignment);
    int64_t& offset = packing.offsets[event.block];
    if (event.is_end) {
      int64_t from = offset, to = offset + bytes;
      auto after = gaps.lower_bound(from);
      if (after != gaps.end() && after->first == to) {
        to = after->second;
        remove(after);
      }
      auto before = gaps.lower_bound(from);
      if (before != gaps.begin() && std::prev(before)->second == from) {
        from = std::prev(before)->first;
        remove(std::prev(before));
      }
      add(from, to);
    } else if (auto fit = by_size.lower_bound({bytes, 0}); fit != by_size.end()) {
      const auto [size, from] = *fit;
      offset = from;
      remove(gaps.find(from));
      add(from + bytes, from + size);
    } else {
      // Extend the last gap if it is at the end of the heap.
      offset = heap;
      if (!gaps.empty() && std::prev(gaps.end())->second == heap) {
        offset = std::prev(gaps.end())->first;
        remove(std::prev(gaps.end()));
      }
      heap = offset + bytes;
    }
  }
  return packing;
}

}  // namespace

HeapPacking PackHeap(const std::vector<HeapBlock>& blocks, int64_t alignment) {
  if (blocks.empty()) return {};
  // Place the largest block first. Among blocks of equal size, place the block whose first value lives longest first.
  std::optional<HeapPacking> by_size = PackInOrder(blocks,
                                                   SortedBy(blocks,
                                                            [](const HeapBlock& block) {
                                                              const HeapInterval& first = block.intervals.front();
                                                              return std::pair(-block.bytes, first.start - first.end);
                                                            }),
                                                   alignment);
  if (!by_size) return PackInTime(blocks, alignment);
  // Place the block with the longest lifetime first. Among blocks with equal lifetimes, place the largest first.
  std::optional<HeapPacking> by_time = PackInOrder(
      blocks,
      SortedBy(
          blocks,
          [](const HeapBlock& block) { return std::pair(block.intervals.front().start - EndOf(block), -block.bytes); }),
      alignment);
  return by_time && by_time->bytes < by_size->bytes ? std::move(*by_time) : std::move(*by_size);
}

}  // namespace shoal::internal
