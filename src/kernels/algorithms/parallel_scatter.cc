#include "kernels/algorithms/parallel_scatter.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace shoal::internal {
namespace {

// Elements [begin, end) of each window's only run.
template <Combiner fold, class T>
void FoldColumns(const ScatterPlan& plan, int64_t begin, int64_t end, const T* updates, T* out) {
  const auto count = static_cast<int64_t>(plan.starts.size());
  const int64_t* starts = plan.starts.data();
  constexpr int64_t kAhead = 12, kLine = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t b = 0; b < count; ++b) {
    // What lies ahead is fetched: where it falls no hardware foresees.
    if (const int64_t ahead = b + kAhead < count ? starts[b + kAhead] : -1; ahead >= 0) {
      for (int64_t i = begin; i < std::min(end, begin + 4 * kLine); i += kLine) {
        __builtin_prefetch(updates + (b + kAhead) * plan.length + i);
        __builtin_prefetch(out + ahead + i, 1);
      }
    }
    if (starts[b] >= 0) FoldRow<fold>(out + starts[b] + begin, updates + b * plan.length + begin, end - begin);
  }
}

// task(i) for the windows that start in [begin, end). Which these are is found out a few at a time, without a branch that
// nobody could foresee.
template <class Place, class Task>
[[gnu::always_inline]] inline void ForStartsIn(std::span<const Place> starts, int64_t begin, int64_t end, const Task& task) {
  const auto count = static_cast<int64_t>(starts.size());
  const auto size = static_cast<uint64_t>(end - begin);
  constexpr int64_t kTogether = 256;
  int32_t ours[kTogether];
  for (int64_t first = 0; first < count; first += kTogether) {
    int64_t found = 0;
    for (int64_t i = 0; i < std::min(kTogether, count - first); ++i) {
      ours[found] = static_cast<int32_t>(i);
      found += static_cast<uint64_t>(starts[static_cast<size_t>(first + i)] - begin) < size ? 1 : 0;
    }
    for (int64_t k = 0; k < found; ++k) task(first + ours[k]);
  }
}

template <Combiner fold, class T>
void FoldWindows(const ScatterPlan& plan, int64_t begin, int64_t end, const T* updates, T* out) {
  const int64_t* starts = plan.starts.data();
  if (plan.window() == 1)
    return ForStartsIn(plan.starts, begin, end, [&](int64_t i) { FoldElement<fold>(out[starts[i]], updates[i]); });
  if (plan.inner.size() == 1)
    return ForStartsIn(plan.starts, begin, end, [&](int64_t i) { FoldRow<fold>(out + starts[i], updates + i * plan.length, plan.length); });
  ForStartsIn(plan.starts, begin, end, [&](int64_t i) {
    const T* from = updates + i * plan.window();
    for (int64_t offset : plan.inner) {
      FoldRow<fold>(out + starts[i] + offset, from, plan.length);
      from += plan.length;
    }
  });
}

// Single elements, wherever they fall.
template <Combiner fold, class T, class Place>
void FoldElements(std::span<const Place> places, int64_t size, const T* updates, T* out) {
  for (size_t i = 0; i < places.size(); ++i)
    if (static_cast<uint64_t>(places[i]) < static_cast<uint64_t>(size)) FoldElement<fold>(out[places[i]], updates[i]);
}

// Many elements into few: each task has sums of its own, which are added up.
template <class T, class Place>
void SumElements(std::span<const Place> places, int64_t size, const T* updates, T* out, ThreadPool& pool) {
  constexpr int64_t kTasks = 16;
  const auto count = static_cast<int64_t>(places.size()), block = (count + kTasks - 1) / kTasks;
  std::vector<T> sums(static_cast<size_t>(size * kTasks));
  ForBlocks(pool, count, block, [&](int64_t begin, int64_t end) {
    FoldElements<Combiner::kAdd>(places.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)), size, updates + begin,
                             sums.data() + begin / block * size);
  });
  for (int64_t t = 0; t < kTasks; ++t) FoldRow<Combiner::kAdd>(out, sums.data() + t * size, size);
}

