// Elementwise ops: result[i] = f(operand0[i], operand1[i], …). f is defined here once, as Apply, in terms of a builder
// `b` that computes with numbers (kernels/elementwise/numbers.h) or emits code.
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

// Sets of type classes for which an op is defined.
namespace types {
inline constexpr uint8_t kPred = 1, kSigned = 2, kFloat = 4, kComplex = 8, kUnsigned = 16;
inline constexpr uint8_t kInt = kSigned | kUnsigned;
inline constexpr uint8_t kNumber = kInt | kFloat | kComplex;
inline constexpr uint8_t kAny = kPred | kNumber;
}  // namespace types

// The result type: the operands' type, pred, the real type of a complex type, or the complex type of two real types.
enum class ResultType : uint8_t { kSame, kPred, kRealPart, kComplexOf };

// Shape inference and checks that all elementwise ops share.
ShapeResult InferElementwise(const Instruction& hlo, ShapePool& shapes, uint8_t allowed, ResultType result);

template <uint8_t allowed, ResultType result = ResultType::kSame>
struct Elementwise : OpBase {
  static constexpr OpClass kClass = OpClass::kElementwise;
  static constexpr bool kInfersShape = true;
  static constexpr uint8_t kTypes = allowed;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes) {
    return InferElementwise(hlo, shapes, allowed, result);
  }
  static void Cost(const Instruction& hlo, OpCostBuilder& builder) { CostOfElementwise(hlo, builder, false); }
};

inline constexpr Attr<const ResultAccuracy*> kResultAccuracy{"result_accuracy"};
inline constexpr std::string_view kResultAccuracyModes[] = {"default", "highest"};
Status CheckResultAccuracy(const Instruction& hlo);

// result_accuracy= is printed with the attributes that all ops have, not with the op's own.
template <uint8_t allowed>
struct Transcendental : Elementwise<allowed> {
  static constexpr bool kTranscendental = true;
  static void Cost(const Instruction& hlo, OpCostBuilder& builder) { CostOfElementwise(hlo, builder, true); }
  static constexpr std::array kAttrs{Unprinted(kResultAccuracy)};
  static Status Normalize(Instruction& hlo, Module&) { return CheckResultAccuracy(hlo); }
};

// A row for each op: name, types, the result's type, meaning. Functions count as transcendental.
namespace types {
inline constexpr uint8_t kBits = kPred | kInt, kAnyFloat = kFloat | kComplex, kWithSign = kSigned | kFloat | kComplex;
}  // namespace types
#define UNARY(Name, allowed, result, meaning)                                      \
  template <>                                                                      \
  struct Op<Opcode::k##Name> : Elementwise<types::allowed, ResultType::result> {   \
    static auto Apply(auto& b, auto x) { return meaning; }                         \
  };
#define BINARY(Name, allowed, result, meaning)                                     \
  template <>                                                                      \
  struct Op<Opcode::k##Name> : Elementwise<types::allowed, ResultType::result> {   \
    static auto Apply(auto& b, auto x, auto y) { return meaning; }                 \
  };
#define FUNCTION(Name, allowed, meaning)                                           \
  template <>                                                                      \
  struct Op<Opcode::k##Name> : Transcendental<types::allowed> {                    \
    static auto Apply(auto& b, auto x) { return meaning; }                         \
  };
#define FUNCTION_OF_TWO(Name, allowed, meaning)                                    \
  template <>                                                                      \
  struct Op<Opcode::k##Name> : Elementwise<types::allowed> {                       \
    static auto Apply(auto& b, auto x, auto y) { return meaning; }                 \
    static void Cost(const Instruction& hlo, OpCostBuilder& builder) {             \
      CostOfElementwise(hlo, builder, true);                                       \
    }                                                                              \
  };
// clang-format off
UNARY(Abs,              kWithSign, kRealPart, b.Abs(x))
UNARY(Ceil,             kFloat,    kSame,     b.Ceil(x))
UNARY(Clz,              kInt,      kSame,     b.Clz(x))
UNARY(Floor,            kFloat,    kSame,     b.Floor(x))
UNARY(Imag,             kAnyFloat, kRealPart, b.Imag(x))
UNARY(IsFinite,         kFloat,    kPred,     b.IsFinite(x))
UNARY(Negate,           kNumber,   kSame,     b.Negate(x))
UNARY(Not,              kBits,     kSame,     b.Not(x))
UNARY(PopulationCount,  kInt,      kSame,     b.PopulationCount(x))
UNARY(Real,             kAnyFloat, kRealPart, b.Real(x))
UNARY(RoundNearestAfz,  kFloat,    kSame,     b.RoundNearestAfz(x))
UNARY(RoundNearestEven, kFloat,    kSame,     b.RoundNearestEven(x))
UNARY(Sign,             kWithSign, kSame,     b.Sign(x))

