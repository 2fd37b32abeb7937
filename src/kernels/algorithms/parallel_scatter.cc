#include "kernels/algorithms/parallel_scatter.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/algorithms/windows_by_range.h"

namespace shoal::internal {
namespace {

// Combines elements [begin, end) of each window. Every window must have a single run.
template <Combiner fold, class T>
void FoldColumns(const ScatterPlan& plan, int64_t begin, int64_t end, const T* updates, T* out) {
  const auto count = static_cast<int64_t>(plan.starts.size());
  const int64_t* starts = plan.starts.data();
  constexpr int64_t kAhead = 12, kLine = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t b = 0; b < count; ++b) {
    // Prefetches explicitly: hardware cannot predict the scattered addresses.
    if (const int64_t ahead = b + kAhead < count ? starts[b + kAhead] : -1; ahead >= 0) {
      for (int64_t i = begin; i < std::min(end, begin + 4 * kLine); i += kLine) {
        __builtin_prefetch(updates + (b + kAhead) * plan.length + i);
        __builtin_prefetch(out + ahead + i, 1);
      }
    }
    if (starts[b] >= 0) FoldRow<fold>(out + starts[b] + begin, updates + b * plan.length + begin, end - begin);
  }
}

template <Combiner fold, class T>
void FoldWindows(const ScatterPlan& plan, const WindowsByRange<int64_t>& windows, int64_t part, const T* updates, T* out) {
  const int64_t* starts = plan.starts.data();
  if (plan.window() == 1) return windows.ForEach(part, [&](int64_t i) { FoldElement<fold>(out[starts[i]], updates[i]); });
  if (plan.inner.size() == 1)
    return windows.ForEach(part, [&](int64_t i) { FoldRow<fold>(out + starts[i], updates + i * plan.length, plan.length); });
  windows.ForEach(part, [&](int64_t i) {
    const T* from = updates + i * plan.window();
    for (int64_t offset : plan.inner) {
      FoldRow<fold>(out + starts[i] + offset, from, plan.length);
      from += plan.length;
    }
  });
}

// Combines single elements, in order.
template <Combiner fold, class T, class Index>
void FoldElements(std::span<const Index> indices, int64_t size, const T* updates, T* out) {
  for (size_t i = 0; i < indices.size(); ++i)
    if (static_cast<uint64_t>(indices[i]) < static_cast<uint64_t>(size)) FoldElement<fold>(out[indices[i]], updates[i]);
}

// Sums many elements into few: each task has separate partial sums, which are added at the end.
template <class T, class Index>
void SumElements(std::span<const Index> indices, int64_t size, const T* updates, T* out, ThreadPool& pool) {
  constexpr int64_t kTasks = 16;
  const auto count = static_cast<int64_t>(indices.size()), block = (count + kTasks - 1) / kTasks;
  std::vector<T> sums(static_cast<size_t>(size * kTasks));
  ForBlocks(pool, count, block, [&](int64_t begin, int64_t end) {
    FoldElements<Combiner::kAdd>(indices.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)), size, updates + begin,
                             sums.data() + begin / block * size);
  });
  for (int64_t t = 0; t < kTasks; ++t) FoldRow<Combiner::kAdd>(out, sums.data() + t * size, size);
}

// Few threads that share a cache are not faster than one if each reads all indices, so they use ranges only for arrays
// larger than the cache.
constexpr int64_t kManyThreads = 8;

template <Combiner fold, class T, class Index>
void FoldAllElements(std::span<const Index> indices, int64_t size, const T* updates, T* out, ThreadPool& pool) {
  const auto count = static_cast<int64_t>(indices.size());
  if constexpr (fold == Combiner::kAdd && !std::is_class_v<T>) {
    constexpr int64_t kMaxSums = int64_t{1} << 13;
    if (size <= kMaxSums && count > 32 * size) return SumElements(indices, size, updates, out, pool);
  }
  constexpr int64_t kCache = int64_t{1} << 21;
  const bool is_cached = size * static_cast<int64_t>(sizeof(T)) < kCache && pool.threads() < kManyThreads;
  if (is_cached || count < (1 << 15)) return FoldElements<fold>(indices, size, updates, out);
  const WindowsByRange<Index> elements(indices, size, true, pool);
  pool.Run(elements.parts(), [&](int64_t part) {
    elements.ForEach(part, [&](int64_t i) { FoldElement<fold>(out[indices[static_cast<size_t>(i)]], updates[i]); });
  });
}

// The division of the work for one outer offset among threads.
enum class SplitMode : uint8_t { kNone, kColumns, kRanges };

template <class T>
SplitMode SplitModeOf(const ScatterPlan& plan, int64_t threads) {
  const int64_t elements = plan.window() * static_cast<int64_t>(plan.starts.size() * plan.outer.size());
  if (!plan.windows_disjoint || elements < (1 << 14) || static_cast<int64_t>(plan.outer.size()) >= threads) return SplitMode::kNone;
  // With columns, every thread combines whole cache lines of all windows.
  constexpr int64_t kLine = 64, kNearCache = int64_t{1} << 18, kFew = int64_t{1} << 20;
  const bool is_wide = plan.length * static_cast<int64_t>(sizeof(T)) >= kLine * threads;
  if (plan.inner.size() == 1 && is_wide) return SplitMode::kColumns;
  // With ranges, every thread scans all windows, which does not pay off if the array fits in the cache of one thread.
  const bool is_cached = plan.count * static_cast<int64_t>(sizeof(T)) <= kNearCache && threads < kManyThreads;
  if (plan.inner.size() == 1 && is_cached && elements <= kFew) return SplitMode::kNone;
  return SplitMode::kRanges;
}

