// Special functions of CHLO, by the formulas that XLA uses.
#include <cmath>
#include <limits>

#include "formats/stablehlo/chlo_math.h"
#include "formats/stablehlo/import_functions.h"

namespace shoal::internal {

Status ImportChloFunction(Importer& importer, const MlirOp& op, ChloFunction function) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  if (operands.empty()) return importer.Refused(op, "the op has no operand 0");
  const Shape& given = operands[0]->shape();
  for (const Instruction* operand : operands)
    if (!given.IsArray() || !IsFloat(given.element_type()) || !Compatible(operand->shape(), given))
      return importer.Refused(op, "the op needs floating-point numbers");
  ShapePool& shapes = importer.module().shapes;
  const ElementType type = given.element_type();
  const bool is_double = type == ElementType::kF64;
  const ElementType wide = is_double ? type : ElementType::kF32;
  const Shape* shape = shapes.WithDefaultLayout(*shapes.WithType(given, wide));
  ChloMath math(importer, *shape);
  if (type != wide)
    for (Value& operand : operands) operand = math.Convert(operand, wide);
  Value value = function(math, operands, is_double);
  if (type != wide) value = math.Convert(value, type);
  SHOAL_TRY(std::move(math.status));
  return importer.SetResult(op, value);
}

namespace {

using Direction = ComparisonDirection;

// A sum of Chebyshev polynomials, from the highest degree.
Value Chebyshev(ChloMath& m, Value x, std::span<const double> coefficients) {
  Value b0 = m.Constant(0), b1 = b0, b2 = b0;
  for (const double coefficient : coefficients) {
    b2 = b1;
    b1 = b0;
    b0 = m.Add(m.Sub(m.Mul(x, b1), b2), m.Constant(coefficient));
  }
  return m.Mul(m.Sub(b0, b2), m.Constant(0.5));
}

// Cephes: Chebyshev series in x / 2 - 2 for |x| <= 8 and in 32 / x - 2 beyond. The series of f32 are shorter.
Value BesselI1e(ChloMath& m, Value x, bool is_double) {
  static constexpr double kNear[] = {
      2.77791411276104639959e-18, -2.11142121435816608115e-17, 1.55363195773620046921e-16, -1.10559694773538630805e-15,
      7.60068429473540693410e-15, -5.04218550472791168711e-14, 3.22379336594557470981e-13, -1.98397439776494371520e-12,
      1.17361862988909016308e-11, -6.66348972350202774223e-11, 3.62559028155211703701e-10, -1.88724975172282928790e-9,
      9.38153738649577178388e-9,  -4.44505912879632808065e-8,  2.00329475355213526229e-7,  -8.56872026469545474066e-7,
      3.47025130813767847674e-6,  -1.32731636560394358279e-5,  4.78156510755005422638e-5,  -1.61760815825896745588e-4,
      5.12285956168575772895e-4,  -1.51357245063125314899e-3,  4.15642294431288815669e-3,  -1.05640848946261981558e-2,
      2.47264490306265168283e-2,  -5.29459812080949914269e-2,  1.02643658689847095384e-1,  -1.76416518357834055153e-1,
      2.52587186443633654823e-1};
  static constexpr double kFar[] = {
      7.51729631084210481353e-18,  4.41434832307170791151e-18,  -4.65030536848935832153e-17, -3.20952592199342395980e-17,
      2.96262899764595013876e-16,  3.30820231092092828324e-16,  -1.88035477551078244854e-15, -3.81440307243700780478e-15,
      1.04202769841288027642e-14,  4.27244001671195135429e-14,  -2.10154184277266431302e-14, -4.08355111109219731823e-13,
      -7.19855177624590851209e-13, 2.03562854414708950722e-12,  1.41258074366137813316e-11,  3.25260358301548823856e-11,
      -1.89749581235054123450e-11, -5.58974346219658380687e-10, -3.83538038596423702205e-9,  -2.63146884688951950684e-8,
      -2.51223623787020892529e-7,  -3.88256480887769039346e-6,  -1.10588938762623716291e-4,  -9.76109749136146840777e-3,
      7.78576235018280120474e-1};
  constexpr size_t kSkippedNear = 12, kSkippedFar = 18;
  Value z = m.Abs(x), two = m.Constant(2);
  const std::span<const double> near(kNear), far(kFar);
  Value below = m.Mul(z, Chebyshev(m, m.Sub(m.Mul(m.Constant(0.5), z), two), is_double ? near : near.subspan(kSkippedNear)));
  Value above = m.Div(Chebyshev(m, m.Sub(m.Div(m.Constant(32), z), two), is_double ? far : far.subspan(kSkippedFar)),
                      m.Op1(Opcode::kSqrt, z));
  return m.Mul(m.Op1(Opcode::kSign, x), m.Select(m.Compare(Direction::kLe, z, m.Constant(8)), below, above));
}

// The Hurwitz zeta function: nine terms of the series, then the Euler-Maclaurin formula with twelve terms (Johansson,
// "Rigorous high-precision computation of the Hurwitz zeta function and its derivatives", 2015).
Value ZetaSeries(ChloMath& m, Value x, Value q, bool is_double) {
  static constexpr double kInverses[] = {-7.1661652561756670113e18, 1.8152105401943546773e17, -4.5979787224074726105e15,
                                         1.1646782814350067249e14,  -2.950130727918164224e12, 7.47242496e10,
                                         -1.8924375803183791606e9,  47900160,                 -1209600,
                                         30240,                     -720,                     12};
  constexpr int kTerms = static_cast<int>(std::size(kInverses)), kIterations = 9;
  Value one = m.Constant(1), exponent = m.Neg(x);
  Value at = q, sum = m.Op2(Opcode::kPower, q, exponent);
  for (int i = 0; i < kIterations; ++i) {
    at = m.Add(at, one);
    sum = m.Add(sum, m.Op2(Opcode::kPower, at, exponent));
  }
  at = m.Add(at, one);
  Value power = m.Op2(Opcode::kPower, at, exponent);
  Value correction = m.Div(m.Mul(power, at), m.Sub(x, one));
  Value inverse_square = m.Div(one, m.Mul(at, at));
  Value horner = m.Constant(0);
  for (int i = 0; i < kTerms - 1; ++i) {
    const double degree = 2 * kTerms - 2 - 2 * i;
    Value factors = m.Mul(m.Add(x, m.Constant(degree)), m.Add(x, m.Constant(degree - 1)));
    horner = m.Mul(factors, m.Mul(inverse_square, m.Add(horner, m.Constant(1 / kInverses[i]))));
  }
  Value tail = m.Mul(power, m.Add(m.Constant(0.5), m.Mul(m.Div(x, at), m.Add(m.Constant(1 / kInverses[kTerms - 1]), horner))));
  Value accurate = m.Add(m.Add(sum, correction), tail);
  const double smallest = is_double ? std::numeric_limits<double>::denorm_min() : std::numeric_limits<float>::denorm_min();
  return m.Select(m.Less(m.Abs(power), m.Mul(m.Abs(sum), m.Constant(smallest))), sum, accurate);
}

Value Zeta(ChloMath& m, Value x, Value q, bool is_double) {
  Value zero = m.Constant(0), one = m.Constant(1), two = m.Constant(2), nan = m.Constant(std::nan("")), inf = m.Constant(HUGE_VAL);
  Value value = m.Select(m.Less(x, one), nan, ZetaSeries(m, x, q, is_double));
  // For q <= 0, x must be an integer; integers q <= 0 are poles, with a limit if x is even.
  Value is_below = m.Compare(Direction::kLe, q, zero);
  Value floor = m.Op1(Opcode::kFloor, x);
  value = m.Select(m.And(is_below, m.Compare(Direction::kNe, x, floor)), nan, value);
  Value is_pole = m.And(is_below, m.Equal(q, m.Op1(Opcode::kFloor, q)));
  Value is_even = m.And(m.Equal(x, floor), m.Equal(m.Op2(Opcode::kRemainder, x, two), zero));
  value = m.Select(is_pole, m.Select(is_even, inf, nan), value);
  return m.Select(m.Equal(x, one), inf, value);
}

// (-1)^(n+1) n! zeta(n + 1, x); digamma for n = 0.
Value Polygamma(ChloMath& m, Value n, Value x, bool is_double) {
  Value zero = m.Constant(0), one = m.Constant(1), two = m.Constant(2);
  Value sign = m.Sub(m.Mul(two, m.Op2(Opcode::kRemainder, n, two)), one);
  Value next = m.Add(n, one);
  Value value = m.Mul(m.Mul(sign, m.Op1(Opcode::kExp, Lgamma(m, next))), Zeta(m, next, x, is_double));
  value = m.Select(m.Equal(n, zero), Digamma(m, x), value);
  Value is_outside = m.Or(m.Compare(Direction::kNe, n, m.Op1(Opcode::kFloor, n)), m.Less(n, zero));
  return m.Select(is_outside, m.Constant(std::nan("")), value);
}

}  // namespace

Status ImportChloBesselI1e(Importer& importer, const MlirOp& op) {
  return ImportChloFunction(importer, op, [](ChloMath& m, std::span<const Value> x, bool is_double) {
    return BesselI1e(m, x[0], is_double);
  });
}

Status ImportChloZeta(Importer& importer, const MlirOp& op) {
  if (op.operands.size() != 2) return importer.Refused(op, "the op takes two operands");
  return ImportChloFunction(importer, op, [](ChloMath& m, std::span<const Value> x, bool is_double) {
    return Zeta(m, x[0], x[1], is_double);
  });
}

Status ImportChloPolygamma(Importer& importer, const MlirOp& op) {
  if (op.operands.size() != 2) return importer.Refused(op, "the op takes two operands");
  return ImportChloFunction(importer, op, [](ChloMath& m, std::span<const Value> x, bool is_double) {
    return Polygamma(m, x[0], x[1], is_double);
  });
}

}  // namespace shoal::internal
