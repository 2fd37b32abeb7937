// The ops of VectorBuilder that are one or a few instructions. Special cases match kernels/elementwise/numbers.h.
#include "compile/codegen/vector_builder.h"

#include "core/base/strings.h"
#include "core/ops/complex_ops.h"
#include "llvm/IR/IntrinsicInst.h"

namespace shoal::internal {

using llvm::Value;

int VectorBuilder::LanesOf(Value* value) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
}

namespace {

llvm::Type* WithLanes(llvm::Type* type, int lanes) {
  return lanes == 1 ? type : llvm::FixedVectorType::get(type, static_cast<unsigned>(lanes));
}

bool IsBool(const Num& x) { return x.type == ElementType::kPred; }
bool IsFloatNum(const Num& x) { return IsFloat(x.type); }

}  // namespace

llvm::Type* VectorBuilder::Computed(ElementType type, int lanes) {
  llvm::LLVMContext& context = ir_.getContext();
  llvm::Type* element = nullptr;
  if (type == ElementType::kPred) {
    element = llvm::Type::getInt1Ty(context);
  } else if (IsFloat(type)) {
    element = BitWidth(type) == 64 ? llvm::Type::getDoubleTy(context) : llvm::Type::getFloatTy(context);
  } else {
    element = llvm::Type::getIntNTy(context, static_cast<unsigned>(BitWidth(type)));
  }
  return WithLanes(element, lanes);
}

llvm::Type* VectorBuilder::Stored(ElementType type, int lanes) {
  llvm::LLVMContext& context = ir_.getContext();
  if (IsComplex(type)) return Computed(PartType(type), 2 * lanes);
  if (type == ElementType::kF16) return WithLanes(llvm::Type::getHalfTy(context), lanes);
  if (type == ElementType::kF32 || type == ElementType::kF64) return Computed(type, lanes);
  return WithLanes(llvm::Type::getIntNTy(context, static_cast<unsigned>(8 * StorageBytes(type))), lanes);
}

Value* VectorBuilder::Float(Value* like, double value) { return llvm::ConstantFP::get(like->getType(), value); }
Value* VectorBuilder::Int(Value* like, uint64_t value) { return llvm::ConstantInt::get(like->getType(), value); }

Value* VectorBuilder::Intrinsic(llvm::Intrinsic::ID id, std::initializer_list<Value*> arguments) {
  return ir_.CreateIntrinsic(id, {(*arguments.begin())->getType()}, llvm::ArrayRef<Value*>(arguments));
}

Value* VectorBuilder::MultiplyAdd(Value* x, Value* y, Value* z) {
  return Intrinsic(llvm::Intrinsic::fmuladd, {x, y, z});
}

Value* VectorBuilder::Polynomial(Value* x, std::initializer_list<double> coefficients) {
  Value* sum = nullptr;
  for (double coefficient : coefficients)
    sum = sum == nullptr ? Float(x, coefficient) : MultiplyAdd(sum, x, Float(x, coefficient));
  return sum;
}

Num VectorBuilder::One(Num x) { return {IsFloatNum(x) ? Float(x.value, 1) : Int(x.value, 1), x.type}; }

Num VectorBuilder::Add(Num x, Num y) {
  if (IsBool(x)) return Or(x, y);
  return {IsFloatNum(x) ? ir_.CreateFAdd(x.value, y.value) : ir_.CreateAdd(x.value, y.value), x.type};
}
Num VectorBuilder::Subtract(Num x, Num y) {
  return {IsFloatNum(x) ? ir_.CreateFSub(x.value, y.value) : ir_.CreateSub(x.value, y.value), x.type};
}
Num VectorBuilder::Multiply(Num x, Num y) {
  if (IsBool(x)) return And(x, y);
  return {IsFloatNum(x) ? ir_.CreateFMul(x.value, y.value) : ir_.CreateMul(x.value, y.value), x.type};
}

namespace {

// CPUs have no integer vector division. Integers of at most 32 bits are divided as floats, which are wide enough that
// the quotient never rounds up to the next integer. LLVM turns a division by a constant into a multiplication.
bool DividesAsFloats(const Value* x, const Value* y) {
  return x->getType()->isVectorTy() && x->getType()->getScalarSizeInBits() <= 32 && !llvm::isa<llvm::Constant>(y);
}

}  // namespace

