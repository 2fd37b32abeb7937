// Functions of f32 that are computed in f64 and rounded once. With double precision, short formulas are accurate
// enough. If a formula does not apply to some lane, the C library computes all lanes of the vector.
#include <cmath>

#include "compile/codegen/vector_builder.h"

namespace shoal::internal {

using llvm::Value;

namespace {

bool IsF32Like(const Num& x) { return IsFloat(x.type) && BitWidth(x.type) <= 32; }

}  // namespace

Value* VectorBuilder::Wide(Value* x) { return ir_.CreateFPExt(x, Computed(ElementType::kF64, LanesOf(x))); }

Value* VectorBuilder::AbsOf(Value* x) { return Intrinsic(llvm::Intrinsic::fabs, {x}); }

Num VectorBuilder::NearOrLibrary(Value* is_far, const char* function, std::initializer_list<Num> arguments,
                                const std::function<Value*()>& near_value) {
  const Num x = *arguments.begin();
  if (LanesOf(x.value) > 1) is_far = ir_.CreateOrReduce(is_far);
  llvm::Function* around = ir_.GetInsertBlock()->getParent();
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(ir_.getContext(), name, around); };
  llvm::BasicBlock *near = block("near"), *far = block("far"), *after = block("known");
  ir_.CreateCondBr(is_far, far, near);
  ir_.SetInsertPoint(near);
  Value* computed = near_value();
  near = ir_.GetInsertBlock();
  ir_.CreateBr(after);
  ir_.SetInsertPoint(far);
  Value* called = Call(function, arguments).value;
  far = ir_.GetInsertBlock();
  ir_.CreateBr(after);
  ir_.SetInsertPoint(after);
  llvm::PHINode* result = ir_.CreatePHI(x.value->getType(), 2);
  result->addIncoming(computed, near);
  result->addIncoming(called, far);
  return {result, x.type};
}

// e^x of an f64 with relative error 1e-11: like ExpF32, but with a longer series. x is clamped to ±300.
Value* VectorBuilder::ExpWide(Value* x) {
  Value* clamped = Intrinsic(llvm::Intrinsic::minnum, {Intrinsic(llvm::Intrinsic::maxnum, {x, Float(x, -300)}), Float(x, 300)});
  Value* n = Intrinsic(llvm::Intrinsic::nearbyint, {ir_.CreateFMul(clamped, Float(x, M_LOG2E))});
  Value* r = MultiplyAdd(n, Float(x, -0.693147180369123816490), clamped);
  r = MultiplyAdd(n, Float(x, -1.90821492927058770002e-10), r);
  Value* p = Polynomial(r, {1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1, 1});
  Value* whole = ir_.CreateFPToSI(n, Computed(ElementType::kS32, LanesOf(x)));
  Value* exponent = ir_.CreateSExt(whole, Computed(ElementType::kS64, LanesOf(x)));
  Value* power = ir_.CreateBitCast(ir_.CreateShl(ir_.CreateAdd(exponent, Int(exponent, 1023)), 52), x->getType());
  return ir_.CreateFMul(p, power);
}

// log of a normal positive f64, to 1e-12: log(m 2^e) = e ln 2 + 2 artanh(s), s = (m - 1) / (m + 1), m as in LogF32.
Value* VectorBuilder::LogWide(Value* x) {
  const int lanes = LanesOf(x);
  Value* bits = ir_.CreateBitCast(x, Computed(ElementType::kS64, lanes));
  Value* shifted = ir_.CreateSub(bits, Int(bits, 0x3fe6a09e667f3bcd));
  // The upper 32 bits contain the whole exponent.
  Value* e = ir_.CreateAShr(ir_.CreateTrunc(ir_.CreateLShr(shifted, 32), Computed(ElementType::kS32, lanes)), 20);
  Value* wide = ir_.CreateSExt(e, bits->getType());
  Value* m = ir_.CreateBitCast(ir_.CreateSub(bits, ir_.CreateShl(wide, 52)), x->getType());
  Value* s = ir_.CreateFDiv(ir_.CreateFSub(m, Float(x, 1)), ir_.CreateFAdd(m, Float(x, 1)));
  Value* square = ir_.CreateFMul(s, s);
  Value* p = Polynomial(square, {2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2});
  return MultiplyAdd(ir_.CreateSIToFP(e, x->getType()), Float(x, M_LN2), ir_.CreateFMul(s, p));
}

