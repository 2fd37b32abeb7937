#include "kernels/algorithms/merge_sort.h"

#include <algorithm>
#include <numeric>

namespace shoal::internal {
namespace {

// A part of the merge of two neighbouring runs: merges [a, a_end) and [b, b_end) into results [out, out_end).
struct MergePart {
  int64_t a, a_end, b, b_end, out, out_end;
};

// The approximate number of parts that are worth merging simultaneously.
constexpr int64_t kParts = 4096;

// Comparisons that are evaluated in one call.
class ComparisonBatch {
 public:
  explicit ComparisonBatch(const CompareLanes& compare) : compare_(compare) {}
  void Clear() { a_.clear(), b_.clear(); }
  void Add(int64_t a, int64_t b) { a_.push_back(a), b_.push_back(b); }
  bool empty() const { return a_.empty(); }
  Status Evaluate() {
    results_.resize(a_.size());
    return compare_(a_.data(), b_.data(), results_.data(), static_cast<int64_t>(a_.size()));
  }
  bool result(size_t i) const { return results_[i] != 0; }

 private:
  const CompareLanes& compare_;
  std::vector<int64_t> a_, b_;
  std::vector<uint8_t> results_;
};

// Splits every merge of two runs of `width` elements into parts of equal length. Each part still has the whole runs.
std::vector<MergePart> SplitMerges(int64_t rows, int64_t row, int64_t width) {
  const int64_t length = std::max<int64_t>(1, std::min(2 * width, rows * row / kParts));
  std::vector<MergePart> merges;
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

// Finds the start of each part in its runs. The number of earlier results that come from run a is the smallest i for
// which b[skipped - 1 - i] comes before a[i]. The binary searches of all parts advance together.
Status FindStarts(std::vector<MergePart>& merges, const std::vector<int64_t>& from, ComparisonBatch& batch) {
  struct Search {
    size_t merge;
    int64_t low, high;
    int64_t middle() const { return (low + high) / 2; }
  };
  std::vector<Search> searches;
  for (size_t m = 0; m < merges.size(); ++m) {
    const MergePart& merge = merges[m];
    const int64_t skipped = merge.out - merge.a;
    const int64_t low = std::max<int64_t>(0, skipped - (merge.b_end - merge.b));
    searches.push_back({m, low, std::min(skipped, merge.a_end - merge.a)});
  }
  while (!searches.empty()) {
    std::erase_if(searches, [&](const Search& search) {
      if (search.low < search.high) return false;
      MergePart& merge = merges[search.merge];
      const int64_t skipped = merge.out - merge.a;
      merge.a += search.low;
      merge.b += skipped - search.low;
      return true;
    });
    batch.Clear();
    for (const Search& search : searches) {
      const MergePart& merge = merges[search.merge];
      const int64_t skipped = merge.out - merge.a;
      batch.Add(from[static_cast<size_t>(merge.b + skipped - 1 - search.middle())],
                    from[static_cast<size_t>(merge.a + search.middle())]);
    }
    SHOAL_TRY(batch.Evaluate());
    for (size_t i = 0; i < searches.size(); ++i) {
      Search& search = searches[i];
      (batch.result(i) ? search.high : search.low) = search.middle() + (batch.result(i) ? 0 : 1);
    }
  }
  return {};
}

// Ends each part at the start of the next part of the same merge. If an inconsistent comparison leads to decreasing
// starts, moves the starts so that every element still belongs to one part.
void EndPartsAtNextStart(std::vector<MergePart>& merges) {
  for (size_t m = 0; m + 1 < merges.size(); ++m) {
    MergePart& merge = merges[m];
    MergePart& next = merges[m + 1];
    if (next.b_end != merge.b_end) continue;
    const int64_t sum = next.a + next.b, length = merge.out_end - merge.out;
    next.a = std::clamp(next.a, std::max(merge.a, sum - merge.b_end), std::min(merge.a_end, merge.a + length));
    next.b = sum - next.a;
    merge.a_end = next.a;
    merge.b_end = next.b;
  }
}

// Merges all parts, one result of every part per iteration.
Status MergeAll(std::vector<MergePart> merges, const std::vector<int64_t>& from, std::vector<int64_t>& to,
                ComparisonBatch& batch) {
  auto copy = [&](int64_t first, int64_t last, int64_t out) {
    std::copy(from.begin() + first, from.begin() + last, to.begin() + out);
  };
  while (true) {
    std::erase_if(merges, [&](const MergePart& merge) {
      if (merge.a < merge.a_end && merge.b < merge.b_end) return false;
      copy(merge.a, merge.a_end, merge.out);
      copy(merge.b, merge.b_end, merge.out + (merge.a_end - merge.a));
      return true;
    });
    if (merges.empty()) return {};
    batch.Clear();
    for (const MergePart& merge : merges)
      batch.Add(from[static_cast<size_t>(merge.b)], from[static_cast<size_t>(merge.a)]);
    SHOAL_TRY(batch.Evaluate());
    for (size_t m = 0; m < merges.size(); ++m) {
      MergePart& merge = merges[m];
      int64_t& taken = batch.result(m) ? merge.b : merge.a;
      to[static_cast<size_t>(merge.out++)] = from[static_cast<size_t>(taken++)];
    }
  }
}

}  // namespace

Result<std::vector<int64_t>> MergeSorted(int64_t rows, int64_t row, const CompareLanes& compare) {
  std::vector<int64_t> from(static_cast<size_t>(rows * row)), to(from.size());
  std::iota(from.begin(), from.end(), 0);
  ComparisonBatch batch(compare);
  for (int64_t width = 1; width < row; width *= 2) {
    std::vector<MergePart> merges = SplitMerges(rows, row, width);
    SHOAL_TRY(FindStarts(merges, from, batch));
    EndPartsAtNextStart(merges);
    SHOAL_TRY(MergeAll(std::move(merges), from, to, batch));
    from.swap(to);
  }
  return from;
}

}  // namespace shoal::internal