// Integer division, rounded toward zero. y must not be zero, and the minimum integer must not be divided by -1.
Value* VectorBuilder::Quotient(Value* x, Value* y, bool is_signed) {
  if (!DividesAsFloats(x, y)) return is_signed ? ir_.CreateSDiv(x, y) : ir_.CreateUDiv(x, y);
  llvm::Type* wide = llvm::VectorType::get(x->getType()->getScalarSizeInBits() > 16 ? ir_.getDoubleTy() : ir_.getFloatTy(),
                                           llvm::cast<llvm::VectorType>(x->getType()));
  if (is_signed) return ir_.CreateFPToSI(ir_.CreateFDiv(ir_.CreateSIToFP(x, wide), ir_.CreateSIToFP(y, wide)), x->getType());
  return ir_.CreateFPToUI(ir_.CreateFDiv(ir_.CreateUIToFP(x, wide), ir_.CreateUIToFP(y, wide)), x->getType());
}

Value* VectorBuilder::IntRemainder(Value* x, Value* y, bool is_signed) {
  if (!DividesAsFloats(x, y)) return is_signed ? ir_.CreateSRem(x, y) : ir_.CreateURem(x, y);
  return ir_.CreateSub(x, ir_.CreateMul(Quotient(x, y, is_signed), y));
}

// For integers, x / 0 has all bits set, and the minimum integer divided by -1 is itself.
Num VectorBuilder::Divide(Num x, Num y) {
  if (IsFloatNum(x)) return {ir_.CreateFDiv(x.value, y.value), x.type};
  Value* by_zero = ir_.CreateICmpEQ(y.value, Int(y.value, 0));
  Value* ones = llvm::Constant::getAllOnesValue(x.value->getType());
  if (!IsSigned(x.type)) {
    Value* safe = ir_.CreateSelect(by_zero, Int(y.value, 1), y.value);
    return {ir_.CreateSelect(by_zero, ones, Quotient(x.value, safe, false)), x.type};
  }
  Value* by_minus_one = ir_.CreateICmpEQ(y.value, ones);
  Value* safe = ir_.CreateSelect(ir_.CreateOr(by_zero, by_minus_one), Int(y.value, 1), y.value);
  Value* quotient = Quotient(x.value, safe, true);
  quotient = ir_.CreateSelect(by_minus_one, ir_.CreateNeg(x.value), quotient);
  return {ir_.CreateSelect(by_zero, ones, quotient), x.type};
}

// For integers, the remainder by 0 is x. For floats, this is C's fmod.
Num VectorBuilder::Remainder(Num x, Num y) {
  if (IsFloatNum(x)) return RemainderOfFloats(x, y);
  Value* by_zero = ir_.CreateICmpEQ(y.value, Int(y.value, 0));
  if (!IsSigned(x.type)) {
    Value* safe = ir_.CreateSelect(by_zero, Int(y.value, 1), y.value);
    return {ir_.CreateSelect(by_zero, x.value, IntRemainder(x.value, safe, false)), x.type};
  }
  Value* by_minus_one = ir_.CreateICmpEQ(y.value, llvm::Constant::getAllOnesValue(y.value->getType()));
  Value* safe = ir_.CreateSelect(ir_.CreateOr(by_zero, by_minus_one), Int(y.value, 1), y.value);
  Value* remainder = ir_.CreateSelect(by_minus_one, Int(x.value, 0), IntRemainder(x.value, safe, true));
  return {ir_.CreateSelect(by_zero, x.value, remainder), x.type};
}

Num VectorBuilder::Maximum(Num x, Num y) {
  if (IsBool(x)) return Or(x, y);
  if (IsFloatNum(x)) return {Intrinsic(llvm::Intrinsic::maximum, {x.value, y.value}), x.type};
  return {Intrinsic(IsSigned(x.type) ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, {x.value, y.value}), x.type};
}
Num VectorBuilder::Minimum(Num x, Num y) {
  if (IsBool(x)) return And(x, y);
  if (IsFloatNum(x)) return {Intrinsic(llvm::Intrinsic::minimum, {x.value, y.value}), x.type};
  return {Intrinsic(IsSigned(x.type) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, {x.value, y.value}), x.type};
}

