#include "kernels/algorithms/reduction_loop.h"

#include <bit>
#include <complex>
#include <type_traits>

#include "kernels/arrays/min_max.h"
#include "kernels/arrays/floats.h"

namespace shoal::internal {
namespace {

// Integers wrap: they are added and multiplied as unsigned 64-bit integers.
struct Add {
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    return a + b;
  }
};
struct Multiply {
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    return a * b;
  }
};
struct Minimum {
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return PropagatingMin(a, b);
    return a < b ? a : b;
  }
};
struct Maximum {
  template <class T>
  static T Apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return PropagatingMax(a, b);
    return a > b ? a : b;
  }
};
struct And {
  template <class T>
  static T Apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T Apply(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T Apply(T a, T b) {
    return a ^ b;
  }
};

// Round to the precision of bf16 or f16; the result is a float.
struct ToBf16Precision {
  static float Apply(float x) { return FromBf16(ToBf16(x)); }
};
struct ToF16Precision {
  static float Apply(float x) {
    const auto bits = std::bit_cast<uint32_t>(x);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) return x;
    // Adding 0.5 rounds a subnormal: the last digit of the sum is the last digit of an f16.
    if (magnitude < 0x38800000u) {
      const float rounded = (std::bit_cast<float>(magnitude) + 0.5f) - 0.5f;
      return (bits >> 31) != 0 ? -rounded : rounded;
    }
    const uint32_t rounded = (bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu;
    if ((rounded & 0x7fffffffu) >= 0x47800000u) return std::bit_cast<float>((bits & 0x80000000u) | 0x7f800000u);
    return std::bit_cast<float>(rounded);
  }
};
template <class F, class Precision>
struct Rounded {
  static constexpr bool kOrdered = true;
  static float Apply(float a, float b) { return Precision::Apply(F::Apply(a, b)); }
};
template <class F>
constexpr bool IsOrdered() {
  return requires { F::kOrdered; };
}

// Reduces contiguous elements into one accumulator, in eight independent chains to hide the latency of each step.
template <class F, class Acc, class T>
Acc FoldRun(Acc acc, const T* in, int64_t n) {
  constexpr int kChains = 8;
  int64_t i = 0;
  if (!IsOrdered<F>() && n >= int64_t{2} * kChains) {
    Acc chains[kChains];
    for (int c = 0; c < kChains; ++c) chains[c] = static_cast<Acc>(in[c]);
    for (i = kChains; i + kChains <= n; i += kChains)
      for (int c = 0; c < kChains; ++c) chains[c] = F::Apply(chains[c], static_cast<Acc>(in[i + c]));
    for (int c = 0; c < kChains; ++c) acc = F::Apply(acc, chains[c]);
  }
  for (; i < n; ++i) acc = F::Apply(acc, static_cast<Acc>(in[i]));
  return acc;
}

template <class F, class Acc, class T>
void FoldRow(const StridedLoop& loop, Acc* acc, const T* in) {
  if (loop.out == 0 && loop.in == 1) {
    *acc = FoldRun<F>(*acc, in, loop.size);
  } else if (loop.out == 0) {
    Acc sum = *acc;
    for (int64_t i = 0; i < loop.size; ++i) sum = F::Apply(sum, static_cast<Acc>(in[i * loop.in]));
    *acc = sum;
  } else if (loop.out == 1 && loop.in == 1) {
    for (int64_t i = 0; i < loop.size; ++i) acc[i] = F::Apply(acc[i], static_cast<Acc>(in[i]));
  } else {
    for (int64_t i = 0; i < loop.size; ++i)
      acc[i * loop.out] = F::Apply(acc[i * loop.out], static_cast<Acc>(in[i * loop.in]));
  }
}

template <class F, class Acc, class T>
void FoldLoops(std::span<const StridedLoop> loops, std::byte* accumulators, const std::byte* elements) {
  auto* acc = reinterpret_cast<Acc*>(accumulators);
  const auto* in = reinterpret_cast<const T*>(elements);
  if (loops.size() == 1) return FoldRow<F>(loops[0], acc, in);
  const StridedLoop& outer = loops[0];
  if (loops.size() == 2) {
    for (int64_t i = 0; i < outer.size; ++i) FoldRow<F>(loops[1], acc + i * outer.out, in + i * outer.in);
    return;
  }
  for (int64_t i = 0; i < outer.size; ++i)
    FoldLoops<F, Acc, T>(loops.subspan(1), reinterpret_cast<std::byte*>(acc + i * outer.out),
                         reinterpret_cast<const std::byte*>(in + i * outer.in));
}

template <class F, class T>
void ScatterLoop(std::byte* array, const int64_t* indices, const std::byte* elements, int64_t n) {
  auto* out = reinterpret_cast<T*>(array);
  const auto* in = reinterpret_cast<const T*>(elements);
  for (int64_t i = 0; i < n; ++i) out[indices[i]] = F::Apply(out[indices[i]], in[i]);
}

ElementType SumType(ElementType type) {
  if (IsFloat(type)) return ElementType::kF64;
  return type == ElementType::kC64 ? ElementType::kC128 : type;
}

// Wraps integers narrower than a byte to their range.
void WrapNarrow(ElementType type, Array& array) {
  const int shift = 8 - BitWidth(type);
  if (IsSigned(type)) {
    for (int8_t& x : array.Mutable<int8_t>()) x = static_cast<int8_t>(static_cast<int8_t>(x << shift) >> shift);
  } else {
    for (uint8_t& x : array.Mutable<uint8_t>()) x = static_cast<uint8_t>(static_cast<uint8_t>(x << shift) >> shift);
  }
}

}  // namespace