BINARY(Add,                  kAny,    kSame,      b.Add(x, y))
BINARY(And,                  kBits,   kSame,      b.And(x, y))
BINARY(Complex,              kFloat,  kComplexOf, b.Complex(x, y))
BINARY(Divide,               kNumber, kSame,      b.Divide(x, y))
BINARY(Maximum,              kAny,    kSame,      b.Maximum(x, y))
BINARY(Minimum,              kAny,    kSame,      b.Minimum(x, y))
BINARY(Mulhi,                kInt,    kSame,      b.Mulhi(x, y))
BINARY(Multiply,             kAny,    kSame,      b.Multiply(x, y))
BINARY(Or,                   kBits,   kSame,      b.Or(x, y))
BINARY(Remainder,            kNumber, kSame,      b.Remainder(x, y))
BINARY(ShiftLeft,            kInt,    kSame,      b.ShiftLeft(x, y))
BINARY(ShiftRightArithmetic, kInt,    kSame,      b.ShiftRightArithmetic(x, y))
BINARY(ShiftRightLogical,    kInt,    kSame,      b.ShiftRightLogical(x, y))
BINARY(Subtract,             kNumber, kSame,      b.Subtract(x, y))
BINARY(Xor,                  kBits,   kSame,      b.Xor(x, y))

FUNCTION(Acos,     kAnyFloat, b.Acos(x))
FUNCTION(Acosh,    kAnyFloat, b.Acosh(x))
FUNCTION(Asin,     kAnyFloat, b.Asin(x))
FUNCTION(Asinh,    kAnyFloat, b.Asinh(x))
FUNCTION(Atanh,    kAnyFloat, b.Atanh(x))
FUNCTION(Cbrt,     kFloat,    b.Cbrt(x))
FUNCTION(Cos,      kAnyFloat, b.Cos(x))
FUNCTION(Cosh,     kAnyFloat, b.Cosh(x))
FUNCTION(Erf,      kFloat,    b.Erf(x))
FUNCTION(Exp,      kAnyFloat, b.Exp(x))
FUNCTION(Expm1,    kAnyFloat, b.Expm1(x))
FUNCTION(Log,      kAnyFloat, b.Log(x))
FUNCTION(Log1p,    kAnyFloat, b.Log1p(x))
FUNCTION(Logistic, kAnyFloat, b.Divide(b.One(x), b.Add(b.One(x), b.Exp(b.Negate(x)))))
FUNCTION(Rsqrt,    kAnyFloat, b.Rsqrt(x))
FUNCTION(Sin,      kAnyFloat, b.Sin(x))
FUNCTION(Sinh,     kAnyFloat, b.Sinh(x))
FUNCTION(Sqrt,     kAnyFloat, b.Sqrt(x))
FUNCTION(Tan,      kAnyFloat, b.Tan(x))
FUNCTION(Tanh,     kAnyFloat, b.Tanh(x))

FUNCTION_OF_TWO(Atan2, kAnyFloat, b.Atan2(x, y))
FUNCTION_OF_TWO(Power, kNumber,   b.Power(x, y))
// clang-format on
#undef UNARY
#undef BINARY
#undef FUNCTION
#undef FUNCTION_OF_TWO

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
// The attribute that older HLO text has instead of `order`.
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
  // The builder is told separately if the order is total or partial.
  static auto Apply(auto& b, ComparisonDirection direction, auto x, auto y) { return b.Compare(direction, x, y); }
  // Sets `order` from `type`, or `type` from `order`.
  static Status Normalize(Instruction& hlo, Module& module);
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
  static void Cost(const Instruction& hlo, OpCostBuilder& builder) { CostOfElementwise(hlo, builder, false); }
};

// select: result[i] = operand0[i] ? operand1[i] : operand2[i]; the predicate may be a scalar.
template <>
struct Op<Opcode::kSelect> : OpBase {
  static constexpr OpClass kClass = OpClass::kElementwise;
  static auto Apply(auto& b, auto choose, auto x, auto y) { return b.Select(choose, x, y); }
  static constexpr bool kInfersShape = true;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder) { CostOfElementwise(hlo, builder, false); }
};

// convert: result[i] = operand[i] in the result's type.
template <>
struct Op<Opcode::kConvert> : OpBase {
  static constexpr OpClass kClass = OpClass::kElementwise;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder) { CostOfElementwise(hlo, builder, false); }
};

// stochastic-convert: rounds up or down at random; operand1 has the random bits.
template <>
struct Op<Opcode::kStochasticConvert> : OpBase {
  static constexpr OpClass kClass = OpClass::kElementwise;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder) { CostOfElementwise(hlo, builder, false); }
};

// reduce-precision: result[i] = operand[i] rounded to exponent_bits and mantissa_bits.
template <>
struct Op<Opcode::kReducePrecision> : OpBase {
  static constexpr OpClass kClass = OpClass::kElementwise;
  static constexpr Attr<int64_t> kExponentBits{"exponent_bits"};
  static constexpr Attr<int64_t> kMantissaBits{"mantissa_bits"};
  static constexpr std::array kAttrs{Required(kExponentBits), Required(kMantissaBits)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder) { CostOfElementwise(hlo, builder, false); }
};

}  // namespace shoal::internal
