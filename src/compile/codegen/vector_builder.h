// VectorBuilder: the builder with which Apply in core/ops/elementwise.h emits LLVM IR. Values are scalars or vectors;
// the code is the same for both. Floats narrower than f32 are computed in f32, and the caller rounds the results.
#pragma once

#include <functional>

#include "core/ops/elementwise.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace shoal::internal {

// A value with its element type. A complex value consists of a real and an imaginary part.
struct Num {
  llvm::Value* value = nullptr;
  ElementType type = ElementType::kInvalid;
  llvm::Value* imaginary = nullptr;
};

class VectorBuilder {
 public:
  VectorBuilder(llvm::IRBuilder<>& ir, llvm::Module& module) : ir_(ir), module_(module) {}

  // The LLVM type used for computing with a type: f32 for narrower floats, one bit for pred.
  llvm::Type* Computed(ElementType type, int lanes);
  // A constant with the LLVM type of `like`, with the number in every lane.
  llvm::Value* Float(llvm::Value* like, double value);
  llvm::Value* Int(llvm::Value* like, uint64_t value);

  // clang-format off
  Num One(Num x);
  Num Add(Num x, Num y);          Num Subtract(Num x, Num y);     Num Multiply(Num x, Num y);
  Num Divide(Num x, Num y);       Num Remainder(Num x, Num y);    Num Power(Num x, Num y);
  Num Maximum(Num x, Num y);      Num Minimum(Num x, Num y);      Num Mulhi(Num x, Num y);
  Num And(Num x, Num y);          Num Or(Num x, Num y);           Num Xor(Num x, Num y);
  Num Not(Num x);                 Num Negate(Num x);              Num Abs(Num x);
  Num Sign(Num x);                Num Clz(Num x);                 Num PopulationCount(Num x);
  Num ShiftLeft(Num x, Num y);    Num ShiftRightArithmetic(Num x, Num y);  Num ShiftRightLogical(Num x, Num y);
  Num IsFinite(Num x);            Num Real(Num x) { return x; }   Num Imag(Num x);
  Num Ceil(Num x);                Num Floor(Num x);               Num RoundNearestAfz(Num x);
  Num RoundNearestEven(Num x);    Num Sqrt(Num x);                Num Rsqrt(Num x);
  Num Exp(Num x);                 Num Expm1(Num x);               Num Log(Num x);
  Num Log1p(Num x);               Num Tanh(Num x);                Num Erf(Num x);
  Num Atan2(Num y, Num x);        Num Acos(Num x);                Num Asin(Num x);
  Num Cbrt(Num x);                Num Tan(Num x);
  Num Acosh(Num x) { return Call("acosh", {x}); } Num Asinh(Num x) { return Call("asinh", {x}); }
  Num Atanh(Num x) { return Call("atanh", {x}); }
  Num Cos(Num x) { return SinOrCos(x, true); }    Num Cosh(Num x) { return SinhOrCosh(x, true); }
  Num Sin(Num x) { return SinOrCos(x, false); }   Num Sinh(Num x) { return SinhOrCosh(x, false); }
  Num Select(Num choose, Num x, Num y);
  // clang-format on
  Num Compare(ComparisonDirection direction, Num x, Num y);
  // Maps a float to an integer whose order is the total order of floats.
  Num TotalOrderKey(Num x);

  Num Convert(Num x, ElementType to);
  Num BitcastConvert(Num x, ElementType to);
  Num ReducePrecision(Num x, int exponent_bits, int mantissa_bits);

  // Rounds an f32 value of type bf16 or f16 to that type; other types are unchanged.
  Num Rounded(Num x);
  // Conversions to and from the memory representation.
  llvm::Type* Stored(ElementType type, int lanes);  // complex numbers: real and imaginary parts interleaved
  llvm::Value* ToMemory(Num x);
  Num FromMemory(llvm::Value* stored, ElementType type);

  // Functions of f64 from which the functions of f32 are built.
  llvm::Value* ExpWide(llvm::Value* x);
  llvm::Value* LogWide(llvm::Value* x);
  llvm::Value* AngleOf(llvm::Value* y, llvm::Value* x);
  // sin or cos of an f64 with |x| < 2^30, to 1e-8.
  llvm::Value* WideSinOrCos(llvm::Value* x, bool cos);
  // coefficients[0] * x^n + … + coefficients[n]
  llvm::Value* Polynomial(llvm::Value* x, std::initializer_list<double> coefficients);

  llvm::IRBuilder<>& ir() { return ir_; }
  static int LanesOf(llvm::Value* value);

 private:
  // Calls a function of the C library for each lane, in f64, and rounds once.
  Num Call(std::string_view function, std::initializer_list<Num> arguments);
  llvm::Value* Intrinsic(llvm::Intrinsic::ID id, std::initializer_list<llvm::Value*> arguments);
  llvm::Value* MultiplyAdd(llvm::Value* x, llvm::Value* y, llvm::Value* z);
  llvm::Value* FromHalf(llvm::Value* half);
  llvm::Value* ToHalf(llvm::Value* x);
  llvm::Value* IsNan(llvm::Value* x) { return ir_.CreateFCmpUNO(x, x); }
  llvm::Value* ExpF32(llvm::Value* x);
  llvm::Value* LogF32(llvm::Value* x);
  llvm::Value* ExpF64(llvm::Value* x);
  llvm::Value* Expm1F64(llvm::Value* x);
  llvm::Value* TanhF64(llvm::Value* x);
  llvm::Value* LogF64(llvm::Value* x);
  struct ReducedExponent {
    llvm::Value *n, *r;
  };
  ReducedExponent ReduceExponent(llvm::Value* x);
  llvm::Value* Expm1Series(llvm::Value* r);
  llvm::Value* PowerOfTwo(llvm::Value* exponent, llvm::Type* type);
  llvm::Value* Clamped(llvm::Value* x, double low, double high);
  Num SinOrCos(Num x, bool cos);
  Num SinhOrCosh(Num x, bool cosh);
  Num PowerOfFloats(Num x, Num y);
  Num RemainderOfFloats(Num x, Num y);
  llvm::Value* Quotient(llvm::Value* x, llvm::Value* y, bool is_signed);
  llvm::Value* IntRemainder(llvm::Value* x, llvm::Value* y, bool is_signed);
  // `near_value()`, or the C library function for all lanes if `is_far` is true in any lane.
  Num NearOrLibrary(llvm::Value* is_far, const char* function, std::initializer_list<Num> arguments,
                   const std::function<llvm::Value*()>& near_value);
  llvm::Value* Wide(llvm::Value* x);  // an f32 as f64
  llvm::Value* AtanOfUnit(llvm::Value* q);
  llvm::Value* SqrtOneMinusSquare(llvm::Value* x);
  llvm::Value* AbsOf(llvm::Value* x);

  llvm::IRBuilder<>& ir_;
  llvm::Module& module_;
};

}  // namespace shoal::internal