// Selects the loop of a ReductionLoop by function, element type and accumulator type.
struct LoopSelector {
  template <class F, class T, class Acc = T>
  static bool Set(ReductionLoop& loop) {
    loop.loops_ = &FoldLoops<F, Acc, T>;
    if (loop.element_ == loop.type_ && (BitWidth(loop.type_) >= 8 || loop.type_ == ElementType::kPred))
      loop.scatter_ = &ScatterLoop<F, T>;
    return true;
  }

  // Signed and unsigned integers have the same result bits.
  template <class F>
  static bool SetBits(ReductionLoop& loop) {
    switch (StorageBytes(loop.type_)) {
      case 1:
        return Set<F, uint8_t>(loop);
      case 2:
        return Set<F, uint16_t>(loop);
      case 4:
        return Set<F, uint32_t>(loop);
      default:
        return Set<F, uint64_t>(loop);
    }
  }

  template <class F>
  static bool SetMinOrMax(ReductionLoop& loop) {
    if (IsUnsigned(loop.type_)) return SetBits<F>(loop);
    switch (StorageBytes(loop.type_)) {
      case 1:
        return Set<F, int8_t>(loop);
      case 2:
        return Set<F, int16_t>(loop);
      case 4:
        return Set<F, int32_t>(loop);
      default:
        return Set<F, int64_t>(loop);
    }
  }

  template <class F>
  static bool SetInteger(ReductionLoop& loop) {
    constexpr bool is_min_or_max = std::is_same_v<F, Minimum> || std::is_same_v<F, Maximum>;
    return is_min_or_max ? SetMinOrMax<F>(loop) : SetBits<F>(loop);
  }

  template <class F>
  static bool SetFloat(ReductionLoop& loop) {
    // Minimum and maximum return one of their operands, so they need no rounding.
    constexpr bool is_min_or_max = std::is_same_v<F, Minimum> || std::is_same_v<F, Maximum>;
    if (!is_min_or_max && loop.element_ != loop.type_) return SetRounded<F>(loop);
    return loop.element_ == ElementType::kF32 ? Set<F, float>(loop) : Set<F, double>(loop);
  }

  template <class F>
  static bool SetRounded(ReductionLoop& loop) {
    loop.rounds_each_step_ = true;
    if (loop.type_ == ElementType::kBf16) return Set<Rounded<F, ToBf16Precision>, float>(loop);
    return loop.type_ == ElementType::kF16 && Set<Rounded<F, ToF16Precision>, float>(loop);
  }

  static bool SetSum(ReductionLoop& loop) {
    if (loop.element_ != loop.type_) return SetRounded<Add>(loop);
    loop.accumulator_ = SumType(loop.type_);
    if (loop.type_ == ElementType::kC64) return Set<Add, std::complex<float>, std::complex<double>>(loop);
    if (loop.type_ == ElementType::kC128) return Set<Add, std::complex<double>>(loop);
    return loop.element_ == ElementType::kF32 ? Set<Add, float, double>(loop) : Set<Add, double>(loop);
  }