Num VectorBuilder::Mulhi(Num x, Num y) {
  const auto bits = static_cast<unsigned>(BitWidth(x.type));
  llvm::Type* wide = x.value->getType()->getWithNewBitWidth(2 * bits);
  auto widen = [&](Value* v) { return IsSigned(x.type) ? ir_.CreateSExt(v, wide) : ir_.CreateZExt(v, wide); };
  Value* product = ir_.CreateMul(widen(x.value), widen(y.value));
  return {ir_.CreateTrunc(ir_.CreateLShr(product, bits), x.value->getType()), x.type};
}

Num VectorBuilder::And(Num x, Num y) { return {ir_.CreateAnd(x.value, y.value), x.type}; }
Num VectorBuilder::Or(Num x, Num y) { return {ir_.CreateOr(x.value, y.value), x.type}; }
Num VectorBuilder::Xor(Num x, Num y) { return {ir_.CreateXor(x.value, y.value), x.type}; }
Num VectorBuilder::Not(Num x) { return {ir_.CreateNot(x.value), x.type}; }

Num VectorBuilder::Negate(Num x) {
  return {IsFloatNum(x) ? ir_.CreateFNeg(x.value) : ir_.CreateNeg(x.value), x.type};
}
Num VectorBuilder::Abs(Num x) {
  if (IsFloatNum(x)) return {Intrinsic(llvm::Intrinsic::fabs, {x.value}), x.type};
  if (!IsSigned(x.type)) return x;
  return {ir_.CreateSelect(ir_.CreateICmpSLT(x.value, Int(x.value, 0)), ir_.CreateNeg(x.value), x.value), x.type};
}

// The sign of zeros and NaN is the operand itself.
Num VectorBuilder::Sign(Num x) {
  if (IsFloatNum(x)) {
    Value* zero = Float(x.value, 0);
    Value* negative = ir_.CreateSelect(ir_.CreateFCmpOLT(x.value, zero), Float(x.value, -1), x.value);
    return {ir_.CreateSelect(ir_.CreateFCmpOGT(x.value, zero), Float(x.value, 1), negative), x.type};
  }
  Value* zero = Int(x.value, 0);
  Value* positive = ir_.CreateZExt(ir_.CreateICmpSGT(x.value, zero), x.value->getType());
  Value* negative = ir_.CreateZExt(ir_.CreateICmpSLT(x.value, zero), x.value->getType());
  return {ir_.CreateSub(positive, negative), x.type};
}

Num VectorBuilder::Clz(Num x) {
  return {ir_.CreateIntrinsic(llvm::Intrinsic::ctlz, {x.value->getType()}, {x.value, ir_.getFalse()}), x.type};
}
Num VectorBuilder::PopulationCount(Num x) { return {Intrinsic(llvm::Intrinsic::ctpop, {x.value}), x.type}; }

namespace {

// True for lanes whose shift amount is negative or at least the width.
Value* PastWidth(llvm::IRBuilder<>& ir, Num amount) {
  return ir.CreateICmpUGE(amount.value,
                          llvm::ConstantInt::get(amount.value->getType(), static_cast<uint64_t>(BitWidth(amount.type))));
}

}  // namespace

Num VectorBuilder::ShiftLeft(Num x, Num y) {
  Value* past = PastWidth(ir_, y);
  Value* safe = ir_.CreateSelect(past, Int(y.value, 0), y.value);
  return {ir_.CreateSelect(past, Int(x.value, 0), ir_.CreateShl(x.value, safe)), x.type};
}
Num VectorBuilder::ShiftRightLogical(Num x, Num y) {
  Value* past = PastWidth(ir_, y);
  Value* safe = ir_.CreateSelect(past, Int(y.value, 0), y.value);
  return {ir_.CreateSelect(past, Int(x.value, 0), ir_.CreateLShr(x.value, safe)), x.type};
}
Num VectorBuilder::ShiftRightArithmetic(Num x, Num y) {
  Value* last = Int(y.value, static_cast<uint64_t>(BitWidth(x.type)) - 1);
  Value* safe = ir_.CreateSelect(PastWidth(ir_, y), last, y.value);
  return {ir_.CreateAShr(x.value, safe), x.type};
}

