// Functions of f32 as polynomials, evaluated in vectors. Results are within 4 units in the last place, and match the C
// library at infinities, NaN, zeros and for subnormal results. For f64, double_functions.cc has some of the functions, and
// the C library is called for the others.
#include <cmath>

#include "compile/codegen/vector_builder.h"

namespace shoal::internal {

using llvm::Value;

namespace {

bool IsF32Like(const Num& x) { return IsFloat(x.type) && BitWidth(x.type) <= 32; }

}  // namespace

// e^x = 2^n e^r with x = n ln 2 + r and |r| <= ln(2) / 2; e^r by its series to r^7.
Value* VectorBuilder::ExpF32(Value* x) {
  const int lanes = LanesOf(x);
  // Clamp to limits beyond which e^x is inf or 0. NaN is restored at the end.
  Value* clamped = ir_.CreateSelect(ir_.CreateFCmpOGT(x, Float(x, 89)), Float(x, 89), x);
  clamped = ir_.CreateSelect(ir_.CreateFCmpOGT(clamped, Float(x, -104)), clamped, Float(x, -104));
  Value* n = Intrinsic(llvm::Intrinsic::nearbyint, {ir_.CreateFMul(clamped, Float(x, M_LOG2E))});
  Value* r = MultiplyAdd(n, Float(x, -0.693359375), clamped);
  r = MultiplyAdd(n, Float(x, 2.12194440e-4), r);
  Value* p = Polynomial(r, {1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
  p = MultiplyAdd(ir_.CreateFMul(r, r), p, r);
  p = ir_.CreateFAdd(p, Float(x, 1));
  // 2^n as two factors, neither of which overflows or underflows.
  Value* whole = ir_.CreateFPToSI(n, Computed(ElementType::kS32, lanes));
  Value* half = ir_.CreateAShr(whole, 1);
  auto power = [&](Value* e) {
    return ir_.CreateBitCast(ir_.CreateShl(ir_.CreateAdd(e, Int(e, 127)), 23), x->getType());
  };
  p = ir_.CreateFMul(ir_.CreateFMul(p, power(half)), power(ir_.CreateSub(whole, half)));
  return ir_.CreateSelect(IsNan(x), x, p);
}

Num VectorBuilder::Exp(Num x) {
  if (!IsF32Like(x)) return {ExpF64(x.value), x.type};
  return {ExpF32(x.value), x.type};
}

// Near 0, uses the series to avoid cancellation.
Num VectorBuilder::Expm1(Num x) {
  if (!IsF32Like(x)) return {Expm1F64(x.value), x.type};
  Value* v = x.value;
  Value* p = Polynomial(v, {1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
  Value* near = MultiplyAdd(ir_.CreateFMul(v, v), p, v);
  Value* far = ir_.CreateFSub(ExpF32(v), Float(v, 1));
  Value* is_near = ir_.CreateFCmpOLT(Intrinsic(llvm::Intrinsic::fabs, {v}), Float(v, 0.5));
  // Copy the sign of x, which matters for -0.
  return {Intrinsic(llvm::Intrinsic::copysign, {ir_.CreateSelect(is_near, near, far), v}), x.type};
}

// log(m 2^e) = log(m) + e ln 2 with m in [sqrt(1/2), sqrt(2)).
Value* VectorBuilder::LogF32(Value* x) {
  const int lanes = LanesOf(x);
  llvm::Type* ints = Computed(ElementType::kS32, lanes);
  Value* is_small = ir_.CreateFCmpOLT(x, Float(x, 0x1p-126));
  Value* scaled = ir_.CreateSelect(is_small, ir_.CreateFMul(x, Float(x, 0x1p25)), x);
  Value* bits = ir_.CreateBitCast(scaled, ints);
  // The exponent e for which m is in the interval. The constant has the bits of the lower bound, sqrt(1/2).
  Value* shifted = ir_.CreateSub(bits, Int(bits, 0x3f3504f3));
  Value* e = ir_.CreateAShr(shifted, 23);
  Value* m = ir_.CreateBitCast(ir_.CreateSub(bits, ir_.CreateShl(e, 23)), x->getType());
  e = ir_.CreateSub(e, ir_.CreateSelect(is_small, Int(e, 25), Int(e, 0)));
  Value* n = ir_.CreateSIToFP(e, x->getType());
  Value* f = ir_.CreateFSub(m, Float(x, 1));
  Value* p = Polynomial(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                            -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  Value* square = ir_.CreateFMul(f, f);
  Value* y = ir_.CreateFMul(ir_.CreateFMul(p, f), square);
  y = MultiplyAdd(n, Float(x, -2.12194440e-4), y);
  y = MultiplyAdd(square, Float(x, -0.5), y);
  y = ir_.CreateFAdd(f, y);
  y = MultiplyAdd(n, Float(x, 0.693359375), y);
  // log(0) is -inf, log of a negative number or NaN is NaN, log(inf) is inf.
  Value* infinity = llvm::ConstantFP::getInfinity(x->getType());
  y = ir_.CreateSelect(ir_.CreateFCmpOEQ(x, infinity), x, y);
  y = ir_.CreateSelect(ir_.CreateFCmpUGT(x, Float(x, 0)), y, llvm::ConstantFP::getNaN(x->getType()));
  y = ir_.CreateSelect(ir_.CreateFCmpOEQ(x, Float(x, 0)), llvm::ConstantFP::getInfinity(x->getType(), true), y);
  return ir_.CreateSelect(IsNan(x), x, y);
}

Num VectorBuilder::Log(Num x) {
  if (!IsF32Like(x)) return {LogF64(x.value), x.type};
  return {LogF32(x.value), x.type};
}

// log(u) with u = 1 + x, corrected by the rounding error of the sum.
Num VectorBuilder::Log1p(Num x) {
  Value* v = x.value;
  Value* u = ir_.CreateFAdd(v, Float(v, 1));
  Value* lost = ir_.CreateFSub(v, ir_.CreateFSub(u, Float(v, 1)));
  Value* log = IsF32Like(x) ? LogF32(u) : LogF64(u);
  Value* y = ir_.CreateFAdd(log, ir_.CreateFDiv(lost, u));
  Value* infinity = llvm::ConstantFP::getInfinity(v->getType());
  Value* is_special = ir_.CreateOr(ir_.CreateFCmpOEQ(v, infinity), ir_.CreateFCmpOLE(u, Float(v, 0)));
  y = ir_.CreateSelect(is_special, log, y);
  return {ir_.CreateSelect(ir_.CreateFCmpOEQ(v, Float(v, 0)), v, y), x.type};
}

// Near 0, an odd polynomial; else 1 - 2 / (e^2|x| + 1) with the sign of x.
Num VectorBuilder::Tanh(Num x) {
  if (!IsF32Like(x)) return {TanhF64(x.value), x.type};
  Value* v = x.value;
  Value* size = Intrinsic(llvm::Intrinsic::fabs, {v});
  Value* square = ir_.CreateFMul(v, v);
  Value* p = Polynomial(square, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
  Value* near = MultiplyAdd(ir_.CreateFMul(p, square), v, v);
  Value* e = ExpF32(ir_.CreateFAdd(size, size));
  Value* far = ir_.CreateFSub(Float(v, 1), ir_.CreateFDiv(Float(v, 2), ir_.CreateFAdd(e, Float(v, 1))));
  Value* y = ir_.CreateSelect(ir_.CreateFCmpOLT(size, Float(v, 0.625)), near, far);
  y = Intrinsic(llvm::Intrinsic::copysign, {y, v});
  return {ir_.CreateSelect(IsNan(v), v, y), x.type};
}

// erf. For f32, x times a quotient of polynomials in x²; for f64, the C library.
Num VectorBuilder::Erf(Num x) {
  if (!IsF32Like(x)) return Call("erf", {x});
  Value* v = x.value;
  Value* clamped = ir_.CreateSelect(ir_.CreateFCmpOGT(v, Float(v, 4)), Float(v, 4), v);
  clamped = ir_.CreateSelect(ir_.CreateFCmpOLT(clamped, Float(v, -4)), Float(v, -4), clamped);
  Value* square = ir_.CreateFMul(clamped, clamped);
  Value* p = Polynomial(square, {-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
                                 -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02});
  Value* q = Polynomial(square, {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                                 -7.37332916720468e-03, -1.42647390514189e-02});
  return {ir_.CreateFDiv(ir_.CreateFMul(clamped, p), q), x.type};
}

// x = n pi/2 + r with |r| <= pi/4, and n selects the series of sin r or cos r. pi/2 is split in two parts, so that n pi/2 is
// accurate enough.
Value* VectorBuilder::WideSinOrCos(Value* wide, bool cos) {
  const int lanes = LanesOf(wide);
  Value* n = Intrinsic(llvm::Intrinsic::nearbyint, {ir_.CreateFMul(wide, Float(wide, M_2_PI))});
  Value* minus = ir_.CreateFNeg(n);
  Value* r = Intrinsic(llvm::Intrinsic::fma, {minus, Float(wide, M_PI_2), wide});
  r = Intrinsic(llvm::Intrinsic::fma, {minus, Float(wide, 6.123233995736766036e-17), r});
  Value* square = ir_.CreateFMul(r, r);
  Value* sine = Polynomial(square, {1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6});
  sine = MultiplyAdd(ir_.CreateFMul(sine, square), r, r);
  Value* cosine = Polynomial(square, {-1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1});
  Value* quadrant = ir_.CreateFPToSI(n, Computed(ElementType::kS32, lanes));
  if (cos) quadrant = ir_.CreateAdd(quadrant, Int(quadrant, 1));
  auto has = [&](uint64_t bit) { return ir_.CreateICmpNE(ir_.CreateAnd(quadrant, Int(quadrant, bit)), Int(quadrant, 0)); };
  Value* y = ir_.CreateSelect(has(1), cosine, sine);
  y = ir_.CreateSelect(has(2), ir_.CreateFNeg(y), y);
  return cos ? y : ir_.CreateSelect(ir_.CreateFCmpOEQ(wide, Float(wide, 0)), wide, y);  // keeps -0
}

Num VectorBuilder::SinOrCos(Num x, bool cos) {
  const char* function = cos ? "cos" : "sin";
  if (!IsF32Like(x)) return Call(function, {x});
  Value* size = Intrinsic(llvm::Intrinsic::fabs, {x.value});
  return NearOrLibrary(ir_.CreateFCmpUGE(size, Float(size, 0x1p30)), function, {x},
                      [&] { return ir_.CreateFPTrunc(WideSinOrCos(Wide(x.value), cos), x.value->getType()); });
}

// For integers, uses repeated squaring.
Num VectorBuilder::Power(Num x, Num y) {
  if (IsFloat(x.type)) return PowerOfFloats(x, y);
  const int bits = BitWidth(x.type);
  Value* result = Int(x.value, 1);
  Value* square = x.value;
  for (int i = 0; i < bits; ++i) {
    Value* bit = ir_.CreateICmpNE(ir_.CreateAnd(y.value, Int(y.value, uint64_t{1} << i)), Int(y.value, 0));
    result = ir_.CreateSelect(bit, ir_.CreateMul(result, square), result);
    if (i + 1 < bits) square = ir_.CreateMul(square, square);
  }
  if (!IsSigned(x.type)) return {result, x.type};
  // With a negative exponent, the result is 0 unless x is 1 or -1.
  Value* one = Int(x.value, 1);
  Value* odd = ir_.CreateICmpNE(ir_.CreateAnd(y.value, one), Int(x.value, 0));
  Value* minus_one = llvm::Constant::getAllOnesValue(x.value->getType());
  Value* of_minus_one = ir_.CreateSelect(odd, minus_one, one);
  Value* negative = ir_.CreateSelect(ir_.CreateICmpEQ(x.value, minus_one), of_minus_one, Int(x.value, 0));
  negative = ir_.CreateSelect(ir_.CreateICmpEQ(x.value, one), one, negative);
  return {ir_.CreateSelect(ir_.CreateICmpSLT(y.value, Int(y.value, 0)), negative, result), x.type};
}

}  // namespace shoal::internal
