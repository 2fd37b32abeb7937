#include "compile/codegen/complex_builder.h"

#include <cmath>

#include "core/base/strings.h"

namespace shoal::internal {

using llvm::Value;

namespace {

constexpr ElementType kWideType = ElementType::kC128;

}  // namespace

Num ComplexBuilder::One(Num x) { return {parts_.Float(x.value, 1), x.type, parts_.Float(x.value, 0)}; }
Num ComplexBuilder::Real(Num x) { return RealOf(x); }
Num ComplexBuilder::Imag(Num x) { return ImagOf(x); }

Num ComplexBuilder::Add(Num x, Num y) {
  return {ir_.CreateFAdd(x.value, y.value), x.type, ir_.CreateFAdd(x.imaginary, y.imaginary)};
}
Num ComplexBuilder::Subtract(Num x, Num y) {
  return {ir_.CreateFSub(x.value, y.value), x.type, ir_.CreateFSub(x.imaginary, y.imaginary)};
}
Num ComplexBuilder::Negate(Num x) { return {ir_.CreateFNeg(x.value), x.type, ir_.CreateFNeg(x.imaginary)}; }

Num ComplexBuilder::Wide(Num x) {
  return Pair(parts_.Convert(RealOf(x), ElementType::kF64), parts_.Convert(ImagOf(x), ElementType::kF64), kWideType);
}
Num ComplexBuilder::Narrow(Num x, ElementType type) {
  return Pair(parts_.Convert(RealOf(x), PartType(type)), parts_.Convert(ImagOf(x), PartType(type)), type);
}

Value* ComplexBuilder::BothNan(Num x) {
  return ir_.CreateAnd(ir_.CreateFCmpUNO(x.value, x.value), ir_.CreateFCmpUNO(x.imaginary, x.imaginary));
}
Value* ComplexBuilder::IsBeyond(Value* part, double limit) {
  return ir_.CreateFCmpUGE(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, part), parts_.Float(part, limit));
}

Num ComplexBuilder::Multiply(Num x, Num y) {
  Value* real = ir_.CreateFSub(ir_.CreateFMul(x.value, y.value), ir_.CreateFMul(x.imaginary, y.imaginary));
  Value* imaginary = ir_.CreateFAdd(ir_.CreateFMul(x.value, y.imaginary), ir_.CreateFMul(x.imaginary, y.value));
  const Num product{real, x.type, imaginary};
  return OrLibrary(product, BothNan(product), "multiply", {x, y});
}

// x / y. For c64, evaluates the textbook formula in f64, where it neither overflows nor loses precision.
Num ComplexBuilder::Divide(Num x, Num y) {
  if (x.type == kWideType) return Quotient(x, y);
  const Num a = Wide(x), b = Wide(y);
  auto sum_of_products = [&](Value* p, Value* q, Value* r, Value* s) { return ir_.CreateFAdd(ir_.CreateFMul(p, q), ir_.CreateFMul(r, s)); };
  Value* size = sum_of_products(b.value, b.value, b.imaginary, b.imaginary);
  Value* real = ir_.CreateFDiv(sum_of_products(a.value, b.value, a.imaginary, b.imaginary), size);
  Value* imaginary = ir_.CreateFDiv(
      ir_.CreateFSub(ir_.CreateFMul(a.imaginary, b.value), ir_.CreateFMul(a.value, b.imaginary)), size);
  const Num quotient = Narrow({real, kWideType, imaginary}, x.type);
  return OrLibrary(quotient, BothNan(quotient), "divide", {x, y});
}

