// Functions of c64 that are computed in f64 and rounded once, where short formulas are accurate enough. Lanes to which a
// formula does not apply are computed by the C++ library, and so is c128.
#include <cmath>

#include "compile/codegen/complex_builder.h"

namespace shoal::internal {

using llvm::Value;

// The hyperbolic sine and cosine of an f64. Near 0, the sine uses its series to avoid cancellation.
ComplexBuilder::SineAndCosine ComplexBuilder::Hyperbolic(Value* x) {
  Value* size = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* half = ir_.CreateFMul(parts_.ExpWide(size), parts_.Float(x, 0.5));
  Value* inverse = ir_.CreateFDiv(parts_.Float(x, 0.25), half);
  Value* square = ir_.CreateFMul(x, x);
  Value* series = ir_.CreateFMul(x, parts_.Polynomial(square, {1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6, 1}));
  Value* far = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, ir_.CreateFSub(half, inverse), x);
  Value* is_near = ir_.CreateFCmpOLT(size, parts_.Float(x, 0.5));
  return {ir_.CreateSelect(is_near, series, far), ir_.CreateFAdd(half, inverse)};
}

ComplexBuilder::SineAndCosine ComplexBuilder::Circular(Value* x) {
  return {parts_.WideSinOrCos(x, false), parts_.WideSinOrCos(x, true)};
}

Num ComplexBuilder::OfParts(const char* function, Num x, bool circular_real, Num (ComplexBuilder::*formula)(SineAndCosine, SineAndCosine)) {
  if (x.type == ElementType::kC128) return CallLibrary(function, {x});
  const Num wide = Wide(x);
  const SineAndCosine real = circular_real ? Circular(wide.value) : Hyperbolic(wide.value);
  const SineAndCosine imaginary = circular_real ? Hyperbolic(wide.imaginary) : Circular(wide.imaginary);
  const Num near = Narrow((this->*formula)(real, imaginary), x.type);
  Value* is_far = Either(IsBeyond(x.value, circular_real ? 0x1p30 : INFINITY), IsBeyond(x.imaginary, circular_real ? INFINITY : 0x1p30));
  return OrLibrary(near, is_far, function, {x});
}

// sin a cosh b + i cos a sinh b
Num ComplexBuilder::SineOf(SineAndCosine a, SineAndCosine b) {
  return {ir_.CreateFMul(a.sine, b.cosine), ElementType::kC128, ir_.CreateFMul(a.cosine, b.sine)};
}
// cos a cosh b - i sin a sinh b
Num ComplexBuilder::CosineOf(SineAndCosine a, SineAndCosine b) {
  return {ir_.CreateFMul(a.cosine, b.cosine), ElementType::kC128, ir_.CreateFNeg(ir_.CreateFMul(a.sine, b.sine))};
}
// cosh a cos b + i sinh a sin b
Num ComplexBuilder::HyperbolicCosineOf(SineAndCosine a, SineAndCosine b) {
  return {ir_.CreateFMul(a.cosine, b.cosine), ElementType::kC128, ir_.CreateFMul(a.sine, b.sine)};
}
// (sin a cos a + i sinh b cosh b) / (cos² a + sinh² b)
Num ComplexBuilder::TangentOf(SineAndCosine a, SineAndCosine b) {
  Value* divisor = ir_.CreateFAdd(ir_.CreateFMul(a.cosine, a.cosine), ir_.CreateFMul(b.sine, b.sine));
  return {ir_.CreateFDiv(ir_.CreateFMul(a.sine, a.cosine), divisor), ElementType::kC128,
          ir_.CreateFDiv(ir_.CreateFMul(b.sine, b.cosine), divisor)};
}
// (sinh a cosh a + i sin b cos b) / (sinh² a + cos² b)
Num ComplexBuilder::HyperbolicTangentOf(SineAndCosine a, SineAndCosine b) {
  Value* divisor = ir_.CreateFAdd(ir_.CreateFMul(a.sine, a.sine), ir_.CreateFMul(b.cosine, b.cosine));
  return {ir_.CreateFDiv(ir_.CreateFMul(a.sine, a.cosine), divisor), ElementType::kC128,
          ir_.CreateFDiv(ir_.CreateFMul(b.sine, b.cosine), divisor)};
}

