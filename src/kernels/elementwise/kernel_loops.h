// The loops of elementwise ops over elements of one C++ type.
#pragma once

#include <array>

#include "kernels/elementwise/element_loops.h"
#include "kernels/elementwise/native_types.h"
#include "kernels/elementwise/numbers.h"

namespace shoal::internal {

using LoopRow = std::array<ElementLoop::Loop, kNativeCount>;  // indexed by NativeIndex; null if the op is not defined

template <class T>
constexpr uint8_t TypeBit() {
  if (std::is_same_v<T, bool>) return types::kPred;
  if (kIsComplex<T>) return types::kComplex;
  if (std::is_floating_point_v<T>) return types::kFloat;
  return std::is_signed_v<T> ? types::kSigned : types::kUnsigned;
}

// The type of an element in memory. A pred is a byte, and every nonzero value is true.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
template <class T>
T Load(const std::byte* data, int64_t i) {
  if constexpr (std::is_same_v<T, bool>) return reinterpret_cast<const uint8_t*>(data)[i] != 0;
  return reinterpret_cast<const T*>(data)[i];
}

// Functions of f32 are computed in f64 and rounded once, so that they are correctly rounded except in rare cases.
template <class T, bool transcendental>
struct Wider {
  using Type = T;
};
template <>
struct Wider<float, true> {
  using Type = double;
};
template <>
struct Wider<std::complex<float>, true> {
  using Type = std::complex<double>;
};
template <class R>
struct Rounded {
  using Type = R;
};
template <>
struct Rounded<double> {
  using Type = float;
};
template <>
struct Rounded<std::complex<double>> {
  using Type = std::complex<float>;
};

template <class R, class W, class T>
using StoredResult = std::conditional_t<std::is_same_v<W, T>, R, typename Rounded<R>::Type>;

template <Opcode op>
inline constexpr bool kWidens = op == Opcode::kPower || op == Opcode::kAtan2 || requires {
  Op<op>::kTranscendental;
};

// out[i] = Apply(in[0][i]), or Apply(in[0][i], in[1][i]).
template <Opcode op, int arity, class T>
void ApplyLoop(const ElementLoop&, std::byte* out, const std::byte* const* in, int64_t n) {
  using W = typename Wider<T, kWidens<op>>::Type;
  Numbers b;
  auto apply = [&](int64_t i) {
    if constexpr (arity == 1) {
      return Op<op>::Apply(b, static_cast<W>(Load<T>(in[0], i)));
    } else {
      return Op<op>::Apply(b, static_cast<W>(Load<T>(in[0], i)), static_cast<W>(Load<T>(in[1], i)));
    }
  };
  using R = StoredResult<decltype(apply(0)), W, T>;
  auto* results = reinterpret_cast<Stored<R>*>(out);
  for (int64_t i = 0; i < n; ++i) results[i] = static_cast<Stored<R>>(static_cast<R>(apply(i)));
}

// XLA defines neither an order nor a remainder of complex numbers.
template <Opcode op>
inline constexpr bool kIsDefinedOnComplex = op != Opcode::kMaximum&& op != Opcode::kMinimum&& op != Opcode::kRemainder;

template <Opcode op, int arity, class T>
constexpr ElementLoop::Loop LoopOf() {
  if constexpr (requires { Op<op>::kTypes; }) {
    if constexpr ((Op<op>::kTypes & TypeBit<T>()) != 0 && (kIsDefinedOnComplex<op> || !kIsComplex<T>))
      return &ApplyLoop<op, arity, T>;
  }
  return nullptr;
}

// The loops of an op that is defined by Apply(b, x) or Apply(b, x, y) on operands of one type; empty for other ops.
template <Opcode op, int arity, int wanted_arity>
constexpr LoopRow LoopsOf() {
  if constexpr (arity == wanted_arity && op != Opcode::kCompare) {
    return []<class... T>(std::tuple<T...>*) {
      return LoopRow{LoopOf<op, arity, T>()...};
    }(static_cast<NativeTypes*>(nullptr));
  }
  return {};
}

// The loops of an opcode.
const LoopRow& UnaryLoops(Opcode op);
const LoopRow& BinaryLoops(Opcode op);

}  // namespace shoal::internal