// |x|^y = e^(y log |x|), negative for negative x and odd y, NaN for negative x and non-integer y.
Num VectorBuilder::PowerOfFloats(Num x, Num y) {
  if (!IsF32Like(x)) return Call("pow", {x, y});
  Value* size = AbsOf(x.value);
  Value* power = AbsOf(y.value);
  Value* is_plain = ir_.CreateAnd(ir_.CreateFCmpOGT(size, Float(size, 0)), ir_.CreateFCmpOLT(size, Float(size, INFINITY)));
  is_plain = ir_.CreateAnd(is_plain, ir_.CreateFCmpOLT(power, Float(power, 0x1p23)));
  return NearOrLibrary(ir_.CreateNot(is_plain), "pow", {x, y}, [&] {
    Value* result = ir_.CreateFPTrunc(ExpWide(ir_.CreateFMul(Wide(y.value), LogWide(Wide(size)))), size->getType());
    Value* whole = ir_.CreateFPToSI(y.value, Computed(ElementType::kS32, LanesOf(size)));
    Value* is_fractional = ir_.CreateFCmpONE(ir_.CreateSIToFP(whole, size->getType()), y.value);
    Value* is_odd = ir_.CreateICmpNE(ir_.CreateAnd(whole, Int(whole, 1)), Int(whole, 0));
    Value* negative = ir_.CreateSelect(is_odd, ir_.CreateFNeg(result), result);
    negative = ir_.CreateSelect(is_fractional, llvm::ConstantFP::getNaN(size->getType()), negative);
    return ir_.CreateSelect(ir_.CreateFCmpOLT(x.value, Float(x.value, 0)), negative, result);
  });
}

// atan of q in [0, 1]: the series of q if q < tan(π/8), else π/4 plus the series of (q - 1) / (q + 1).
Value* VectorBuilder::AtanOfUnit(Value* q) {
  Value* is_large = ir_.CreateFCmpOGT(q, Float(q, 0.41421356237309503));
  Value* reduced = ir_.CreateFDiv(ir_.CreateFSub(q, Float(q, 1)), ir_.CreateFAdd(q, Float(q, 1)));
  Value* t = ir_.CreateSelect(is_large, reduced, q);
  Value* square = ir_.CreateFMul(t, t);
  Value* p = Polynomial(square, {1.0 / 25, -1.0 / 23, 1.0 / 21, -1.0 / 19, 1.0 / 17, -1.0 / 15, 1.0 / 13, -1.0 / 11, 1.0 / 9,
                                 -1.0 / 7, 1.0 / 5, -1.0 / 3, 1});
  Value* y = ir_.CreateFMul(t, p);
  return ir_.CreateFAdd(y, ir_.CreateSelect(is_large, Float(q, M_PI_4), Float(q, 0)));
}

// The angle of the point (x, y), in f64.
Value* VectorBuilder::AngleOf(Value* y, Value* x) {
  Value *up = AbsOf(y), *along = AbsOf(x);
  Value* is_steep = ir_.CreateFCmpOGT(up, along);
  Value* small = ir_.CreateSelect(is_steep, along, up);
  Value* large = ir_.CreateSelect(is_steep, up, along);
  Value* q = ir_.CreateFDiv(small, large);
  q = ir_.CreateSelect(ir_.CreateFCmpOEQ(large, Float(x, 0)), Float(x, 0), q);
  q = ir_.CreateSelect(ir_.CreateFCmpOEQ(small, Float(x, INFINITY)), Float(x, 1), q);
  Value* angle = AtanOfUnit(q);
  angle = ir_.CreateSelect(is_steep, ir_.CreateFSub(Float(x, M_PI_2), angle), angle);
  // Test the sign bit, so that -0 counts as negative.
  Value* sign = ir_.CreateICmpSLT(ir_.CreateBitCast(x, Computed(ElementType::kS64, LanesOf(x))),
                                  llvm::Constant::getNullValue(Computed(ElementType::kS64, LanesOf(x))));
  angle = ir_.CreateSelect(sign, ir_.CreateFSub(Float(x, M_PI), angle), angle);
  angle = Intrinsic(llvm::Intrinsic::copysign, {angle, y});
  return ir_.CreateSelect(ir_.CreateFCmpUNO(x, y), ir_.CreateFAdd(x, y), angle);
}

Num VectorBuilder::Atan2(Num y, Num x) {
  if (!IsF32Like(x)) return Call("atan2", {y, x});
  return {ir_.CreateFPTrunc(AngleOf(Wide(y.value), Wide(x.value)), x.value->getType()), x.type};
}

// sqrt(1 - x²).
Value* VectorBuilder::SqrtOneMinusSquare(Value* x) {
  Value* product = ir_.CreateFMul(ir_.CreateFSub(Float(x, 1), x), ir_.CreateFAdd(Float(x, 1), x));
  return Intrinsic(llvm::Intrinsic::sqrt, {product});
}