Num ComplexBuilder::Sin(Num x) { return OfParts("sin", x, true, &ComplexBuilder::SineOf); }
Num ComplexBuilder::Cos(Num x) { return OfParts("cos", x, true, &ComplexBuilder::CosineOf); }
Num ComplexBuilder::Tan(Num x) { return OfParts("tan", x, true, &ComplexBuilder::TangentOf); }
Num ComplexBuilder::Sinh(Num x) { return OfParts("sinh", x, false, &ComplexBuilder::SineOf); }  // sinh a cos b + i cosh a sin b
Num ComplexBuilder::Cosh(Num x) { return OfParts("cosh", x, false, &ComplexBuilder::HyperbolicCosineOf); }
Num ComplexBuilder::Tanh(Num x) { return OfParts("tanh", x, false, &ComplexBuilder::HyperbolicTangentOf); }

// (e^a - 1) cos b - 2 sin² (b / 2) + i e^a sin b
Num ComplexBuilder::Expm1(Num x) {
  if (x.type == ElementType::kC128) return CallLibrary("expm1", {x});
  const Num wide = Wide(x);
  const auto [sine, cosine] = Circular(wide.imaginary);
  Value* half_sine = parts_.WideSinOrCos(ir_.CreateFMul(wide.imaginary, parts_.Float(wide.value, 0.5)), false);
  Value* squares = ir_.CreateFMul(parts_.Float(sine, 2), ir_.CreateFMul(half_sine, half_sine));
  Value* real = ir_.CreateFSub(ir_.CreateFMul(parts_.Expm1(RealOf(wide)).value, cosine), squares);
  const Num near{real, ElementType::kC128, ir_.CreateFMul(parts_.ExpWide(wide.value), sine)};
  return OrLibrary(Narrow(near, x.type), Either(IsBeyond(x.value, INFINITY), IsBeyond(x.imaginary, 0x1p30)), "expm1", {x});
}

// (log |1 + x|, the angle of 1 + x), with |1 + x|² = 1 + a (2 + a) + b².
Num ComplexBuilder::Log1p(Num x) {
  if (x.type == ElementType::kC128) return CallLibrary("log1p", {x});
  const Num wide = Wide(x);
  Value *a = wide.value, *b = wide.imaginary;
  Value* along = ir_.CreateFAdd(a, parts_.Float(a, 1));
  Value* square = ir_.CreateFMul(b, b);
  Value* past_one = ir_.CreateFAdd(ir_.CreateFMul(a, ir_.CreateFAdd(a, parts_.Float(a, 2))), square);
  Value* squares = ir_.CreateFAdd(ir_.CreateFMul(along, along), square);
  Value* is_small = ir_.CreateFCmpOLT(squares, parts_.Float(a, 0.5));
  Value* log = ir_.CreateSelect(is_small, parts_.LogWide(squares), parts_.Log1p({past_one, ElementType::kF64}).value);
  const Num near{ir_.CreateFMul(log, parts_.Float(a, 0.5)), ElementType::kC128, parts_.AngleOf(b, along)};
  Value* is_far = Either(IsBeyond(squares, 0x1p260), ir_.CreateFCmpULT(squares, parts_.Float(a, 0x1p-300)));
  return OrLibrary(Narrow(near, x.type), is_far, "log1p", {x});
}

// e^(y log x)
Num ComplexBuilder::Power(Num x, Num y) {
  if (x.type == ElementType::kC128) return CallLibrary("power", {x, y});
  const Num base = Wide(x), exponent = Wide(y);
  Value* squares = ir_.CreateFAdd(ir_.CreateFMul(base.value, base.value), ir_.CreateFMul(base.imaginary, base.imaginary));
  Value* size = ir_.CreateFMul(parts_.LogWide(squares), parts_.Float(squares, 0.5));
  Value* angle = parts_.AngleOf(base.imaginary, base.value);
  Value* real = ir_.CreateFSub(ir_.CreateFMul(exponent.value, size), ir_.CreateFMul(exponent.imaginary, angle));
  Value* imaginary = ir_.CreateFAdd(ir_.CreateFMul(exponent.value, angle), ir_.CreateFMul(exponent.imaginary, size));
  const auto [sine, cosine] = Circular(imaginary);
  Value* power = parts_.ExpWide(real);
  const Num near{ir_.CreateFMul(power, cosine), ElementType::kC128, ir_.CreateFMul(power, sine)};
  Value* is_far = Either(IsBeyond(squares, 0x1p260), ir_.CreateFCmpULT(squares, parts_.Float(squares, 0x1p-300)));
  is_far = Either(is_far, Either(IsBeyond(real, INFINITY), IsBeyond(imaginary, 0x1p30)));
  return OrLibrary(Narrow(near, x.type), is_far, "power", {x, y});
}

}  // namespace shoal::internal
