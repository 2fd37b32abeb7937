#include "analyze/summary/repeats.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace shoal::internal {
namespace {

// Computes the hash of any range of items from prefix hashes. The hashes are polynomials modulo the prime 2^61 - 1.
class SubsequenceHashes {
 public:
  explicit SubsequenceHashes(std::span<const uint64_t> items) : prefix_(items.size() + 1), power_(items.size() + 1, 1) {
    for (size_t i = 0; i < items.size(); ++i) {
      prefix_[i + 1] = Reduce(Multiply(prefix_[i], kBase) + items[i] % kPrime);
      power_[i + 1] = Multiply(power_[i], kBase);
    }
  }

  size_t size() const { return prefix_.size() - 1; }
  uint64_t Hash(size_t start, size_t length) const {
    return Reduce(prefix_[start + length] + kPrime - Multiply(prefix_[start], power_[length]));
  }

  // Length of the longest common prefix of the items that start at i and the items that start at j (i < j).
  size_t CommonPrefix(size_t i, size_t j) const {
    size_t low = 0, high = 1;  // the first `low` items are equal
    const size_t max_length = size() - j;
    while (high <= max_length && Hash(i, high) == Hash(j, high)) {
      low = high;
      high *= 2;
    }
    high = std::min(high, max_length + 1);
    while (high - low > 1) {
      const size_t middle = low + (high - low) / 2;
      (Hash(i, middle) == Hash(j, middle) ? low : high) = middle;
    }
    return low;
  }

 private:
  static constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
  static constexpr uint64_t kBase = 0x0123456789abcdef % kPrime;
  static uint64_t Reduce(uint64_t x) { return x >= kPrime ? x - kPrime : x; }
  static uint64_t Multiply(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return Reduce((static_cast<uint64_t>(product) & kPrime) + static_cast<uint64_t>(product >> 61));
  }

  std::vector<uint64_t> prefix_, power_;
};

class RepeatFinder {
 public:
  RepeatFinder(std::span<const uint64_t> hashes, std::span<const int64_t> lines)
      : hashes_(hashes), lines_before_(hashes.size() + 1), best_(hashes.size()) {
    for (size_t i = 0; i < hashes.size(); ++i) lines_before_[i + 1] = lines_before_[i] + lines[i];
    for (size_t width = 1; width <= kMaxWidth && 2 * width <= hashes.size(); width *= 4) AddDistances(width);
  }

  std::vector<Repeat> Find() {
    std::vector<Repeat> found;
    for (size_t i = 0; i < hashes_.size();) {
      Repeat repeat = BestAt(i).repeat;
      if (repeat.count > 1) repeat.count = std::min(repeat.count, (NextBetter(i) - i) / repeat.period);
      if (repeat.count > 1) found.push_back(repeat);
      i = repeat.count > 1 ? repeat.end() : i + 1;
    }
    return found;
  }

 private:
  static constexpr size_t kMaxWidth = 4096;  // limit on the width of a window in AddDistances
  static constexpr size_t kLookAhead = 64;
  struct Candidate {
    Repeat repeat;
    int64_t saved = 0;
    bool is_computed = false;
  };

  // For each window of `width` items, finds the distance to the next equal window. This distance may be a period. Wide
  // windows are needed to find layers in which some items occur several times.
  void AddDistances(size_t width) {
    std::vector<uint32_t> distances(hashes_.size(), 0);
    absl::flat_hash_map<uint64_t, size_t> last;
    for (size_t i = hashes_.size() - width + 1; i-- > 0;) {
      auto [found, inserted] = last.try_emplace(hashes_.Hash(i, width), i);
      if (!inserted) distances[i] = static_cast<uint32_t>(found->second - i);
      found->second = i;
    }
    distances_.push_back(std::move(distances));
  }

  // Returns the repeat starting at i that saves the most lines.
  const Candidate& BestAt(size_t i) {
    Candidate& best = best_[i];
    if (best.is_computed) return best;
    best.is_computed = true;
    size_t last_period = 0;
    for (const std::vector<uint32_t>& distances : distances_) {
      const size_t period = distances[i];
      if (period == 0) break;  // if this window does not occur again, no wider window does
      if (period == last_period) continue;
      last_period = period;
      const size_t count = 1 + hashes_.CommonPrefix(i, i + period) / period;
      const int64_t heading = period > 1 ? 1 : 0;
      const int64_t saved = (lines_before_[i + period] - lines_before_[i]) * static_cast<int64_t>(count - 1) - heading;
      if (count > 1 && saved > best.saved) best = {{i, period, count}, saved, true};
    }
    return best;
  }

  // Returns the start of the first better repeat that begins within the repeat at i, or the end of the repeat at i.
  size_t NextBetter(size_t i) {
    const Candidate current = BestAt(i);
    const size_t end = current.repeat.end();
    for (size_t j = i + 1; j < std::min(end, i + kLookAhead); ++j)
      if (BestAt(j).saved > current.saved) return j;
    return end;
  }

  SubsequenceHashes hashes_;
  std::vector<int64_t> lines_before_;
  std::vector<std::vector<uint32_t>> distances_;  // by width and item; 0 if no equal window follows
  std::vector<Candidate> best_;
};

}  // namespace

std::vector<Repeat> FindRepeats(std::span<const uint64_t> hashes, std::span<const int64_t> lines) {
  if (hashes.size() < 2) return {};
  return RepeatFinder(hashes, lines).Find();
}

}  // namespace shoal::internal
