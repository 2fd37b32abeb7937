#include "kernels/scatter_folds.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/floats.h"

namespace shoal {
namespace {

// A float of sixteen bits, computed with in f32 and rounded after each step.
template <ElementType type>
struct Narrow {
  static constexpr ElementType kType = type;
  uint16_t bits;

  float Value() const {
    if constexpr (type == ElementType::kBf16) return FromBf16(bits);
    float value = 0;
    DecodeFloats(type, reinterpret_cast<const std::byte*>(&bits), &value, 1);
    return value;
  }
  static Narrow Of(float value) {
    if constexpr (type == ElementType::kBf16) return {ToBf16(value)};
    Narrow narrow;
    EncodeFloats(type, &value, reinterpret_cast<std::byte*>(&narrow.bits), 1);
    return narrow;
  }
};

// One element, or a vector of them.
template <Fold fold, bool is_float, class V>
[[gnu::always_inline]] inline V Folded(V a, V b) {
  if constexpr (fold == Fold::kAdd) return a + b;
  if constexpr (fold == Fold::kMultiply) return a * b;
  if constexpr (fold == Fold::kMinimum && is_float) return (a != a) | (a < b) ? a : b;
  if constexpr (fold == Fold::kMaximum && is_float) return (a != a) | (a > b) ? a : b;
  if constexpr (fold == Fold::kMinimum) return a < b ? a : b;
  if constexpr (fold == Fold::kMaximum) return a > b ? a : b;
  if constexpr (fold == Fold::kAnd && !is_float) return a & b;
  if constexpr (fold == Fold::kOr && !is_float) return a | b;
  return b;
}

template <Fold fold, class T>
[[gnu::always_inline]] inline void FoldElement(T& to, const T& from) {
  if constexpr (fold == Fold::kAssign) {
    to = from;
  } else if constexpr (std::is_class_v<T>) {
    to = T::Of(Folded<fold, true>(to.Value(), from.Value()));
  } else if constexpr (std::is_floating_point_v<T>) {
    to = Folded<fold, true>(to, from);
  } else {
    // Sums and products of whole numbers wrap around, which only those without a sign may.
    using Unsigned = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
    using Plain = std::conditional_t<fold == Fold::kAdd || fold == Fold::kMultiply, Unsigned, T>;
    to = static_cast<T>(Folded<fold, false>(static_cast<Plain>(to), static_cast<Plain>(from)));
  }
}

template <Fold fold, class T>
[[gnu::always_inline]] inline void FoldNarrowRow(T* to, const T* from, int64_t n) {
  constexpr int64_t kTogether = 256;
  float a[kTogether], b[kTogether];
  for (int64_t i = 0; i < n; i += kTogether) {
    const int64_t count = std::min(kTogether, n - i);
    DecodeFloats(T::kType, reinterpret_cast<const std::byte*>(to + i), a, count);
    DecodeFloats(T::kType, reinterpret_cast<const std::byte*>(from + i), b, count);
    for (int64_t k = 0; k < count; ++k) a[k] = Folded<fold, true>(a[k], b[k]);
    EncodeFloats(T::kType, a, reinterpret_cast<std::byte*>(to + i), count);
  }
}

template <Fold fold, class T>
[[gnu::always_inline]] inline void FoldRow(T* to, const T* from, int64_t n) {
  if constexpr (fold == Fold::kAssign) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  } else if constexpr (std::is_class_v<T>) {
    FoldNarrowRow<fold>(to, from, n);
  } else {
    using Wraps = std::bool_constant<std::is_integral_v<T> && (fold == Fold::kAdd || fold == Fold::kMultiply)>;
    using Plain = typename std::conditional_t<Wraps::value, std::make_unsigned<T>, std::type_identity<T>>::type;
    typedef Plain Vector __attribute__((vector_size(16)));
    typedef Vector Place __attribute__((aligned(alignof(T)), may_alias));
    constexpr int64_t kLanes = 16 / sizeof(T);
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      const Vector a = *reinterpret_cast<const Place*>(to + i), b = *reinterpret_cast<const Place*>(from + i);
      *reinterpret_cast<Place*>(to + i) = Folded<fold, std::is_floating_point_v<T>>(a, b);
    }
    for (; i < n; ++i) FoldElement<fold>(to[i], from[i]);
  }
}