Num VectorBuilder::Asin(Num x) {
  if (!IsF32Like(x)) return Call("asin", {x});
  Value* wide = Wide(x.value);
  return {ir_.CreateFPTrunc(AngleOf(wide, SqrtOneMinusSquare(wide)), x.value->getType()), x.type};
}

Num VectorBuilder::Acos(Num x) {
  if (!IsF32Like(x)) return Call("acos", {x});
  Value* wide = Wide(x.value);
  return {ir_.CreateFPTrunc(AngleOf(SqrtOneMinusSquare(wide), wide), x.value->getType()), x.type};
}

// Computed from |x|, with the sign of x. 0, inf and NaN are returned unchanged.
Num VectorBuilder::Cbrt(Num x) {
  if (!IsF32Like(x)) return Call("cbrt", {x});
  Value* size = AbsOf(x.value);
  Value* wide = Wide(size);
  Value* root = ExpWide(ir_.CreateFMul(LogWide(wide), Float(wide, 1.0 / 3)));
  Value* y = Intrinsic(llvm::Intrinsic::copysign, {ir_.CreateFPTrunc(root, size->getType()), x.value});
  Value* is_plain = ir_.CreateAnd(ir_.CreateFCmpOGT(size, Float(size, 0)), ir_.CreateFCmpOLT(size, Float(size, INFINITY)));
  return {ir_.CreateSelect(is_plain, y, x.value), x.type};
}

// Near 0, sinh uses its series to avoid cancellation.
Num VectorBuilder::SinhOrCosh(Num x, bool cosh) {
  if (!IsF32Like(x)) return Call(cosh ? "cosh" : "sinh", {x});
  Value* wide = Wide(x.value);
  Value* e = ExpWide(AbsOf(wide));
  Value* inverse = ir_.CreateFDiv(Float(wide, 0.5), e);
  Value* half = ir_.CreateFMul(e, Float(wide, 0.5));
  Value* y = nullptr;
  if (cosh) {
    y = ir_.CreateFAdd(half, inverse);
  } else {
    Value* square = ir_.CreateFMul(wide, wide);
    Value* near = Polynomial(square, {1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6, 1});
    Value* far = Intrinsic(llvm::Intrinsic::copysign, {ir_.CreateFSub(half, inverse), wide});
    y = ir_.CreateSelect(ir_.CreateFCmpOLT(AbsOf(wide), Float(wide, 0.5)), ir_.CreateFMul(near, wide), far);
  }
  return {ir_.CreateSelect(IsNan(x.value), x.value, ir_.CreateFPTrunc(y, x.value->getType())), x.type};
}

Num VectorBuilder::Tan(Num x) {
  if (!IsF32Like(x)) return Call("tan", {x});
  Value* size = AbsOf(x.value);
  return NearOrLibrary(ir_.CreateFCmpUGE(size, Float(size, 0x1p30)), "tan", {x}, [&] {
    Value* wide = Wide(x.value);
    Value* quotient = ir_.CreateFDiv(WideSinOrCos(wide, false), WideSinOrCos(wide, true));
    return ir_.CreateFPTrunc(quotient, x.value->getType());
  });
}

// x - trunc(x / y) y, which is exact in f64 if the quotient is below 2^29. If the quotient was rounded up to the next
// integer, the result is negative and is corrected.
Num VectorBuilder::RemainderOfFloats(Num x, Num y) {
  if (!IsF32Like(x)) return Call("fmod", {x, y});
  Value *up = AbsOf(Wide(x.value)), *divisor = AbsOf(Wide(y.value));
  Value* quotient = ir_.CreateFDiv(up, divisor);
  return NearOrLibrary(ir_.CreateFCmpUGE(quotient, Float(quotient, 0x1p29)), "fmod", {x, y}, [&] {
    Value* whole = Intrinsic(llvm::Intrinsic::trunc, {quotient});
    Value* rest = ir_.CreateFSub(up, ir_.CreateFMul(whole, divisor));
    rest = ir_.CreateSelect(ir_.CreateFCmpOLT(rest, Float(rest, 0)), ir_.CreateFAdd(rest, divisor), rest);
    // For an infinite divisor the result is x, because 0 * inf would be NaN.
    rest = ir_.CreateSelect(ir_.CreateFCmpOEQ(divisor, Float(divisor, INFINITY)), up, rest);
    return Intrinsic(llvm::Intrinsic::copysign, {ir_.CreateFPTrunc(rest, x.value->getType()), x.value});
  });
}

}  // namespace shoal::internal