// Two threads in one cache are no faster than one: ranges pay where the array is larger than that.
template <Combiner fold, class T, class Place>
void FoldAllElements(std::span<const Place> places, int64_t size, const T* updates, T* out, ThreadPool& pool) {
  const auto count = static_cast<int64_t>(places.size());
  if constexpr (fold == Combiner::kAdd && !std::is_class_v<T>) {
    constexpr int64_t kMaxSums = int64_t{1} << 13;
    if (size <= kMaxSums && count > 32 * size) return SumElements(places, size, updates, out, pool);
  }
  constexpr int64_t kCache = int64_t{1} << 21;
  if (size * static_cast<int64_t>(sizeof(T)) < kCache || count < (1 << 15)) return FoldElements<fold>(places, size, updates, out);
  const int64_t parts = pool.threads(), each = (size + parts - 1) / parts;
  pool.Run(parts, [&](int64_t part) {
    ForStartsIn(places, part * each, std::min(size, (part + 1) * each),
                [&](int64_t i) { FoldElement<fold>(out[places[static_cast<size_t>(i)]], updates[i]); });
  });
}

// How the folding into one outer offset's elements is shared out.
enum class SplitMode : uint8_t { kNone, kColumns, kRanges };

template <class T>
SplitMode SplitModeOf(const ScatterPlan& plan, int64_t threads) {
  const int64_t elements = plan.window() * static_cast<int64_t>(plan.starts.size() * plan.outer.size());
  if (!plan.windows_disjoint || elements < (1 << 14) || static_cast<int64_t>(plan.outer.size()) >= threads) return SplitMode::kNone;
  // By columns every thread has whole lines of the cache, and all windows.
  constexpr int64_t kLine = 64, kNearCache = int64_t{1} << 18, kFew = int64_t{1} << 20;
  const bool is_wide = plan.length * static_cast<int64_t>(sizeof(T)) >= kLine * threads;
  if (plan.inner.size() == 1 && is_wide) return SplitMode::kColumns;
  // Ranges make everybody look at all windows: no gain where one thread has all of the array near it.
  if (plan.inner.size() == 1 && plan.count * static_cast<int64_t>(sizeof(T)) <= kNearCache && elements <= kFew) return SplitMode::kNone;
  return SplitMode::kRanges;
}

// Part `part` of `parts` of what one outer offset has.
template <Combiner fold, class T>
void FoldPart(const ScatterPlan& plan, SplitMode cut, int64_t part, int64_t parts, const T* updates, T* out) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  if (plan.inner.size() == 1 && cut != SplitMode::kRanges && plan.window() > 1) {
    const int64_t each = (plan.length / parts + kLine - 1) / kLine * kLine;
    const int64_t begin = std::min(plan.length, part * each);
    const int64_t end = part + 1 == parts ? plan.length : std::min(plan.length, begin + each);
    if (begin < end) FoldColumns<fold>(plan, begin, end, updates, out);
    return;
  }
  const int64_t each = (plan.count + parts - 1) / parts, begin = part * each, end = std::min(plan.count, begin + each);
  if (plan.window() == 1 && parts == 1) return FoldElements<fold>(plan.starts, plan.count, updates, out);
  FoldWindows<fold>(plan, begin, end, updates, out);
}

template <Combiner fold, class T>
void FoldAll(const ScatterPlan& plan, const T* updates, T* out, ThreadPool& pool) {
  const auto count = static_cast<int64_t>(plan.starts.size()), outer = static_cast<int64_t>(plan.outer.size());
  if (plan.window() == 1 && outer == 1) return FoldAllElements<fold>(plan.starts, plan.count, updates, out + plan.outer[0], pool);
  const SplitMode cut = SplitModeOf<T>(plan, pool.threads());
  const int64_t parts = cut == SplitMode::kNone ? 1 : pool.threads();
  const auto task = [&](int64_t i) {
    const int64_t at = i / parts;
    FoldPart<fold>(plan, cut, i % parts, parts, updates + at * count * plan.window(), out + plan.outer[static_cast<size_t>(at)]);
  };
  if (plan.windows_disjoint) return pool.Run(outer * parts, task);
  for (int64_t i = 0; i < outer; ++i) task(i);
}