// Elements [begin, end) of each window's only run.
template <Fold fold, class T>
void FoldColumns(const FoldPlan& plan, int64_t begin, int64_t end, const T* updates, T* out) {
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

// Windows that start in [begin, end).
template <Fold fold, class T>
void FoldWindows(const FoldPlan& plan, int64_t begin, int64_t end, const T* updates, T* out) {
  const auto count = static_cast<int64_t>(plan.starts.size());
  constexpr int64_t kTogether = 256, kAhead = 12;
  int32_t ours[kTogether + kAhead] = {};
  for (int64_t first = 0; first < count; first += kTogether) {
    // Which are ours is found out without a branch that nobody could foresee.
    int64_t found = 0;
    const int64_t* starts = plan.starts.data() + first;
    for (int64_t i = 0; i < std::min(kTogether, count - first); ++i) {
      ours[found] = static_cast<int32_t>(i);
      found += static_cast<uint64_t>(starts[i] - begin) < static_cast<uint64_t>(end - begin) ? 1 : 0;
    }
    for (int64_t k = 0; k < found; ++k) {
      __builtin_prefetch(updates + (first + ours[k + kAhead]) * plan.window());
      const T* from = updates + (first + ours[k]) * plan.window();
      T* to = out + starts[ours[k]];
      for (int64_t offset : plan.inner) {
        FoldRow<fold>(to + offset, from, plan.length);
        from += plan.length;
      }
    }
  }
}

// Single elements at [begin, end). Those elsewhere go to elements that nobody looks at: cheaper than a branch.
template <Fold fold, class T>
void FoldElements(const int64_t* starts, int64_t count, int64_t begin, int64_t end, const T* updates, T* out) {
  T unused[8] = {};
  const auto size = static_cast<uint64_t>(end - begin);
  for (int64_t i = 0; i < count; ++i) {
    T* const to = static_cast<uint64_t>(starts[i] - begin) < size ? out + starts[i] : unused + i % 8;
    FoldElement<fold>(*to, updates[i]);
  }
}

// Many elements into few: each task has sums of its own, which are added up.
template <class T>
void SumElements(const FoldPlan& plan, const T* updates, T* out, ThreadPool& pool) {
  constexpr int64_t kTasks = 16;
  const auto count = static_cast<int64_t>(plan.starts.size()), block = (count + kTasks - 1) / kTasks;
  std::vector<T> sums(static_cast<size_t>(plan.count * kTasks));
  ForBlocks(pool, count, block, [&](int64_t begin, int64_t end) {
    FoldElements<Fold::kAdd>(plan.starts.data() + begin, end - begin, 0, plan.count, updates + begin,
                             sums.data() + begin / block * plan.count);
  });
  for (int64_t t = 0; t < kTasks; ++t) FoldRow<Fold::kAdd>(out, sums.data() + t * plan.count, plan.count);
}

// How the folding into one outer offset's elements is shared out.
enum class Cut : uint8_t { kNone, kColumns, kRanges };

template <class T>
Cut CutOf(const FoldPlan& plan, int64_t threads) {
  const int64_t elements = plan.window() * static_cast<int64_t>(plan.starts.size() * plan.outer.size());
  if (!plan.are_apart || elements < (1 << 14) || static_cast<int64_t>(plan.outer.size()) >= threads) return Cut::kNone;
  const bool is_wide = plan.length * static_cast<int64_t>(sizeof(T)) >= 128;
  return plan.inner.size() == 1 && is_wide ? Cut::kColumns : Cut::kRanges;
}

// Part `part` of `parts` of what one outer offset has.
template <Fold fold, class T>
void FoldPart(const FoldPlan& plan, Cut cut, int64_t part, int64_t parts, const T* updates, T* out) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  if (plan.inner.size() == 1 && cut != Cut::kRanges && plan.window() > 1) {
    const int64_t each = (plan.length / parts + kLine - 1) / kLine * kLine;
    const int64_t begin = std::min(plan.length, part * each);
    const int64_t end = part + 1 == parts ? plan.length : std::min(plan.length, begin + each);
    if (begin < end) FoldColumns<fold>(plan, begin, end, updates, out);
    return;
  }
  const int64_t each = (plan.count + parts - 1) / parts, begin = part * each, end = std::min(plan.count, begin + each);
  if (plan.window() > 1) return FoldWindows<fold>(plan, begin, end, updates, out);
  FoldElements<fold>(plan.starts.data(), static_cast<int64_t>(plan.starts.size()), begin, end, updates, out);
}