// (a + bi) / (c + di), with both divided by the larger of c and d first (Smith's algorithm). For very large or small
// parts, calls the library function, which scales them.
Num ComplexBuilder::Quotient(Num x, Num y) {
  Value *a = x.value, *b = x.imaginary, *c = y.value, *d = y.imaginary;
  auto size = [&](Value* part) { return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, part); };
  Value* is_steep = ir_.CreateFCmpOLT(size(c), size(d));
  Value* large = ir_.CreateSelect(is_steep, d, c);
  Value* small = ir_.CreateSelect(is_steep, c, d);
  Value* ratio = ir_.CreateFDiv(small, large);
  Value* divisor = ir_.CreateFAdd(ir_.CreateFMul(small, ratio), large);
  Value* first = ir_.CreateFAdd(ir_.CreateFMul(ir_.CreateSelect(is_steep, a, b), ratio), ir_.CreateSelect(is_steep, b, a));
  Value* steep = ir_.CreateFSub(ir_.CreateFMul(b, ratio), a);
  Value* flat = ir_.CreateFSub(b, ir_.CreateFMul(a, ratio));
  const Num quotient{ir_.CreateFDiv(first, divisor), x.type, ir_.CreateFDiv(ir_.CreateSelect(is_steep, steep, flat), divisor)};
  auto is_small = [&](Value* part) {
    return ir_.CreateAnd(ir_.CreateFCmpOLT(size(part), parts_.Float(part, 0x1p-300)), ir_.CreateFCmpUNE(part, parts_.Float(part, 0)));
  };
  Value* is_far = ir_.CreateFCmpOEQ(large, parts_.Float(large, 0));
  for (Value* part : {a, b, c, d}) is_far = Either(is_far, Either(IsBeyond(part, 0x1p300), is_small(part)));
  return OrLibrary(quotient, is_far, "divide", {x, y});
}

// c64 is computed in f64, where squares neither overflow nor underflow; c128 with one rounding less than a² + b².
Num ComplexBuilder::Abs(Num x) {
  const ElementType type = PartType(x.type);
  auto size = [&](Value* part) { return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, part); };
  auto sqrt = [&](Value* of) { return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, of); };
  if (x.type != kWideType) {
    const Num wide = Wide(x);
    Value* squares = ir_.CreateFAdd(ir_.CreateFMul(wide.value, wide.value), ir_.CreateFMul(wide.imaginary, wide.imaginary));
    const Num root = parts_.Convert({sqrt(squares), ElementType::kF64}, type);
    // Infinite if either part is infinite, even if the other is NaN.
    Value* infinity = parts_.Float(x.value, INFINITY);
    Value* is_infinite = Either(ir_.CreateFCmpOEQ(size(x.value), infinity), ir_.CreateFCmpOEQ(size(x.imaginary), infinity));
    return {ir_.CreateSelect(is_infinite, infinity, root.value), type};
  }
  // a² + b² with a >= b is 2ab + (a - b)².
  Value* is_flat = ir_.CreateFCmpOGT(size(x.value), size(x.imaginary));
  Value* a = ir_.CreateSelect(is_flat, size(x.value), size(x.imaginary));
  Value* b = ir_.CreateSelect(is_flat, size(x.imaginary), size(x.value));
  auto sum = [&](Value* p, Value* q, Value* r) { return ir_.CreateIntrinsic(llvm::Intrinsic::fma, {p->getType()}, {p, q, ir_.CreateFMul(r, r)}); };
  Value* twice = ir_.CreateFAdd(b, b);
  Value* squares = ir_.CreateSelect(ir_.CreateFCmpOGE(twice, a), sum(twice, a, ir_.CreateFSub(a, b)), sum(a, a, b));
  Value* is_small = ir_.CreateAnd(ir_.CreateFCmpOLT(a, parts_.Float(a, 0x1p-400)), ir_.CreateFCmpUNE(a, parts_.Float(a, 0)));
  Value* is_far = Either(is_small, Either(IsBeyond(x.value, 0x1p400), IsBeyond(x.imaginary, 0x1p400)));
  return RealOf(OrLibrary({sqrt(squares), x.type, parts_.Float(a, 0)}, is_far, "abs", {x}));
}

Num ComplexBuilder::Sign(Num x) {
  const Num size = Abs(x);
  Value* zero = parts_.Float(x.value, 0);
  Value* is_zero = ir_.CreateAnd(ir_.CreateFCmpOEQ(x.value, zero), ir_.CreateFCmpOEQ(x.imaginary, zero));
  return {ir_.CreateSelect(is_zero, zero, ir_.CreateFDiv(x.value, size.value)), x.type,
          ir_.CreateSelect(is_zero, zero, ir_.CreateFDiv(x.imaginary, size.value))};
}

