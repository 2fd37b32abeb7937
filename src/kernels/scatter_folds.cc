#include "kernels/scatter_folds.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/floats.h"
#include "kernels/vector_clones.h"

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

// bf16 in registers: its bits are the upper half of those of an f32.
template <Fold fold>
[[gnu::always_inline]] inline int64_t FoldBf16Lanes(uint16_t* to, const uint16_t* from, int64_t n) {
  typedef uint16_t Halves __attribute__((vector_size(16), aligned(2), may_alias));
  typedef uint32_t Bits __attribute__((vector_size(32)));
  typedef float Floats __attribute__((vector_size(32)));
  typedef uint16_t Packed __attribute__((vector_size(16)));
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const Packed a = *reinterpret_cast<const Halves*>(to + i), b = *reinterpret_cast<const Halves*>(from + i);
    const Bits wide_a = __builtin_convertvector(a, Bits) << 16, wide_b = __builtin_convertvector(b, Bits) << 16;
    const auto x = __builtin_bit_cast(Floats, wide_a), y = __builtin_bit_cast(Floats, wide_b);
    Floats folded = y;
    if constexpr (fold == Fold::kAdd) folded = x + y;
    if constexpr (fold == Fold::kMultiply) folded = x * y;
    if constexpr (fold == Fold::kMinimum) folded = (x != x) | (x < y) ? x : y;
    if constexpr (fold == Fold::kMaximum) folded = (x != x) | (x > y) ? x : y;
    const Bits bits = __builtin_bit_cast(Bits, folded);
    const Bits rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16, nan = (bits >> 16) | 0x40u;
    *reinterpret_cast<Halves*>(to + i) = __builtin_convertvector((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded, Packed);
  }
  return i;
}
SHOAL_VECTORS int64_t AddBf16(uint16_t* to, const uint16_t* from, int64_t n) { return FoldBf16Lanes<Fold::kAdd>(to, from, n); }
SHOAL_VECTORS int64_t MaximumBf16(uint16_t* to, const uint16_t* from, int64_t n) { return FoldBf16Lanes<Fold::kMaximum>(to, from, n); }
SHOAL_VECTORS int64_t MinimumBf16(uint16_t* to, const uint16_t* from, int64_t n) { return FoldBf16Lanes<Fold::kMinimum>(to, from, n); }
SHOAL_VECTORS int64_t MultiplyBf16(uint16_t* to, const uint16_t* from, int64_t n) { return FoldBf16Lanes<Fold::kMultiply>(to, from, n); }

template <Fold fold, class T>
void FoldBf16Row(T* to, const T* from, int64_t n) {
  auto* out = reinterpret_cast<uint16_t*>(to);
  const auto* in = reinterpret_cast<const uint16_t*>(from);
  int64_t i = 0;
  if constexpr (fold == Fold::kAdd) i = AddBf16(out, in, n);
  if constexpr (fold == Fold::kMultiply) i = MultiplyBf16(out, in, n);
  if constexpr (fold == Fold::kMinimum) i = MinimumBf16(out, in, n);
  if constexpr (fold == Fold::kMaximum) i = MaximumBf16(out, in, n);
  for (; i < n; ++i) FoldElement<fold>(to[i], from[i]);
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
  } else if constexpr (std::is_same_v<T, Narrow<ElementType::kBf16>>) {
    FoldBf16Row<fold>(to, from, n);
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

template <Fold fold, class T>
void FoldWindows(const FoldPlan& plan, int64_t begin, int64_t end, const T* updates, T* out) {
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
template <Fold fold, class T, class Place>
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
    FoldElements<Fold::kAdd>(places.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)), size, updates + begin,
                             sums.data() + begin / block * size);
  });
  for (int64_t t = 0; t < kTasks; ++t) FoldRow<Fold::kAdd>(out, sums.data() + t * size, size);
}