// Combines a part of the columns of all windows.
template <Combiner fold, class T>
void FoldColumnsPart(const ScatterPlan& plan, int64_t part, int64_t parts, const T* updates, T* out) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  const int64_t each = (plan.length / parts + kLine - 1) / kLine * kLine;
  const int64_t begin = std::min(plan.length, part * each);
  const int64_t end = part + 1 == parts ? plan.length : std::min(plan.length, begin + each);
  if (begin < end) FoldColumns<fold>(plan, begin, end, updates, out);
}

template <Combiner fold, class T>
void FoldAll(const ScatterPlan& plan, const T* updates, T* out, ThreadPool& pool) {
  const auto count = static_cast<int64_t>(plan.starts.size()), outer = static_cast<int64_t>(plan.outer.size());
  if (plan.window() == 1 && outer == 1) return FoldAllElements<fold>(plan.starts, plan.count, updates, out + plan.outer[0], pool);
  const SplitMode mode = SplitModeOf<T>(plan, pool.threads());
  const bool by_columns = plan.inner.size() == 1 && mode != SplitMode::kRanges && plan.window() > 1;
  const WindowsByRange<int64_t> windows(plan.starts, plan.count, mode == SplitMode::kRanges, pool);
  const int64_t parts = mode == SplitMode::kColumns ? pool.threads() : windows.parts();
  const auto task = [&](int64_t i) {
    const int64_t at = i / parts;
    const T* from = updates + at * count * plan.window();
    T* to = out + plan.outer[static_cast<size_t>(at)];
    if (by_columns) return FoldColumnsPart<fold>(plan, i % parts, parts, from, to);
    if (plan.window() == 1 && parts == 1) return FoldElements<fold>(plan.starts, plan.count, from, to);
    FoldWindows<fold>(plan, windows, i % parts, from, to);
  };
  if (plan.windows_disjoint) return pool.Run(outer * parts, task);
  for (int64_t i = 0; i < outer; ++i) task(i);
}

template <Combiner fold, bool is_signed, class Do>
void WithIntegerType(int64_t bytes, const Do& do_as) {
  constexpr std::integral_constant<Combiner, fold> kFold;
  if (bytes == 1) return do_as(kFold, std::conditional_t<is_signed, int8_t, uint8_t>{});
  if (bytes == 2) return do_as(kFold, std::conditional_t<is_signed, int16_t, uint16_t>{});
  if (bytes == 4) return do_as(kFold, std::conditional_t<is_signed, int32_t, uint32_t>{});
  do_as(kFold, std::conditional_t<is_signed, int64_t, uint64_t>{});
}

// Calls do_as(fold, element) with both as types. Types with identical results share one, to limit compile time.
template <Combiner fold, class Do>
void WithElementType(ElementType type, const Do& do_as) {
  constexpr std::integral_constant<Combiner, fold> kFold;
  constexpr bool kIsOrdered = fold == Combiner::kMinimum || fold == Combiner::kMaximum;
  if constexpr (kIsOrdered || fold == Combiner::kAdd || fold == Combiner::kMultiply) {
    if (type == ElementType::kBf16) return do_as(kFold, Narrow<ElementType::kBf16>{});
    if (type == ElementType::kF16) return do_as(kFold, Narrow<ElementType::kF16>{});
    if (type == ElementType::kF32) return do_as(kFold, float{});
    if (type == ElementType::kF64) return do_as(kFold, double{});
  }
  if (kIsOrdered && IsSigned(type)) return WithIntegerType<fold, kIsOrdered>(StorageBytes(type), do_as);
  WithIntegerType<fold, false>(StorageBytes(type), do_as);
}

template <class Do>
void WithCombiner(Combiner fold, ElementType type, const Do& do_as) {
  switch (fold) {
    case Combiner::kAdd:
      return WithElementType<Combiner::kAdd>(type, do_as);
    case Combiner::kMultiply:
      return WithElementType<Combiner::kMultiply>(type, do_as);
    case Combiner::kMinimum:
      return WithElementType<Combiner::kMinimum>(type, do_as);
    case Combiner::kMaximum:
      return WithElementType<Combiner::kMaximum>(type, do_as);
    case Combiner::kAnd:
      return WithElementType<Combiner::kAnd>(type, do_as);
    case Combiner::kOr:
      return WithElementType<Combiner::kOr>(type, do_as);
    default:
      return WithElementType<Combiner::kAssign>(type, do_as);
  }
}

}  // namespace

bool SupportsScatter(Combiner fold, ElementType type) {
  if (fold == Combiner::kNone || IsComplex(type) || StorageBytes(type) > 8) return false;
  if (fold == Combiner::kAssign) return true;
  const bool is_bits = fold == Combiner::kAnd || fold == Combiner::kOr;
  if (type == ElementType::kPred) return is_bits;
  if (IsFloat(type)) return !is_bits && BitWidth(type) >= 16;
  return BitWidth(type) >= 8;
}

void ScatterUpdates(Combiner fold, ElementType type, const ScatterPlan& plan, const std::byte* updates, std::byte* array,
                 ThreadPool& pool) {
  WithCombiner(fold, type, [&]<class Kind, class T>(Kind, T) {
    FoldAll<Kind::value>(plan, reinterpret_cast<const T*>(updates), reinterpret_cast<T*>(array), pool);
  });
}

void ScatterElementsAt(Combiner fold, ElementType type, std::span<const int32_t> indices, int64_t count, const std::byte* updates,
                    std::byte* array, ThreadPool& pool) {
  WithCombiner(fold, type, [&]<class Kind, class T>(Kind, T) {
    FoldAllElements<Kind::value>(indices, count, reinterpret_cast<const T*>(updates), reinterpret_cast<T*>(array),
                                 pool);
  });
}

}  // namespace shoal::internal