template <Combiner fold, bool is_signed, class Do>
void AsIntegers(int64_t bytes, const Do& do_as) {
  constexpr std::integral_constant<Combiner, fold> kFold;
  if (bytes == 1) return do_as(kFold, std::conditional_t<is_signed, int8_t, uint8_t>{});
  if (bytes == 2) return do_as(kFold, std::conditional_t<is_signed, int16_t, uint16_t>{});
  if (bytes == 4) return do_as(kFold, std::conditional_t<is_signed, int32_t, uint32_t>{});
  do_as(kFold, std::conditional_t<is_signed, int64_t, uint64_t>{});
}

// do_as(fold, element) with both as types, those that fold alike as one: the loops are many and take long to compile.
template <Combiner fold, class Do>
void AsElements(ElementType type, const Do& do_as) {
  constexpr std::integral_constant<Combiner, fold> kFold;
  constexpr bool kIsOrdered = fold == Combiner::kMinimum || fold == Combiner::kMaximum;
  if constexpr (kIsOrdered || fold == Combiner::kAdd || fold == Combiner::kMultiply) {
    if (type == ElementType::kBf16) return do_as(kFold, Narrow<ElementType::kBf16>{});
    if (type == ElementType::kF16) return do_as(kFold, Narrow<ElementType::kF16>{});
    if (type == ElementType::kF32) return do_as(kFold, float{});
    if (type == ElementType::kF64) return do_as(kFold, double{});
  }
  if (kIsOrdered && IsSigned(type)) return AsIntegers<fold, kIsOrdered>(StorageBytes(type), do_as);
  AsIntegers<fold, false>(StorageBytes(type), do_as);
}

template <class Do>
void AsFold(Combiner fold, ElementType type, const Do& do_as) {
  switch (fold) {
    case Combiner::kAdd:
      return AsElements<Combiner::kAdd>(type, do_as);
    case Combiner::kMultiply:
      return AsElements<Combiner::kMultiply>(type, do_as);
    case Combiner::kMinimum:
      return AsElements<Combiner::kMinimum>(type, do_as);
    case Combiner::kMaximum:
      return AsElements<Combiner::kMaximum>(type, do_as);
    case Combiner::kAnd:
      return AsElements<Combiner::kAnd>(type, do_as);
    case Combiner::kOr:
      return AsElements<Combiner::kOr>(type, do_as);
    default:
      return AsElements<Combiner::kAssign>(type, do_as);
  }
}

}  // namespace

bool HasFold(Combiner fold, ElementType type) {
  if (fold == Combiner::kNone || IsComplex(type) || StorageBytes(type) > 8) return false;
  if (fold == Combiner::kAssign) return true;
  const bool is_bits = fold == Combiner::kAnd || fold == Combiner::kOr;
  if (type == ElementType::kPred) return is_bits;
  if (IsFloat(type)) return !is_bits && BitWidth(type) >= 16;
  return BitWidth(type) >= 8;
}

void FoldUpdates(Combiner fold, ElementType type, const ScatterPlan& plan, const std::byte* updates, std::byte* array,
                 ThreadPool& pool) {
  AsFold(fold, type, [&]<class Kind, class T>(Kind, T) {
    FoldAll<Kind::value>(plan, reinterpret_cast<const T*>(updates), reinterpret_cast<T*>(array), pool);
  });
}

void FoldElementsAt(Combiner fold, ElementType type, std::span<const int32_t> places, int64_t count, const std::byte* updates,
                    std::byte* array, ThreadPool& pool) {
  AsFold(fold, type, [&]<class Kind, class T>(Kind, T) {
    FoldAllElements<Kind::value>(places, count, reinterpret_cast<const T*>(updates), reinterpret_cast<T*>(array), pool);
  });
}

}  // namespace shoal::internal
