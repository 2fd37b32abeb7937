// Elementwise ops: result[i] = f(operand0[i], operand1[i], …). f stands here once, as Apply, written against a builder
// `b` that computes with numbers (interp/numbers.h) or makes code.
#pragma once

#include "ops/attrs.h"
#include "ops/rules.h"

namespace shoal {

// Sets of type classes an op is defined for.
namespace types {
inline constexpr uint8_t kPred = 1, kSigned = 2, kFloat = 4, kComplex = 8, kUnsigned = 16;
inline constexpr uint8_t kInt = kSigned | kUnsigned;
inline constexpr uint8_t kNumber = kInt | kFloat | kComplex;
inline constexpr uint8_t kAny = kPred | kNumber;
}  // namespace types

// The result's type: the operands', pred, the real type of a complex one, or the complex type of two real ones.
enum class ResultType : uint8_t { kSame, kPred, kRealPart, kComplexOf };

// The rules all elementwise ops share.
ShapeResult InferElementwise(const Instruction& hlo, ShapePool& shapes, uint8_t allowed, ResultType result);

template <uint8_t allowed, ResultType result = ResultType::kSame>
struct Elementwise : OpBase {
  static constexpr OpClass kClass = OpClass::kElementwise;
  static constexpr bool kInfersShape = true;
  static constexpr uint8_t kTypes = allowed;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes) {
    return InferElementwise(hlo, shapes, allowed, result);
  }
  static void Price(const Instruction& hlo, Pricing& pricing) { PriceElementwise(hlo, pricing, false); }
};

inline constexpr Attr<const ResultAccuracy*> kResultAccuracy{"result_accuracy"};
inline constexpr std::string_view kResultAccuracyModes[] = {"default", "highest"};
Status FormResultAccuracy(const Instruction& hlo);

// result_accuracy= is printed among the attributes every op has, not with the op's own.
template <uint8_t allowed>
struct Transcendental : Elementwise<allowed> {
  static constexpr bool kTranscendental = true;
  static void Price(const Instruction& hlo, Pricing& pricing) { PriceElementwise(hlo, pricing, true); }
  static constexpr std::array kAttrs{Unprinted(kResultAccuracy)};
  static Status Form(Instruction& hlo, Module&) { return FormResultAccuracy(hlo); }
};

