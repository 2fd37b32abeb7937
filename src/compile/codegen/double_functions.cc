// Functions of f64 as polynomials, evaluated in vectors. Results are within 3 units in the last place, and match the C
// library at infinities, NaN, zeros and for subnormal results.
#include <cmath>

#include "compile/codegen/vector_builder.h"

namespace shoal::internal {

using llvm::Value;

// x = n ln 2 + r with |r| <= ln(2) / 2.
VectorBuilder::ReducedExponent VectorBuilder::ReduceExponent(Value* x) {
  Value* n = Intrinsic(llvm::Intrinsic::nearbyint, {ir_.CreateFMul(x, Float(x, M_LOG2E))});
  Value* r = MultiplyAdd(n, Float(x, -0.693147180369123816490), x);  // the last bits are 0, so that the product is exact
  r = MultiplyAdd(n, Float(x, -1.90821492927058770002e-10), r);
  Value* whole = ir_.CreateFPToSI(n, Computed(ElementType::kS32, LanesOf(x)));
  return {ir_.CreateSExt(whole, Computed(ElementType::kS64, LanesOf(x))), r};
}

// e^r - 1 for |r| <= ln(2) / 2, by its series to r^14.
Value* VectorBuilder::Expm1Series(Value* r) {
  Value* p = Polynomial(r, {1.0 / 87178291200, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                            1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
  return MultiplyAdd(ir_.CreateFMul(r, r), p, r);
}

// 2^exponent, for exponents of normal numbers.
Value* VectorBuilder::PowerOfTwo(Value* exponent, llvm::Type* type) {
  return ir_.CreateBitCast(ir_.CreateShl(ir_.CreateAdd(exponent, Int(exponent, 1023)), 52), type);
}

Value* VectorBuilder::Clamped(Value* x, double low, double high) {
  Value* clamped = ir_.CreateSelect(ir_.CreateFCmpOGT(x, Float(x, high)), Float(x, high), x);
  return ir_.CreateSelect(ir_.CreateFCmpOGT(clamped, Float(x, low)), clamped, Float(x, low));  // NaN becomes `low`
}

Value* VectorBuilder::ExpF64(Value* x) {
  const auto [n, r] = ReduceExponent(Clamped(x, -746, 710));
  Value* p = ir_.CreateFAdd(Expm1Series(r), Float(x, 1));
  // 2^n as two factors, neither of which overflows or underflows.
  Value* half = ir_.CreateAShr(n, 1);
  p = ir_.CreateFMul(p, PowerOfTwo(half, x->getType()));
  p = ir_.CreateFMul(p, PowerOfTwo(ir_.CreateSub(n, half), x->getType()));
  return ir_.CreateSelect(IsNan(x), x, p);
}

// 2^n (e^r - 1) + 2^n - 1, where the powers are halved first, because the largest would overflow.
Value* VectorBuilder::Expm1F64(Value* x) {
  const auto [n, r] = ReduceExponent(Clamped(x, -60, 710));
  Value* half_power = PowerOfTwo(ir_.CreateSub(n, Int(n, 1)), x->getType());
  Value* half = MultiplyAdd(half_power, Expm1Series(r), ir_.CreateFSub(half_power, Float(x, 0.5)));
  Value* y = ir_.CreateFAdd(half, half);
  y = Intrinsic(llvm::Intrinsic::copysign, {y, x});  // the sign of x matters for -0
  Value* is_tiny = ir_.CreateFCmpOLT(AbsOf(x), Float(x, 0x1p-54));
  return ir_.CreateSelect(ir_.CreateOr(is_tiny, IsNan(x)), x, y);
}

// With e = e^2|x| - 1: e / (e + 2) with the sign of x. Beyond 22, the result is 1.
Value* VectorBuilder::TanhF64(Value* x) {
  Value* size = Intrinsic(llvm::Intrinsic::minnum, {AbsOf(x), Float(x, 22)});
  Value* e = Expm1F64(ir_.CreateFAdd(size, size));
  Value* y = ir_.CreateFDiv(e, ir_.CreateFAdd(e, Float(x, 2)));
  return ir_.CreateSelect(IsNan(x), x, Intrinsic(llvm::Intrinsic::copysign, {y, x}));
}

// log(m 2^e) = log(m) + e ln 2 with m = 1 + f in [sqrt(1/2), sqrt(2)). With s = f / (2 + f), log(m) = f - f²/2 + s (f²/2 + R),
// where R = 2 (s²/3 + s^4/5 + …).
Value* VectorBuilder::LogF64(Value* x) {
  const int lanes = LanesOf(x);
  Value* is_small = ir_.CreateFCmpOLT(x, Float(x, 0x1p-1022));
  Value* bits = ir_.CreateBitCast(ir_.CreateSelect(is_small, ir_.CreateFMul(x, Float(x, 0x1p54)), x), Computed(ElementType::kS64, lanes));
  Value* shifted = ir_.CreateSub(bits, Int(bits, 0x3fe6a09e667f3bcd));  // the bits of sqrt(1/2)
  // The upper 32 bits contain the whole exponent.
  Value* e = ir_.CreateAShr(ir_.CreateTrunc(ir_.CreateLShr(shifted, 32), Computed(ElementType::kS32, lanes)), 20);
  Value* m = ir_.CreateBitCast(ir_.CreateSub(bits, ir_.CreateShl(ir_.CreateSExt(e, bits->getType()), 52)), x->getType());
  e = ir_.CreateSub(e, ir_.CreateSelect(is_small, Int(e, 54), Int(e, 0)));
  Value* n = ir_.CreateSIToFP(e, x->getType());
  Value* f = ir_.CreateFSub(m, Float(x, 1));
  Value* s = ir_.CreateFDiv(f, ir_.CreateFAdd(f, Float(x, 2)));
  Value* square = ir_.CreateFMul(s, s);
  Value* p = Polynomial(square, {2.0 / 25, 2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3});
  Value* half_square = ir_.CreateFMul(Float(x, 0.5), ir_.CreateFMul(f, f));
  Value* rest = ir_.CreateFMul(s, MultiplyAdd(square, p, half_square));
  rest = MultiplyAdd(n, Float(x, 1.90821492927058770002e-10), rest);
  Value* y = ir_.CreateFSub(f, ir_.CreateFSub(half_square, rest));
  y = MultiplyAdd(n, Float(x, 0.693147180369123816490), y);
  // log(0) is -inf, log of a negative number or NaN is NaN, log(inf) is inf.
  y = ir_.CreateSelect(ir_.CreateFCmpOEQ(x, Float(x, INFINITY)), x, y);
  y = ir_.CreateSelect(ir_.CreateFCmpUGT(x, Float(x, 0)), y, llvm::ConstantFP::getNaN(x->getType(), /*Negative=*/true));
  y = ir_.CreateSelect(ir_.CreateFCmpOEQ(x, Float(x, 0)), Float(x, -INFINITY), y);
  return ir_.CreateSelect(IsNan(x), x, y);
}

}  // namespace shoal::internal