// e^a (cos b + i sin b)
Num ComplexBuilder::Exp(Num x) {
  if (x.type == kWideType) return CallLibrary("exp", {x});
  const Num wide = Wide(x);
  Value* size = parts_.ExpWide(wide.value);
  const Num near{ir_.CreateFMul(size, parts_.WideSinOrCos(wide.imaginary, true)), kWideType,
                 ir_.CreateFMul(size, parts_.WideSinOrCos(wide.imaginary, false))};
  Value* is_far = Either(IsBeyond(x.value, INFINITY), IsBeyond(x.imaginary, 0x1p30));
  return OrLibrary(Narrow(near, x.type), is_far, "exp", {x});
}

// (log |x|, the angle of x). Near the unit circle log |x| would lose precision, so the library computes it there.
Num ComplexBuilder::Log(Num x) {
  if (x.type == kWideType) return CallLibrary("log", {x});
  const Num wide = Wide(x);
  Value* squares = ir_.CreateFAdd(ir_.CreateFMul(wide.value, wide.value), ir_.CreateFMul(wide.imaginary, wide.imaginary));
  Value* real = ir_.CreateFMul(parts_.LogWide(squares), parts_.Float(squares, 0.5));
  const Num near = Narrow({real, kWideType, parts_.AngleOf(wide.imaginary, wide.value)}, x.type);
  Value* off_one = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, ir_.CreateFSub(squares, parts_.Float(squares, 1)));
  Value* is_far = Either(IsBeyond(squares, 0x1p260), ir_.CreateFCmpULT(squares, parts_.Float(squares, 0x1p-300)));
  return OrLibrary(near, Either(is_far, ir_.CreateFCmpULT(off_one, parts_.Float(off_one, 0x1p-24))), "log", {x});
}

// With r = sqrt((|a| + |x|) / 2): (r, b / 2r), or (|b| / 2r, r with the sign of b) if a is negative.
Num ComplexBuilder::Sqrt(Num x) {
  if (x.type == kWideType) return CallLibrary("sqrt", {x});
  const Num wide = Wide(x);
  Value *a = wide.value, *b = wide.imaginary;
  auto sqrt = [&](Value* of) { return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, of); };
  Value* size = sqrt(ir_.CreateFAdd(ir_.CreateFMul(a, a), ir_.CreateFMul(b, b)));
  Value* along = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
  Value* root = sqrt(ir_.CreateFMul(ir_.CreateFAdd(along, size), parts_.Float(a, 0.5)));
  Value* other = ir_.CreateFDiv(b, ir_.CreateFMul(root, parts_.Float(b, 2)));
  Value* is_negative = ir_.CreateFCmpOLT(a, parts_.Float(a, 0));
  Value* real = ir_.CreateSelect(is_negative, ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, other), root);
  Value* imaginary = ir_.CreateSelect(is_negative, ir_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, root, b), other);
  Value* is_far = Either(IsBeyond(x.value, INFINITY), IsBeyond(x.imaginary, INFINITY));
  is_far = Either(is_far, ir_.CreateFCmpOEQ(size, parts_.Float(size, 0)));
  return OrLibrary(Narrow({real, kWideType, imaginary}, x.type), is_far, "sqrt", {x});
}

Num ComplexBuilder::Select(Num choose, Num x, Num y) {
  return {ir_.CreateSelect(choose.value, x.value, y.value), x.type, ir_.CreateSelect(choose.value, x.imaginary, y.imaginary)};
}

Num ComplexBuilder::Compare(ComparisonDirection direction, Num x, Num y) {
  if (direction == ComparisonDirection::kNe)
    return {Either(ir_.CreateFCmpUNE(x.value, y.value), ir_.CreateFCmpUNE(x.imaginary, y.imaginary)), ElementType::kPred};
  return {ir_.CreateAnd(ir_.CreateFCmpOEQ(x.value, y.value), ir_.CreateFCmpOEQ(x.imaginary, y.imaginary)), ElementType::kPred};
}