// clang-format off
template <> struct Op<Opcode::kAbs> : Elementwise<types::kSigned | types::kFloat | types::kComplex, ResultType::kRealPart> { static auto Apply(auto& b, auto x) { return b.Abs(x); } };
template <> struct Op<Opcode::kAdd> : Elementwise<types::kAny> { static auto Apply(auto& b, auto x, auto y) { return b.Add(x, y); } };
template <> struct Op<Opcode::kAnd> : Elementwise<types::kPred | types::kInt> { static auto Apply(auto& b, auto x, auto y) { return b.And(x, y); } };
template <> struct Op<Opcode::kAtan2> : Elementwise<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x, auto y) { return b.Atan2(x, y); } static void Price(const Instruction& hlo, Pricing& p) { PriceElementwise(hlo, p, true); } };
template <> struct Op<Opcode::kCeil> : Elementwise<types::kFloat> { static auto Apply(auto& b, auto x) { return b.Ceil(x); } };
template <> struct Op<Opcode::kClz> : Elementwise<types::kInt> { static auto Apply(auto& b, auto x) { return b.Clz(x); } };
template <> struct Op<Opcode::kComplex> : Elementwise<types::kFloat, ResultType::kComplexOf> { static auto Apply(auto& b, auto x, auto y) { return b.Complex(x, y); } };
template <> struct Op<Opcode::kDivide> : Elementwise<types::kNumber> { static auto Apply(auto& b, auto x, auto y) { return b.Divide(x, y); } };
template <> struct Op<Opcode::kFloor> : Elementwise<types::kFloat> { static auto Apply(auto& b, auto x) { return b.Floor(x); } };
template <> struct Op<Opcode::kImag> : Elementwise<types::kFloat | types::kComplex, ResultType::kRealPart> { static auto Apply(auto& b, auto x) { return b.Imag(x); } };
template <> struct Op<Opcode::kIsFinite> : Elementwise<types::kFloat, ResultType::kPred> { static auto Apply(auto& b, auto x) { return b.IsFinite(x); } };
template <> struct Op<Opcode::kMaximum> : Elementwise<types::kAny> { static auto Apply(auto& b, auto x, auto y) { return b.Maximum(x, y); } };
template <> struct Op<Opcode::kMinimum> : Elementwise<types::kAny> { static auto Apply(auto& b, auto x, auto y) { return b.Minimum(x, y); } };
template <> struct Op<Opcode::kMulhi> : Elementwise<types::kInt> { static auto Apply(auto& b, auto x, auto y) { return b.Mulhi(x, y); } };
template <> struct Op<Opcode::kMultiply> : Elementwise<types::kAny> { static auto Apply(auto& b, auto x, auto y) { return b.Multiply(x, y); } };
template <> struct Op<Opcode::kNegate> : Elementwise<types::kNumber> { static auto Apply(auto& b, auto x) { return b.Negate(x); } };
template <> struct Op<Opcode::kNot> : Elementwise<types::kPred | types::kInt> { static auto Apply(auto& b, auto x) { return b.Not(x); } };
template <> struct Op<Opcode::kOr> : Elementwise<types::kPred | types::kInt> { static auto Apply(auto& b, auto x, auto y) { return b.Or(x, y); } };
template <> struct Op<Opcode::kPopulationCount> : Elementwise<types::kInt> { static auto Apply(auto& b, auto x) { return b.PopulationCount(x); } };
template <> struct Op<Opcode::kPower> : Elementwise<types::kNumber> { static auto Apply(auto& b, auto x, auto y) { return b.Power(x, y); } static void Price(const Instruction& hlo, Pricing& p) { PriceElementwise(hlo, p, true); } };
template <> struct Op<Opcode::kReal> : Elementwise<types::kFloat | types::kComplex, ResultType::kRealPart> { static auto Apply(auto& b, auto x) { return b.Real(x); } };
template <> struct Op<Opcode::kRemainder> : Elementwise<types::kNumber> { static auto Apply(auto& b, auto x, auto y) { return b.Remainder(x, y); } };
template <> struct Op<Opcode::kRoundNearestAfz> : Elementwise<types::kFloat> { static auto Apply(auto& b, auto x) { return b.RoundNearestAfz(x); } };
template <> struct Op<Opcode::kRoundNearestEven> : Elementwise<types::kFloat> { static auto Apply(auto& b, auto x) { return b.RoundNearestEven(x); } };
template <> struct Op<Opcode::kShiftLeft> : Elementwise<types::kInt> { static auto Apply(auto& b, auto x, auto y) { return b.ShiftLeft(x, y); } };
template <> struct Op<Opcode::kShiftRightArithmetic> : Elementwise<types::kInt> { static auto Apply(auto& b, auto x, auto y) { return b.ShiftRightArithmetic(x, y); } };
template <> struct Op<Opcode::kShiftRightLogical> : Elementwise<types::kInt> { static auto Apply(auto& b, auto x, auto y) { return b.ShiftRightLogical(x, y); } };
template <> struct Op<Opcode::kSign> : Elementwise<types::kSigned | types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Sign(x); } };
template <> struct Op<Opcode::kSubtract> : Elementwise<types::kNumber> { static auto Apply(auto& b, auto x, auto y) { return b.Subtract(x, y); } };
template <> struct Op<Opcode::kXor> : Elementwise<types::kPred | types::kInt> { static auto Apply(auto& b, auto x, auto y) { return b.Xor(x, y); } };

template <> struct Op<Opcode::kAcos> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Acos(x); } };
template <> struct Op<Opcode::kAcosh> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Acosh(x); } };
template <> struct Op<Opcode::kAsin> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Asin(x); } };
template <> struct Op<Opcode::kAsinh> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Asinh(x); } };
template <> struct Op<Opcode::kAtanh> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Atanh(x); } };
template <> struct Op<Opcode::kCbrt> : Transcendental<types::kFloat> { static auto Apply(auto& b, auto x) { return b.Cbrt(x); } };
template <> struct Op<Opcode::kCos> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Cos(x); } };
template <> struct Op<Opcode::kCosh> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Cosh(x); } };
template <> struct Op<Opcode::kErf> : Transcendental<types::kFloat> { static auto Apply(auto& b, auto x) { return b.Erf(x); } };
template <> struct Op<Opcode::kExp> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Exp(x); } };
template <> struct Op<Opcode::kExpm1> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Expm1(x); } };
template <> struct Op<Opcode::kLog> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Log(x); } };
template <> struct Op<Opcode::kLog1p> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Log1p(x); } };
template <> struct Op<Opcode::kLogistic> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Divide(b.One(x), b.Add(b.One(x), b.Exp(b.Negate(x)))); } };
template <> struct Op<Opcode::kRsqrt> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Rsqrt(x); } };
template <> struct Op<Opcode::kSin> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Sin(x); } };
template <> struct Op<Opcode::kSinh> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Sinh(x); } };
template <> struct Op<Opcode::kSqrt> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Sqrt(x); } };
template <> struct Op<Opcode::kTan> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Tan(x); } };
template <> struct Op<Opcode::kTanh> : Transcendental<types::kFloat | types::kComplex> { static auto Apply(auto& b, auto x) { return b.Tanh(x); } };
// clang-format on