Num VectorBuilder::IsFinite(Num x) {
  Value* size = Intrinsic(llvm::Intrinsic::fabs, {x.value});
  return {ir_.CreateFCmpOLT(size, llvm::ConstantFP::getInfinity(x.value->getType())), ElementType::kPred};
}
Num VectorBuilder::Imag(Num x) { return {Float(x.value, 0), x.type}; }
Num VectorBuilder::Ceil(Num x) { return {Intrinsic(llvm::Intrinsic::ceil, {x.value}), x.type}; }
Num VectorBuilder::Floor(Num x) { return {Intrinsic(llvm::Intrinsic::floor, {x.value}), x.type}; }
Num VectorBuilder::RoundNearestEven(Num x) { return {Intrinsic(llvm::Intrinsic::nearbyint, {x.value}), x.type}; }
Num VectorBuilder::RoundNearestAfz(Num x) {
  // Truncate, and add one away from zero if the fraction is at least a half. Exact even if x + 0.5 would round up.
  Value* whole = Intrinsic(llvm::Intrinsic::trunc, {x.value});
  Value* fraction = Intrinsic(llvm::Intrinsic::fabs, {ir_.CreateFSub(x.value, whole)});
  Value* one = Intrinsic(llvm::Intrinsic::copysign, {Float(x.value, 1), x.value});
  Value* further = ir_.CreateFAdd(whole, one);
  return {ir_.CreateSelect(ir_.CreateFCmpOGE(fraction, Float(x.value, 0.5)), further, whole), x.type};
}
Num VectorBuilder::Sqrt(Num x) { return {Intrinsic(llvm::Intrinsic::sqrt, {x.value}), x.type}; }
Num VectorBuilder::Rsqrt(Num x) { return Divide(One(x), Sqrt(x)); }

Num VectorBuilder::Select(Num choose, Num x, Num y) {
  return {ir_.CreateSelect(choose.value, x.value, y.value), x.type};
}

Num VectorBuilder::TotalOrderKey(Num x) {
  if (!IsFloatNum(x)) return x;
  const bool wide = BitWidth(x.type) == 64;
  const int lanes = LanesOf(x.value);
  Value* bits = ir_.CreateBitCast(x.value, Computed(wide ? ElementType::kS64 : ElementType::kS32, lanes));
  Value* flipped = ir_.CreateXor(bits, Int(bits, wide ? INT64_MAX : INT32_MAX));
  Value* key = ir_.CreateSelect(ir_.CreateICmpSLT(bits, Int(bits, 0)), flipped, bits);
  return {key, wide ? ElementType::kS64 : ElementType::kS32};
}

Num VectorBuilder::Compare(ComparisonDirection direction, Num x, Num y) {
  using P = llvm::CmpInst::Predicate;
  static constexpr P kFloat[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OGE, P::FCMP_OGT, P::FCMP_OLE, P::FCMP_OLT};
  static constexpr P kSigned[] = {P::ICMP_EQ, P::ICMP_NE, P::ICMP_SGE, P::ICMP_SGT, P::ICMP_SLE, P::ICMP_SLT};
  static constexpr P kUnsigned[] = {P::ICMP_EQ, P::ICMP_NE, P::ICMP_UGE, P::ICMP_UGT, P::ICMP_ULE, P::ICMP_ULT};
  const auto i = static_cast<size_t>(direction);
  Value* result = IsFloatNum(x) ? ir_.CreateFCmp(kFloat[i], x.value, y.value)
                                : ir_.CreateICmp(IsSigned(x.type) ? kSigned[i] : kUnsigned[i], x.value, y.value);
  return {result, ElementType::kPred};
}

// To pred: x != 0. From float to integer: truncates, clamps to the range, and converts NaN to 0.
Num VectorBuilder::Convert(Num x, ElementType to) {
  if (x.type == to) return x;
  llvm::Type* type = Computed(to, LanesOf(x.value));
  if (to == ElementType::kPred) {
    Value* zero = llvm::Constant::getNullValue(x.value->getType());
    return {IsFloatNum(x) ? ir_.CreateFCmpUNE(x.value, zero) : ir_.CreateICmpNE(x.value, zero), to};
  }
  if (IsFloat(to)) {
    if (IsFloatNum(x)) {
      if (x.value->getType() == type) return Rounded({x.value, to});
      return Rounded({BitWidth(x.type) == 64 ? ir_.CreateFPTrunc(x.value, type) : ir_.CreateFPExt(x.value, type), to});
    }
    // Like XLA and the interpreter, rounds to f64 first.
    if (BitWidth(x.type) == 64 && BitWidth(to) < 32) return Convert(Convert(x, ElementType::kF64), to);
    return Rounded({IsSigned(x.type) ? ir_.CreateSIToFP(x.value, type) : ir_.CreateUIToFP(x.value, type), to});
  }
  if (IsFloatNum(x)) {
    const auto id = IsSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return {ir_.CreateIntrinsic(id, {type, x.value->getType()}, {x.value}), to};
  }
  return {IsSigned(x.type) ? ir_.CreateSExtOrTrunc(x.value, type) : ir_.CreateZExtOrTrunc(x.value, type), to};
}

