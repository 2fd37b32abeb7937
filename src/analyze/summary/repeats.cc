#include "analyze/summary/repeats.h"

#include <algorithm>
#include <array>

#include "absl/container/flat_hash_map.h"

namespace shoal::internal {
namespace {

// Hashes of all stretches of a sequence: polynomials modulo the prime 2^61 - 1.
class Stretches {
 public:
  explicit Stretches(std::span<const uint64_t> items) : before_(items.size() + 1), power_(items.size() + 1, 1) {
    for (size_t i = 0; i < items.size(); ++i) {
      before_[i + 1] = Reduced(Times(before_[i], kBase) + items[i] % kPrime);
      power_[i + 1] = Times(power_[i], kBase);
    }
  }

  size_t size() const { return before_.size() - 1; }
  uint64_t Hash(size_t start, size_t length) const {
    return Reduced(before_[start + length] + kPrime - Times(before_[start], power_[length]));
  }

  // How far the items from i on and those from j on (i < j) are the same.
  size_t Common(size_t i, size_t j) const {
    size_t low = 0, high = 1;  // the same for `low`
    const size_t most = size() - j;
    while (high <= most && Hash(i, high) == Hash(j, high)) {
      low = high;
      high *= 2;
    }
    high = std::min(high, most + 1);
    while (high - low > 1) {
      const size_t middle = low + (high - low) / 2;
      (Hash(i, middle) == Hash(j, middle) ? low : high) = middle;
    }
    return low;
  }

 private:
  static constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
  static constexpr uint64_t kBase = 0x0123456789abcdef % kPrime;
  static uint64_t Reduced(uint64_t x) { return x >= kPrime ? x - kPrime : x; }
  static uint64_t Times(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return Reduced((static_cast<uint64_t>(product) & kPrime) + static_cast<uint64_t>(product >> 61));
  }

  std::vector<uint64_t> before_, power_;
};

class Finder {
 public:
  Finder(std::span<const uint64_t> hashes, std::span<const int64_t> lines)
      : stretches_(hashes), lines_before_(hashes.size() + 1), best_(hashes.size()) {
    for (size_t i = 0; i < hashes.size(); ++i) lines_before_[i + 1] = lines_before_[i] + lines[i];
    for (size_t width = 1; width <= kWidest && 2 * width <= hashes.size(); width *= 4) AddNext(width);
  }

  std::vector<Repeat> Find() {
    std::vector<Repeat> found;
    for (size_t i = 0; i < stretches_.size();) {
      Repeat repeat = At(i).repeat;
      if (repeat.count > 1) repeat.count = std::min(repeat.count, (BetterFrom(i) - i) / repeat.period);
      if (repeat.count > 1) found.push_back(repeat);
      i = repeat.count > 1 ? repeat.end() : i + 1;
    }
    return found;
  }

 private:
  static constexpr size_t kWidest = 4096;  // layers of up to four times as many items are found
  static constexpr size_t kLookAhead = 64;
  struct Candidate {
    Repeat repeat;
    int64_t saved = 0;
    bool known = false;
  };

  // A period is a distance at which the same stretch comes again. Stretches of one item find short periods, wide ones
  // find layers in which single items come often.
  void AddNext(size_t width) {
    std::vector<uint32_t> next(stretches_.size(), 0);
    absl::flat_hash_map<uint64_t, size_t> last;
    for (size_t i = stretches_.size() - width + 1; i-- > 0;) {
      auto [found, inserted] = last.try_emplace(stretches_.Hash(i, width), i);
      if (!inserted) next[i] = static_cast<uint32_t>(found->second - i);
      found->second = i;
    }
    next_.push_back(std::move(next));
  }

  // The repeat from i on that saves most lines.
  const Candidate& At(size_t i) {
    Candidate& best = best_[i];
    if (best.known) return best;
    best.known = true;
    size_t tried = 0;
    for (const std::vector<uint32_t>& next : next_) {
      const size_t period = next[i];
      if (period == 0) break;  // then no wider stretch comes again either
      if (period == tried) continue;
      tried = period;
      const size_t count = 1 + stretches_.Common(i, i + period) / period;
      const int64_t heading = period > 1 ? 1 : 0;
      const int64_t saved = (lines_before_[i + period] - lines_before_[i]) * static_cast<int64_t>(count - 1) - heading;
      if (count > 1 && saved > best.saved) best = {{i, period, count}, saved, true};
    }
    return best;
  }

  // Where, within the repeat from i on, one begins that saves more; its end if there is none.
  size_t BetterFrom(size_t i) {
    const Candidate mine = At(i);
    const size_t end = mine.repeat.end();
    for (size_t j = i + 1; j < std::min(end, i + kLookAhead); ++j)
      if (At(j).saved > mine.saved) return j;
    return end;
  }

  Stretches stretches_;
  std::vector<int64_t> lines_before_;
  std::vector<std::vector<uint32_t>> next_;  // for each width, the distance to where the same stretch comes again
  std::vector<Candidate> best_;
};

}  // namespace

std::vector<Repeat> FindRepeats(std::span<const uint64_t> hashes, std::span<const int64_t> lines) {
  if (hashes.size() < 2) return {};
  return Finder(hashes, lines).Find();
}

}  // namespace shoal::internal