template <Fold fold, class T>
void FoldAll(const FoldPlan& plan, const T* updates, T* out, ThreadPool& pool) {
  const auto count = static_cast<int64_t>(plan.starts.size()), outer = static_cast<int64_t>(plan.outer.size());
  if constexpr (fold == Fold::kAdd && !std::is_class_v<T>) {
    constexpr int64_t kMostSums = int64_t{1} << 13;
    if (plan.window() == 1 && outer == 1 && plan.count <= kMostSums && count > 32 * plan.count)
      return SumElements<T>(plan, updates, out, pool);
  }
  const Cut cut = CutOf<T>(plan, pool.threads());
  const int64_t parts = cut == Cut::kNone ? 1 : pool.threads();
  const auto task = [&](int64_t i) {
    const int64_t at = i / parts;
    FoldPart<fold>(plan, cut, i % parts, parts, updates + at * count * plan.window(), out + plan.outer[static_cast<size_t>(at)]);
  };
  if (plan.are_apart) return pool.Run(outer * parts, task);
  for (int64_t i = 0; i < outer; ++i) task(i);
}

template <Fold fold>
void FoldTyped(ElementType type, const FoldPlan& plan, const std::byte* updates, std::byte* out, ThreadPool& pool) {
  auto as = [&]<class T>(T) { FoldAll<fold>(plan, reinterpret_cast<const T*>(updates), reinterpret_cast<T*>(out), pool); };
  if (type == ElementType::kBf16) return as(Narrow<ElementType::kBf16>{});
  if (type == ElementType::kF16) return as(Narrow<ElementType::kF16>{});
  if (type == ElementType::kF32) return as(float{});
  if (type == ElementType::kF64) return as(double{});
  const bool is_signed = IsSigned(type);
  switch (StorageBytes(type)) {
    case 1:
      return is_signed ? as(int8_t{}) : as(uint8_t{});
    case 2:
      return is_signed ? as(int16_t{}) : as(uint16_t{});
    case 4:
      return is_signed ? as(int32_t{}) : as(uint32_t{});
    default:
      return is_signed ? as(int64_t{}) : as(uint64_t{});
  }
}

}  // namespace

bool HasFold(Fold fold, ElementType type) {
  if (fold == Fold::kNone || IsComplex(type) || StorageBytes(type) > 8) return false;
  if (fold == Fold::kAssign) return true;
  const bool is_bits = fold == Fold::kAnd || fold == Fold::kOr;
  if (type == ElementType::kPred) return is_bits;
  if (IsFloat(type)) return !is_bits && BitWidth(type) >= 16;
  return BitWidth(type) >= 8;
}

void FoldUpdates(Fold fold, ElementType type, const FoldPlan& plan, const std::byte* updates, std::byte* array,
                 ThreadPool& pool) {
  switch (fold) {
    case Fold::kAdd:
      return FoldTyped<Fold::kAdd>(type, plan, updates, array, pool);
    case Fold::kMultiply:
      return FoldTyped<Fold::kMultiply>(type, plan, updates, array, pool);
    case Fold::kMinimum:
      return FoldTyped<Fold::kMinimum>(type, plan, updates, array, pool);
    case Fold::kMaximum:
      return FoldTyped<Fold::kMaximum>(type, plan, updates, array, pool);
    case Fold::kAnd:
      return FoldTyped<Fold::kAnd>(type, plan, updates, array, pool);
    case Fold::kOr:
      return FoldTyped<Fold::kOr>(type, plan, updates, array, pool);
    default:
      return FoldTyped<Fold::kAssign>(type, plan, updates, array, pool);
  }
}

}  // namespace shoal