// Rounds to fewer mantissa bits, ties to even, then reduces the exponent range: overflow becomes inf, underflow zero.
Num VectorBuilder::ReducePrecision(Num x, int exponent_bits, int mantissa_bits) {
  const bool wide = x.type == ElementType::kF64;
  const int mantissa = wide ? 52 : 23, exponent = wide ? 11 : 8, bias = (1 << (exponent - 1)) - 1;
  const uint64_t exponents = ((uint64_t{1} << exponent) - 1) << mantissa;
  Value* bits = ir_.CreateBitCast(x.value, Computed(wide ? ElementType::kU64 : ElementType::kU32, LanesOf(x.value)));
  Value* sign = ir_.CreateAnd(bits, Int(bits, uint64_t{1} << (mantissa + exponent)));
  Value* infinity = ir_.CreateOr(sign, Int(bits, exponents));
  Value* reduced = bits;
  if (const int dropped = mantissa - mantissa_bits; dropped > 0) {
    const uint64_t unit = uint64_t{1} << dropped;
    Value* last = ir_.CreateAnd(ir_.CreateLShr(bits, Int(bits, static_cast<uint64_t>(dropped))), Int(bits, 1));
    reduced = ir_.CreateAdd(ir_.CreateAdd(bits, Int(bits, unit / 2 - 1)), last);
    reduced = ir_.CreateAnd(reduced, Int(bits, ~(unit - 1)));
  }
  if (exponent_bits < exponent) {
    const int largest = (1 << (exponent_bits - 1)) - 1;
    Value* magnitude = ir_.CreateAnd(reduced, Int(bits, exponents));
    Value* overflows = ir_.CreateICmpUGT(magnitude, Int(bits, static_cast<uint64_t>(bias + largest) << mantissa));
    Value* underflows = ir_.CreateICmpULE(magnitude, Int(bits, static_cast<uint64_t>(bias - largest) << mantissa));
    reduced = ir_.CreateSelect(overflows, infinity, ir_.CreateSelect(underflows, sign, reduced));
  }
  reduced = ir_.CreateSelect(IsNan(x.value), mantissa_bits > 0 ? bits : infinity, reduced);
  return {ir_.CreateBitCast(reduced, x.value->getType()), x.type};
}

Num VectorBuilder::BitcastConvert(Num x, ElementType to) {
  const int lanes = LanesOf(x.value);
  return FromMemory(ir_.CreateBitCast(ToMemory(x), Stored(to, lanes)), to);
}

// The fence keeps LLVM from turning comparisons of f32 values into comparisons of halves, which it emits lane by lane.
Value* VectorBuilder::FromHalf(Value* half) {
  return Intrinsic(llvm::Intrinsic::arithmetic_fence, {ir_.CreateFPExt(half, Computed(ElementType::kF16, LanesOf(half)))});
}

// The inverse of FromHalf. If x was just converted from a half, returns that half.
Value* VectorBuilder::ToHalf(Value* x) {
  if (auto* fence = llvm::dyn_cast<llvm::IntrinsicInst>(x); fence != nullptr && fence->getIntrinsicID() == llvm::Intrinsic::arithmetic_fence)
    if (auto* wide = llvm::dyn_cast<llvm::FPExtInst>(fence->getArgOperand(0))) return wide->getOperand(0);
  return ir_.CreateFPTrunc(x, Stored(ElementType::kF16, LanesOf(x)));
}

Num VectorBuilder::Rounded(Num x) {
  if (x.type == ElementType::kF16) return {FromHalf(ToHalf(x.value)), x.type};
  if (x.type != ElementType::kBf16) return x;
  // Round to nearest, ties to even, on the bits: add half a unit in the last place minus one, plus the last bit.
  Value* bits = ir_.CreateBitCast(x.value, Computed(ElementType::kU32, LanesOf(x.value)));
  Value* last = ir_.CreateAnd(ir_.CreateLShr(bits, 16), Int(bits, 1));
  Value* sum = ir_.CreateAdd(ir_.CreateAdd(bits, Int(bits, 0x7fff)), last);
  sum = ir_.CreateSelect(IsNan(x.value), ir_.CreateOr(bits, Int(bits, 0x400000)), sum);
  return {ir_.CreateBitCast(ir_.CreateAnd(sum, Int(bits, 0xffff0000)), x.value->getType()), x.type};
}

