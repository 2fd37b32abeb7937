// ComplexBuilder: the builder with which Apply in core/ops/elementwise.h emits LLVM IR for complex numbers, represented
// as a vector of real and a vector of imaginary parts. Special cases match kernels/elementwise/numbers.h, which follows
// C: if both parts of a multiplication or division are NaN, a C library function recovers the infinite result.
#pragma once

#include "compile/codegen/vector_builder.h"
#include "core/ops/complex_ops.h"

namespace shoal::internal {

class ComplexBuilder {
 public:
  explicit ComplexBuilder(VectorBuilder& parts) : parts_(parts), ir_(parts.ir()) {}

  // clang-format off
  Num One(Num x);
  Num Add(Num x, Num y);          Num Subtract(Num x, Num y);     Num Multiply(Num x, Num y);
  Num Divide(Num x, Num y);       Num Negate(Num x);              Num Abs(Num x);
  Num Sign(Num x);                Num Real(Num x);                Num Imag(Num x);
  Num Exp(Num x);                 Num Log(Num x);                 Num Sqrt(Num x);
  Num Expm1(Num x);               Num Log1p(Num x);               Num Power(Num x, Num y);
  Num Sin(Num x);                 Num Cos(Num x);                 Num Tan(Num x);
  Num Sinh(Num x);                Num Cosh(Num x);                Num Tanh(Num x);
  Num Rsqrt(Num x) { return CallLibrary("rsqrt", {x}); }    Num Acos(Num x) { return CallLibrary("acos", {x}); }
  Num Acosh(Num x) { return CallLibrary("acosh", {x}); }    Num Asin(Num x) { return CallLibrary("asin", {x}); }
  Num Asinh(Num x) { return CallLibrary("asinh", {x}); }    Num Atanh(Num x) { return CallLibrary("atanh", {x}); }
  Num Atan2(Num x, Num y) { return CallLibrary("atan2", {x, y}); }
  // clang-format on
  Num Select(Num choose, Num x, Num y);
  Num Compare(ComparisonDirection direction, Num x, Num y);
  // Converts from or to a complex type, or both.
  Num Convert(Num x, ElementType to);

 private:
  static Num RealOf(Num x) { return {x.value, PartType(x.type)}; }
  static Num ImagOf(Num x) { return {x.imaginary, PartType(x.type)}; }
  static Num Pair(Num real, Num imaginary, ElementType type) { return {real.value, type, imaginary.value}; }
  // Converts both parts to f64 (as c128), and back.
  Num Wide(Num x);
  Num Narrow(Num x, ElementType type);
  llvm::Value* BothNan(Num x);
  llvm::Value* Either(llvm::Value* a, llvm::Value* b) { return ir_.CreateOr(a, b); }
  llvm::Value* IsBeyond(llvm::Value* part, double limit);  // |part| >= limit, or NaN
  struct SineAndCosine {
    llvm::Value *sine, *cosine;
  };
  SineAndCosine Circular(llvm::Value* x);
  SineAndCosine Hyperbolic(llvm::Value* x);
  // `formula` of both parts' sines and cosines; those of the real part are circular or hyperbolic, the others not.
  Num OfParts(const char* function, Num x, bool circular_real, Num (ComplexBuilder::*formula)(SineAndCosine, SineAndCosine));
  Num SineOf(SineAndCosine a, SineAndCosine b);
  Num CosineOf(SineAndCosine a, SineAndCosine b);
  Num HyperbolicCosineOf(SineAndCosine a, SineAndCosine b);
  Num TangentOf(SineAndCosine a, SineAndCosine b);
  Num HyperbolicTangentOf(SineAndCosine a, SineAndCosine b);
  // x / y for c128, with Smith's algorithm.
  Num Quotient(Num x, Num y);
  // Calls a function of the C++ library for each lane.
  Num CallLibrary(const char* function, std::initializer_list<Num> arguments);
  // `near`, but the library function's value in far lanes. Calls the function only if there is such a lane.
  Num OrLibrary(Num near, llvm::Value* is_far, const char* function, std::initializer_list<Num> arguments);

  VectorBuilder& parts_;
  llvm::IRBuilder<>& ir_;
};

}  // namespace shoal::internal