  template <class F>
  static bool Select(ReductionLoop& loop) {
    constexpr bool is_bitwise = std::is_same_v<F, And> || std::is_same_v<F, Or> || std::is_same_v<F, Xor>;
    if (std::is_same_v<F, Add> || std::is_same_v<F, Xor>) loop.neutral_ = ReductionLoop::Neutral::kZero;
    if (std::is_same_v<F, Multiply>) loop.neutral_ = ReductionLoop::Neutral::kOne;
    if (IsInteger(loop.type_)) return SetInteger<F>(loop);
    // For pred, sum and maximum are `or`; product and minimum are `and`.
    if (loop.type_ == ElementType::kPred) {
      constexpr bool is_or = std::is_same_v<F, Add> || std::is_same_v<F, Maximum>;
      return Set<std::conditional_t<is_bitwise, F, std::conditional_t<is_or, Or, And>>, uint8_t>(loop);
    }
    if constexpr (std::is_same_v<F, Add>) return SetSum(loop);
    if constexpr (!is_bitwise) return IsFloat(loop.type_) && SetFloat<F>(loop);
    return false;
  }
};

std::optional<ReductionLoop> ReductionLoop::Of(Opcode op, ElementType type) {
  struct Entry {
    Opcode op;
    bool (*select)(ReductionLoop& loop);
  };
  static constexpr Entry kEntries[] = {
      {Opcode::kAdd, &LoopSelector::Select<Add>},         {Opcode::kMultiply, &LoopSelector::Select<Multiply>},
      {Opcode::kMinimum, &LoopSelector::Select<Minimum>}, {Opcode::kMaximum, &LoopSelector::Select<Maximum>},
      {Opcode::kAnd, &LoopSelector::Select<And>},         {Opcode::kOr, &LoopSelector::Select<Or>},
      {Opcode::kXor, &LoopSelector::Select<Xor>},
  };
  for (const Entry& entry : kEntries) {
    if (entry.op != op) continue;
    ReductionLoop loop;
    loop.op_ = op;
    loop.type_ = type;
    loop.element_ = loop.accumulator_ = IsNarrowFloat(type) ? ElementType::kF32 : type;
    if (entry.select(loop)) return loop;
  }
  return std::nullopt;
}

bool ReductionLoop::IsIdentityElement(const Array& init) const {
  if (neutral_ == Neutral::kAny) return true;
  const bool is_real = type_ == ElementType::kC64    ? init.As<std::complex<float>>()[0].imag() == 0
                       : type_ == ElementType::kC128 ? init.As<std::complex<double>>()[0].imag() == 0
                                                     : true;
  return is_real && NumberAt(init, 0) == (neutral_ == Neutral::kOne ? 1 : 0);
}

Array ReductionLoop::Start(const Array& init, Dims dims) const {
  const Array element = Elements(init);
  Array wide(accumulator_, Dims{});
  if (accumulator_ == element_) {
    wide = element;
  } else if (accumulator_ == ElementType::kC128) {
    wide.Mutable<std::complex<double>>()[0] = element.As<std::complex<float>>()[0];
  } else {
    wide.Mutable<double>()[0] = element.As<float>()[0];
  }
  Strided everywhere{0, Dims(dims.size(), 0)};
  return Gathered(wide, std::move(dims), everywhere);
}

Array ReductionLoop::Elements(const Array& array) const {
  if (element_ == type_) return array;
  Array decoded(element_, array.dims());
  DecodeFloats(type_, array.data(), decoded.Mutable<float>().data(), array.count());
  return decoded;
}

void ReductionLoop::Accumulate(Ints sizes, Array& accumulators, const Strided& to, const Array& elements,
                      const Strided& from) const {
  if (ElementCount(sizes) == 0) return;
  const auto loops = MergedLoops(sizes, AsInts(to.strides), AsInts(from.strides));
  loops_(loops, accumulators.mutable_data() + to.offset * accumulators.element_bytes(),
         elements.data() + from.offset * elements.element_bytes());
}

Array ReductionLoop::Finish(const Array& accumulators) const {
  Array result = accumulators;
  if (accumulator_ != type_) {
    result = Array(type_, accumulators.dims());
    if (type_ == ElementType::kC64) {
      auto out = result.Mutable<std::complex<float>>();
      for (size_t i = 0; i < out.size(); ++i) out[i] = std::complex<float>(accumulators.As<std::complex<double>>()[i]);
    } else if (accumulator_ == ElementType::kF32) {
      EncodeFloats(type_, accumulators.As<float>().data(), result.mutable_data(), result.count());
    } else {
      auto out = result.Mutable<float>();
      for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(accumulators.As<double>()[i]);
    }
  } else if (IsInteger(type_) && BitWidth(type_) < 8) {
    WrapNarrow(type_, result);
  }
  return result;
}

}  // namespace shoal::internal
