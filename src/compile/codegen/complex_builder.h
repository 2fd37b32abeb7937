// ComplexBuilder: the builder with which Apply in core/ops/elementwise.h makes LLVM IR of complex numbers: pairs of vectors,
// real and imaginary parts. The corners are those of kernels/elementwise/numbers.h, which is C's: where a product or a
// quotient would be nan in both parts a function of the C library finds the infinity it stands for.
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
  Num Rsqrt(Num x) { return Called("rsqrt", {x}); }    Num Expm1(Num x) { return Called("expm1", {x}); }
  Num Log1p(Num x) { return Called("log1p", {x}); }    Num Acos(Num x) { return Called("acos", {x}); }
  Num Acosh(Num x) { return Called("acosh", {x}); }    Num Asin(Num x) { return Called("asin", {x}); }
  Num Asinh(Num x) { return Called("asinh", {x}); }    Num Atanh(Num x) { return Called("atanh", {x}); }
  Num Cos(Num x) { return Called("cos", {x}); }        Num Cosh(Num x) { return Called("cosh", {x}); }
  Num Sin(Num x) { return Called("sin", {x}); }        Num Sinh(Num x) { return Called("sinh", {x}); }
  Num Tan(Num x) { return Called("tan", {x}); }        Num Tanh(Num x) { return Called("tanh", {x}); }
  Num Power(Num x, Num y) { return Called("power", {x, y}); }
  Num Atan2(Num x, Num y) { return Called("atan2", {x, y}); }
  // clang-format on
  Num Select(Num choose, Num x, Num y);
  Num Compare(ComparisonDirection direction, Num x, Num y);
  // From or to a complex type, or both.
  Num Convert(Num x, ElementType to);

 private:
  static Num RealOf(Num x) { return {x.value, PartType(x.type)}; }
  static Num ImagOf(Num x) { return {x.imaginary, PartType(x.type)}; }
  static Num Pair(Num real, Num imaginary, ElementType type) { return {real.value, type, imaginary.value}; }
  // The number with both parts in f64, as a c128, and back.
  Num Wide(Num x);
  Num Narrow(Num x, ElementType type);
  llvm::Value* BothNan(Num x);
  llvm::Value* Either(llvm::Value* a, llvm::Value* b) { return ir_.CreateOr(a, b); }
  llvm::Value* IsBeyond(llvm::Value* part, double limit);  // or nan
  // Smith's way, of c128.
  Num Quotient(Num x, Num y);
  // A function of C++'s library, lane by lane.
  Num Called(const char* function, std::initializer_list<Num> arguments);
  // `near`, but the library's function of the lanes that are far: asked for only where there are any.
  Num OrCalled(Num near, llvm::Value* is_far, const char* function, std::initializer_list<Num> arguments);

  VectorBuilder& parts_;
  llvm::IRBuilder<>& ir_;
};

}  // namespace shoal::internal
