#include "kernels/algorithms/merge_sort.h"

#include <algorithm>
#include <numeric>

namespace shoal::internal {
namespace {

// A stretch of the merge of two neighbouring runs: results [out, out_end) are made of [a, a_end) and [b, b_end).
struct Merge {
  int64_t a, a_end, b, b_end, out, out_end;
};

// About as many stretches as are worth doing side by side.
constexpr int64_t kStretches = 4096;

// Comparisons to be made together.
class Questions {
 public:
  explicit Questions(const CompareLanes& compare) : compare_(compare) {}
  void Clear() { a_.clear(), b_.clear(); }
  void Add(int64_t a, int64_t b) { a_.push_back(a), b_.push_back(b); }
  bool empty() const { return a_.empty(); }
  Status Ask() {
    answers_.resize(a_.size());
    return compare_(a_.data(), b_.data(), answers_.data(), static_cast<int64_t>(a_.size()));
  }
  bool answer(size_t i) const { return answers_[i] != 0; }

 private:
  const CompareLanes& compare_;
  std::vector<int64_t> a_, b_;
  std::vector<uint8_t> answers_;
};

// Every merge of runs of `width`, cut into stretches of equal length, each of which has the whole runs for now.
std::vector<Merge> Stretches(int64_t rows, int64_t row, int64_t width) {
  const int64_t length = std::max<int64_t>(1, std::min(2 * width, rows * row / kStretches));
  std::vector<Merge> merges;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t end = (r + 1) * row;
    for (int64_t a = r * row; a < end; a += 2 * width) {
      const int64_t b = std::min(a + width, end), b_end = std::min(a + 2 * width, end);
      for (int64_t out = a; out < b_end; out += length)
        merges.push_back({a, b, b, b_end, out, std::min(out + length, b_end)});
    }
  }
  return merges;
}

// How many of the results before a stretch come from its run a: the smallest i for which b[skipped - 1 - i] comes
// before a[i]. All stretches search at once, each halving what is left.
Status FindStarts(std::vector<Merge>& merges, const std::vector<int64_t>& from, Questions& questions) {
  struct Search {
    size_t merge;
    int64_t low, high;
    int64_t middle() const { return (low + high) / 2; }
  };
  std::vector<Search> searches;
  for (size_t m = 0; m < merges.size(); ++m) {
    const Merge& merge = merges[m];
    const int64_t skipped = merge.out - merge.a;
    const int64_t low = std::max<int64_t>(0, skipped - (merge.b_end - merge.b));
    searches.push_back({m, low, std::min(skipped, merge.a_end - merge.a)});
  }
  while (!searches.empty()) {
    std::erase_if(searches, [&](const Search& search) {
      if (search.low < search.high) return false;
      Merge& merge = merges[search.merge];
      const int64_t skipped = merge.out - merge.a;
      merge.a += search.low;
      merge.b += skipped - search.low;
      return true;
    });
    questions.Clear();
    for (const Search& search : searches) {
      const Merge& merge = merges[search.merge];
      const int64_t skipped = merge.out - merge.a;
      questions.Add(from[static_cast<size_t>(merge.b + skipped - 1 - search.middle())],
                    from[static_cast<size_t>(merge.a + search.middle())]);
    }
    SHOAL_TRY(questions.Ask());
    for (size_t i = 0; i < searches.size(); ++i) {
      Search& search = searches[i];
      (questions.answer(i) ? search.high : search.low) = search.middle() + (questions.answer(i) ? 0 : 1);
    }
  }
  return {};
}

// A stretch ends where the next of the same merge starts. A comparison that contradicts itself may have starts run
// backwards; then they are moved so that every element still belongs to one stretch.
void EndWhereNextStarts(std::vector<Merge>& merges) {
  for (size_t m = 0; m + 1 < merges.size(); ++m) {
    Merge& merge = merges[m];
    Merge& next = merges[m + 1];
    if (next.b_end != merge.b_end) continue;
    const int64_t sum = next.a + next.b, length = merge.out_end - merge.out;
    next.a = std::clamp(next.a, std::max(merge.a, sum - merge.b_end), std::min(merge.a_end, merge.a + length));
    next.b = sum - next.a;
    merge.a_end = next.a;
    merge.b_end = next.b;
  }
}

// One result of every stretch at a time.
Status MergeAll(std::vector<Merge> merges, const std::vector<int64_t>& from, std::vector<int64_t>& to,
                Questions& questions) {
  auto copy = [&](int64_t first, int64_t last, int64_t out) {
    std::copy(from.begin() + first, from.begin() + last, to.begin() + out);
  };
  while (true) {
    std::erase_if(merges, [&](const Merge& merge) {
      if (merge.a < merge.a_end && merge.b < merge.b_end) return false;
      copy(merge.a, merge.a_end, merge.out);
      copy(merge.b, merge.b_end, merge.out + (merge.a_end - merge.a));
      return true;
    });
    if (merges.empty()) return {};
    questions.Clear();
    for (const Merge& merge : merges)
      questions.Add(from[static_cast<size_t>(merge.b)], from[static_cast<size_t>(merge.a)]);
    SHOAL_TRY(questions.Ask());
    for (size_t m = 0; m < merges.size(); ++m) {
      Merge& merge = merges[m];
      int64_t& taken = questions.answer(m) ? merge.b : merge.a;
      to[static_cast<size_t>(merge.out++)] = from[static_cast<size_t>(taken++)];
    }
  }
}

}  // namespace

Result<std::vector<int64_t>> MergeSorted(int64_t rows, int64_t row, const CompareLanes& compare) {
  std::vector<int64_t> from(static_cast<size_t>(rows * row)), to(from.size());
  std::iota(from.begin(), from.end(), 0);
  Questions questions(compare);
  for (int64_t width = 1; width < row; width *= 2) {
    std::vector<Merge> merges = Stretches(rows, row, width);
    SHOAL_TRY(FindStarts(merges, from, questions));
    EndWhereNextStarts(merges);
    SHOAL_TRY(MergeAll(std::move(merges), from, to, questions));
    from.swap(to);
  }
  return from;
}

}  // namespace shoal::internal