namespace {

// The indices of every other element, starting at element `first`.
std::vector<int> EveryOther(int first, int lanes) {
  std::vector<int> indices;
  for (int i = 0; i < lanes; ++i) indices.push_back(2 * i + first);
  return indices;
}

}  // namespace

Value* VectorBuilder::ToMemory(Num x) {
  const int lanes = LanesOf(x.value);
  if (IsComplex(x.type)) {
    if (lanes == 1) {
      Value* pair = ir_.CreateInsertElement(llvm::PoisonValue::get(Stored(x.type, 1)), x.value, uint64_t{0});
      return ir_.CreateInsertElement(pair, x.imaginary, uint64_t{1});
    }
    std::vector<int> indices;
    for (int i = 0; i < lanes; ++i) indices.insert(indices.end(), {i, lanes + i});
    return ir_.CreateShuffleVector(x.value, x.imaginary, indices);
  }
  if (x.type == ElementType::kPred) return ir_.CreateZExt(x.value, Stored(x.type, lanes));
  if (BitWidth(x.type) < 8) return Convert(x, IsSigned(x.type) ? ElementType::kS8 : ElementType::kU8).value;
  if (x.type == ElementType::kF16) return ToHalf(x.value);
  if (x.type != ElementType::kBf16) return x.value;
  Value* bits = ir_.CreateBitCast(x.value, Computed(ElementType::kU32, lanes));
  return ir_.CreateTrunc(ir_.CreateLShr(bits, 16), Stored(x.type, lanes));
}

Num VectorBuilder::FromMemory(Value* stored, ElementType type) {
  const int lanes = LanesOf(stored);
  if (IsComplex(type)) {
    if (lanes == 2) return {ir_.CreateExtractElement(stored, uint64_t{0}), type, ir_.CreateExtractElement(stored, uint64_t{1})};
    return {ir_.CreateShuffleVector(stored, EveryOther(0, lanes / 2)), type, ir_.CreateShuffleVector(stored, EveryOther(1, lanes / 2))};
  }
  if (type == ElementType::kPred) return {ir_.CreateICmpNE(stored, Int(stored, 0)), type};
  if (BitWidth(type) < 8) return {ir_.CreateTrunc(stored, Computed(type, lanes)), type};
  if (type == ElementType::kF16) return {FromHalf(stored), type};
  if (type != ElementType::kBf16) return {stored, type};
  Value* bits = ir_.CreateShl(ir_.CreateZExt(stored, Computed(ElementType::kU32, lanes)), 16);
  return {ir_.CreateBitCast(bits, Computed(type, lanes)), type};
}

Num VectorBuilder::Call(std::string_view function, std::initializer_list<Num> arguments) {
  const Num& first = *arguments.begin();
  const int lanes = LanesOf(first.value);
  llvm::Type* wide = ir_.getDoubleTy();
  std::vector<llvm::Type*> types(arguments.size(), wide);
  llvm::FunctionCallee callee =
      module_.getOrInsertFunction(StrCat("shoal_", function), llvm::FunctionType::get(wide, types, false));
  Value* result = llvm::PoisonValue::get(first.value->getType());
  for (int lane = 0; lane < lanes; ++lane) {
    std::vector<Value*> values;
    for (const Num& argument : arguments) {
      Value* element = lanes == 1 ? argument.value : ir_.CreateExtractElement(argument.value, static_cast<uint64_t>(lane));
      values.push_back(element->getType() == wide ? element : ir_.CreateFPExt(element, wide));
    }
    Value* one = ir_.CreateCall(callee, values);
    if (first.value->getType()->getScalarType() != wide) one = ir_.CreateFPTrunc(one, ir_.getFloatTy());
    if (lanes == 1) return {one, first.type};
    result = ir_.CreateInsertElement(result, one, static_cast<uint64_t>(lane));
  }
  return {result, first.type};
}

}  // namespace shoal::internal