// Two threads in one cache are no faster than one: ranges pay where the array is larger than that.
template <Fold fold, class T, class Place>
void FoldAllElements(std::span<const Place> places, int64_t size, const T* updates, T* out, ThreadPool& pool) {
  const auto count = static_cast<int64_t>(places.size());
  if constexpr (fold == Fold::kAdd && !std::is_class_v<T>) {
    constexpr int64_t kMostSums = int64_t{1} << 13;
    if (size <= kMostSums && count > 32 * size) return SumElements(places, size, updates, out, pool);
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
enum class Cut : uint8_t { kNone, kColumns, kRanges };

template <class T>
Cut CutOf(const FoldPlan& plan, int64_t threads) {
  const int64_t elements = plan.window() * static_cast<int64_t>(plan.starts.size() * plan.outer.size());
  if (!plan.are_apart || elements < (1 << 14) || static_cast<int64_t>(plan.outer.size()) >= threads) return Cut::kNone;
  const bool is_wide = plan.length * static_cast<int64_t>(sizeof(T)) >= 512;
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
  if (plan.window() == 1 && parts == 1) return FoldElements<fold>(plan.starts, plan.count, updates, out);
  FoldWindows<fold>(plan, begin, end, updates, out);
}

template <Fold fold, class T>
void FoldAll(const FoldPlan& plan, const T* updates, T* out, ThreadPool& pool) {
  const auto count = static_cast<int64_t>(plan.starts.size()), outer = static_cast<int64_t>(plan.outer.size());
  if (plan.window() == 1 && outer == 1) return FoldAllElements<fold>(plan.starts, plan.count, updates, out + plan.outer[0], pool);
  const Cut cut = CutOf<T>(plan, pool.threads());
  const int64_t parts = cut == Cut::kNone ? 1 : pool.threads();
  const auto task = [&](int64_t i) {
    const int64_t at = i / parts;
    FoldPart<fold>(plan, cut, i % parts, parts, updates + at * count * plan.window(), out + plan.outer[static_cast<size_t>(at)]);
  };
  if (plan.are_apart) return pool.Run(outer * parts, task);
  for (int64_t i = 0; i < outer; ++i) task(i);
}

// do_as(fold, element) with both as types.
template <Fold fold, class Do>
void AsElements(ElementType type, const Do& do_as) {
  constexpr std::integral_constant<Fold, fold> kFold;
  if (type == ElementType::kBf16) return do_as(kFold, Narrow<ElementType::kBf16>{});
  if (type == ElementType::kF16) return do_as(kFold, Narrow<ElementType::kF16>{});
  if (type == ElementType::kF32) return do_as(kFold, float{});
  if (type == ElementType::kF64) return do_as(kFold, double{});
  const bool is_signed = IsSigned(type);
  switch (StorageBytes(type)) {
    case 1:
      return is_signed ? do_as(kFold, int8_t{}) : do_as(kFold, uint8_t{});
    case 2:
      return is_signed ? do_as(kFold, int16_t{}) : do_as(kFold, uint16_t{});
    case 4:
      return is_signed ? do_as(kFold, int32_t{}) : do_as(kFold, uint32_t{});
    default:
      return is_signed ? do_as(kFold, int64_t{}) : do_as(kFold, uint64_t{});
  }
}

template <class Do>
void AsFold(Fold fold, ElementType type, const Do& do_as) {
  switch (fold) {
    case Fold::kAdd:
      return AsElements<Fold::kAdd>(type, do_as);
    case Fold::kMultiply:
      return AsElements<Fold::kMultiply>(type, do_as);
    case Fold::kMinimum:
      return AsElements<Fold::kMinimum>(type, do_as);
    case Fold::kMaximum:
      return AsElements<Fold::kMaximum>(type, do_as);
    case Fold::kAnd:
      return AsElements<Fold::kAnd>(type, do_as);
    case Fold::kOr:
      return AsElements<Fold::kOr>(type, do_as);
    default:
      return AsElements<Fold::kAssign>(type, do_as);
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
  AsFold(fold, type, [&]<class Kind, class T>(Kind, T) {
    FoldAll<Kind::value>(plan, reinterpret_cast<const T*>(updates), reinterpret_cast<T*>(array), pool);
  });
}

void FoldElementsAt(Fold fold, ElementType type, std::span<const int32_t> places, int64_t count, const std::byte* updates,
                    std::byte* array, ThreadPool& pool) {
  AsFold(fold, type, [&]<class Kind, class T>(Kind, T) {
    FoldAllElements<Kind::value>(places, count, reinterpret_cast<const T*>(updates), reinterpret_cast<T*>(array), pool);
  });
}

}  // namespace shoal