Num ComplexBuilder::Convert(Num x, ElementType to) {
  if (x.type == to) return x;
  if (IsComplex(x.type) && IsComplex(to)) return Narrow(x, to);
  if (IsComplex(to)) {
    const Num real = parts_.Convert(x, PartType(to));
    return {real.value, to, parts_.Float(real.value, 0)};
  }
  if (to != ElementType::kPred) return parts_.Convert(RealOf(x), to);
  Value* zero = parts_.Float(x.value, 0);
  return {Either(ir_.CreateFCmpUNE(x.value, zero), ir_.CreateFCmpUNE(x.imaginary, zero)), to};
}

// Calls void function(const double* arguments, double* result, int64_t lanes). Each argument and the result are the
// real parts of all lanes, then the imaginary parts. One call handles all lanes, which keeps the code short.
Num ComplexBuilder::CallLibrary(const char* function, std::initializer_list<Num> arguments) {
  const Num& first = *arguments.begin();
  const auto lanes = static_cast<uint64_t>(VectorBuilder::LanesOf(first.value));
  llvm::Type *wide = ir_.getDoubleTy(), *pointer = ir_.getPtrTy();
  llvm::Module* module = ir_.GetInsertBlock()->getModule();
  auto* type = llvm::FunctionType::get(ir_.getVoidTy(), {pointer, pointer, ir_.getInt64Ty()}, false);
  const llvm::FunctionCallee callee = module->getOrInsertFunction(StrCat("shoal_", Text(first.type), "_", function), type);
  llvm::BasicBlock& entry = ir_.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> at(&entry, entry.begin());
  Value* argument_buffer = at.CreateAlloca(llvm::ArrayType::get(wide, 2 * lanes * arguments.size()));
  Value* result_buffer = at.CreateAlloca(llvm::ArrayType::get(wide, 2 * lanes));
  const llvm::Align align(sizeof(double));
  uint64_t offset = 0;
  for (const Num& argument : arguments) {
    const Num parts = Wide(argument);
    for (Value* part : {parts.value, parts.imaginary}) {
      ir_.CreateAlignedStore(part, ir_.CreateConstGEP1_64(wide, argument_buffer, offset), align);
      offset += lanes;
    }
  }
  ir_.CreateCall(callee, {argument_buffer, result_buffer, ir_.getInt64(lanes)});
  llvm::Type* vector = parts_.Computed(ElementType::kF64, static_cast<int>(lanes));
  Value* real = ir_.CreateAlignedLoad(vector, result_buffer, align);
  Value* imaginary = ir_.CreateAlignedLoad(vector, ir_.CreateConstGEP1_64(wide, result_buffer, lanes), align);
  return Narrow({real, kWideType, imaginary}, first.type);
}

Num ComplexBuilder::OrLibrary(Num near, Value* is_far, const char* function, std::initializer_list<Num> arguments) {
  Value* any = VectorBuilder::LanesOf(near.value) > 1 ? ir_.CreateOrReduce(is_far) : is_far;
  llvm::BasicBlock* before = ir_.GetInsertBlock();
  llvm::Function* around = before->getParent();
  auto* far = llvm::BasicBlock::Create(ir_.getContext(), "far", around);
  auto* after = llvm::BasicBlock::Create(ir_.getContext(), "known", around);
  ir_.CreateCondBr(any, far, after);
  ir_.SetInsertPoint(far);
  const Num called = Select({is_far, ElementType::kPred}, CallLibrary(function, arguments), near);
  far = ir_.GetInsertBlock();
  ir_.CreateBr(after);
  ir_.SetInsertPoint(after);
  auto join = [&](Value* plain, Value* other) {
    llvm::PHINode* joined = ir_.CreatePHI(plain->getType(), 2);
    joined->addIncoming(plain, before);
    joined->addIncoming(other, far);
    return joined;
  };
  Value* real = join(near.value, called.value);
  return {real, near.type, join(near.imaginary, called.imaginary)};
}

}  // namespace shoal::internal