enum class ComparisonDirection : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };
template <>
struct EnumNames<ComparisonDirection> {
  static constexpr std::string_view kNames[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
};
// total: -nan < -inf < … < inf < nan. partial: nan is unordered. Floats default to partial, the rest to total.
enum class ComparisonOrder : uint8_t { kPartial, kTotal };
template <>
struct EnumNames<ComparisonOrder> {
  static constexpr std::string_view kNames[] = {"PARTIAL", "TOTAL"};
};
ComparisonOrder DefaultOrder(ElementType type);
// How older texts say it.
enum class ComparisonType : uint8_t { kFloat, kTotalOrder, kSigned, kUnsigned };
template <>
struct EnumNames<ComparisonType> {
  static constexpr std::string_view kNames[] = {"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
};

// compare: result[i] = operand0[i] DIRECTION operand1[i].
template <>
struct Op<Opcode::kCompare> : Elementwise<types::kAny, ResultType::kPred> {
  static constexpr Attr<ComparisonDirection> kDirection{"direction"};
  static constexpr Attr<ComparisonOrder> kOrder{"order"};
  static constexpr Attr<ComparisonType> kType{"type"};
  static bool HasUnusualOrder(const Instruction& hlo);
  static constexpr std::array kAttrs{Required(kDirection), ShownIf(IfGiven(kOrder), HasUnusualOrder), Unprinted(kType)};
  // Of the order that is total or partial as the builder is told.
  static auto Apply(auto& b, ComparisonDirection direction, auto x, auto y) { return b.Compare(direction, x, y); }
  // Gives the instruction both `order` and `type`.
  static Status Form(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
inline ComparisonDirection DirectionOf(const Instruction& compare) { return compare[Op<Opcode::kCompare>::kDirection]; }
inline ComparisonOrder OrderOf(const Instruction& compare) { return compare[Op<Opcode::kCompare>::kOrder]; }

// clamp: result[i] = min(max(operand1[i], operand0[i]), operand2[i]); the bounds may be scalars.
template <>
struct Op<Opcode::kClamp> : OpBase {
  static constexpr OpClass kClass = OpClass::kElementwise;
  static auto Apply(auto& b, auto low, auto x, auto high) { return b.Minimum(b.Maximum(low, x), high); }
  static constexpr bool kInfersShape = true;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Price(const Instruction& hlo, Pricing& pricing) { PriceElementwise(hlo, pricing, false); }
};

// select: result[i] = operand0[i] ? operand1[i] : operand2[i]; the predicate may be a scalar.
template <>
struct Op<Opcode::kSelect> : OpBase {
  static constexpr OpClass kClass = OpClass::kElementwise;
  static auto Apply(auto& b, auto choose, auto x, auto y) { return b.Select(choose, x, y); }
  static constexpr bool kInfersShape = true;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Price(const Instruction& hlo, Pricing& pricing) { PriceElementwise(hlo, pricing, false); }
};

// convert: result[i] = operand[i] in the result's type.
template <>
struct Op<Opcode::kConvert> : OpBase {
  static constexpr OpClass kClass = OpClass::kElementwise;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Price(const Instruction& hlo, Pricing& pricing) { PriceElementwise(hlo, pricing, false); }
};

// stochastic-convert: rounds up or down at random; operand1 gives the random bits.
template <>
struct Op<Opcode::kStochasticConvert> : OpBase {
  static constexpr OpClass kClass = OpClass::kElementwise;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Price(const Instruction& hlo, Pricing& pricing) { PriceElementwise(hlo, pricing, false); }
};

// reduce-precision: result[i] = operand[i] rounded to exponent_bits and mantissa_bits.
template <>
struct Op<Opcode::kReducePrecision> : OpBase {
  static constexpr OpClass kClass = OpClass::kElementwise;
  static constexpr Attr<int64_t> kExponentBits{"exponent_bits"};
  static constexpr Attr<int64_t> kMantissaBits{"mantissa_bits"};
  static constexpr std::array kAttrs{Required(kExponentBits), Required(kMantissaBits)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Price(const Instruction& hlo, Pricing& pricing) { PriceElementwise(hlo, pricing, false); }
};

}  // namespace shoal
