// Mathematical functions of CHLO, by the formulas that XLA uses.
#include <cmath>
#include <limits>

#include "formats/stablehlo/chlo_math.h"
#include "formats/stablehlo/import_functions.h"

namespace shoal::internal {
namespace {

// The first operand only; complex numbers keep HLO's own op.
Status ImportFloat(Importer& importer, const MlirOp& op, ChloFunction function) {
  SHOAL_ASSIGN(x, importer.Operand(op, 0));
  if (!x->shape().IsArray() || !IsComplex(x->shape().element_type()) || op.info->opcode == Opcode::kUnknown)
    return ImportChloFunction(importer, op, function);
  SHOAL_ASSIGN(value, importer.Add(op.info->opcode, {x}));
  return importer.SetResult(op, value);
}

// Giles, "Approximating the erfinv function", single precision: two ranges of w = -log(1 - x²).
Value ErfInvSingle(ChloMath& m, Value x) {
  static constexpr double kSmall[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                      -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  static constexpr double kLarge[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                      -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  Value w = m.Neg(m.Op1(Opcode::kLog1p, m.Mul(x, m.Neg(x))));
  Value small = m.Less(w, m.Constant(5));
  w = m.Select(small, m.Sub(w, m.Constant(2.5)), m.Sub(m.Op1(Opcode::kSqrt, w), m.Constant(3)));
  auto coefficient = [&](size_t i) { return m.Select(small, m.Constant(kSmall[i]), m.Constant(kLarge[i])); };
  Value p = coefficient(0);
  for (size_t i = 1; i < std::size(kSmall); ++i) p = m.Add(coefficient(i), m.Mul(p, w));
  return m.Mul(p, x);
}

// The same, double precision: three ranges of w.
Value ErfInvDouble(ChloMath& m, Value x) {
  static constexpr double kSmall[] = {
      -3.6444120640178196921e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,  1.115787767802518096e-17,
      -1.333171662854620906e-16,  2.0972767875968561637e-17,  6.6376381343583238325e-15,  -4.0545662729752068639e-14,
      -8.1519341976054721522e-14, 2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
      1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08, 4.2347877827932403518e-07,
      -1.3654692000834678645e-06, -1.3882523362786468719e-05, 0.0001867342080340571352,   -0.00074070253416626697512,
      -0.0060336708714301490533,  0.24015818242558961693,     1.6536545626831027356};
  static constexpr double kMiddle[] = {
      2.2137376921775787049e-09,  9.0756561938885390979e-08, -2.7517406297064545428e-07, 1.8239629214389227755e-08,
      1.5027403968909827627e-06,  -4.013867526981545969e-06, 2.9234449089955446044e-06,  1.2475304481671778723e-05,
      -4.7318229009055733981e-05, 6.8284851459573175448e-05, 2.4031110387097893999e-05,  -0.0003550375203628474796,
      0.00095328937973738049703,  -0.0016882755560235047313, 0.0024914420961078508066,   -0.0037512085075692412107,
      0.005370914553590063617,    1.0052589676941592334,     3.0838856104922207635};
  static constexpr double kLarge[] = {
      -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09, -3.7894654401267369937e-09,
      7.6157012080783393804e-09,  -1.4960026627149240478e-08, 2.9147953450901080826e-08, -6.7711997758452339498e-08,
      2.2900482228026654717e-07,  -9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05,
      7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026, 1.0103004648645343977,
      4.8499064014085844221};
  Value w = m.Neg(m.Op1(Opcode::kLog1p, m.Mul(x, m.Neg(x))));
  Value below_6 = m.Less(w, m.Constant(6.25));
  Value below_16 = m.Less(w, m.Constant(16));
  w = m.Select(below_6, m.Sub(w, m.Constant(3.125)),
               m.Sub(m.Op1(Opcode::kSqrt, w), m.Select(below_16, m.Constant(3.25), m.Constant(5))));
  // The first powers of all ranges are computed together; then the shorter ones keep their value.
  Value p = m.Constant(0);
  auto coefficient = [&](size_t i) {
    Value c = m.Select(below_6, m.Constant(kSmall[i]), m.Constant(kMiddle[i]));
    return i < std::size(kLarge) ? m.Select(below_16, c, m.Constant(kLarge[i])) : c;
  };
  for (size_t i = 0; i < std::size(kSmall); ++i) {
    if (i == 0) {
      p = coefficient(0);
    } else if (i < std::size(kLarge)) {
      p = m.Add(coefficient(i), m.Mul(p, w));
    } else if (i < std::size(kMiddle)) {
      p = m.Select(below_16, m.Add(coefficient(i), m.Mul(p, w)), p);
    } else {
      p = m.Select(below_6, m.Add(m.Mul(p, w), m.Constant(kSmall[i])), p);
    }
  }
  return m.Mul(p, x);
}

Value ErfInv(ChloMath& m, Value x, bool is_double) {
  Value is_one = m.Equal(m.Abs(x), m.Constant(1));
  Value infinite = m.Mul(x, m.Constant(HUGE_VAL));
  return m.Select(is_one, infinite, is_double ? ErfInvDouble(m, x) : ErfInvSingle(m, x));
}

// Lanczos's approximation of the gamma function with g = 7.
constexpr double kLanczosGamma = 7;
constexpr double kBaseLanczos = 0.99999999999980993227684700473478;
constexpr double kLanczos[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                               771.3234287776530788486528258894,   -176.61502916214059906584551354,
                               12.507343278686904814458936853,     -0.13857109526572011689554707,
                               9.984369578019570859563e-6,         1.50563273514931155834e-7};

}  // namespace

Value Lgamma(ChloMath& m, Value x) {
  Value half = m.Constant(0.5), one = m.Constant(1), infinity = m.Constant(HUGE_VAL);
  Value reflect = m.Less(x, half);
  Value z = m.Select(reflect, m.Neg(x), m.Sub(x, one));
  Value sum = m.Constant(kBaseLanczos);
  for (size_t i = 0; i < std::size(kLanczos); ++i) {
    Value term = m.Div(m.Constant(kLanczos[i]), m.Add(z, m.Constant(static_cast<double>(i + 1))));
    sum = i == 0 ? m.Add(term, sum) : m.Add(sum, term);
  }
  Value base = m.Constant(kLanczosGamma + 0.5);
  Value log_t = m.Add(m.Op1(Opcode::kLog1p, m.Div(z, base)), m.Constant(std::log(kLanczosGamma + 0.5)));
  Value t = m.Add(z, base);
  // (z + 1/2 - t / log t) log t keeps precision for large z.
  Value log_y = m.Add(m.Add(m.Mul(m.Sub(m.Add(z, half), m.Div(t, log_t)), log_t),
                            m.Constant((std::log(2.0) + std::log(M_PI)) / 2)),
                      m.Op1(Opcode::kLog, sum));
  // lgamma(x) = log(pi) - log|sin(pi x)| - lgamma(1 - x) for x < 1/2.
  Value magnitude = m.Abs(x);
  Value fraction = m.Sub(magnitude, m.Op1(Opcode::kFloor, magnitude));
  fraction = m.Select(m.Less(half, fraction), m.Sub(one, fraction), fraction);
  Value log_sine = m.Op1(Opcode::kLog, m.Op1(Opcode::kSin, m.Mul(fraction, m.Constant(M_PI))));
  Value reflected = m.Select(m.Op1(Opcode::kIsFinite, log_sine),
                             m.Sub(m.Sub(m.Constant(std::log(M_PI)), log_sine), log_y), m.Neg(log_sine));
  Value is_infinite = m.Equal(m.Abs(x), infinity);
  return m.Select(is_infinite, infinity, m.Select(reflect, reflected, log_y));
}

Value Digamma(ChloMath& m, Value x) {
  Value zero = m.Constant(0), half = m.Constant(0.5), one = m.Constant(1);
  Value reflect = m.Less(x, half);
  Value z = m.Select(reflect, m.Neg(x), m.Sub(x, one));
  Value numerator = zero, denominator = m.Constant(kBaseLanczos);
  for (size_t i = 0; i < std::size(kLanczos); ++i) {
    Value at = m.Add(z, m.Constant(static_cast<double>(i + 1)));
    Value coefficient = m.Constant(kLanczos[i]);
    numerator = m.Sub(numerator, m.Div(coefficient, m.Mul(at, at)));
    Value term = m.Div(coefficient, at);
    denominator = i == 0 ? m.Add(term, denominator) : m.Add(denominator, term);
  }
  Value base = m.Constant(kLanczosGamma + 0.5);
  Value t = m.Add(z, base);
  Value log_t = m.Add(m.Op1(Opcode::kLog1p, m.Div(z, base)), m.Constant(std::log(kLanczosGamma + 0.5)));
  Value y = m.Sub(m.Add(log_t, m.Div(numerator, denominator)), m.Div(m.Constant(kLanczosGamma), t));
  // digamma(x) = digamma(1 - x) - pi / tan(pi x), with x reduced to [-1/2, 1/2].
  Value pi = m.Constant(M_PI);
  Value reduced = m.Mul(m.Add(x, m.Abs(m.Op1(Opcode::kFloor, m.Add(x, half)))), pi);
  Value cotangent = m.Div(m.Mul(m.Op1(Opcode::kCos, reduced), pi), m.Op1(Opcode::kSin, reduced));
  Value value = m.Select(reflect, m.Sub(y, cotangent), y);
  Value is_pole = m.And(m.Less(x, zero), m.Equal(x, m.Op1(Opcode::kFloor, x)));
  value = m.Select(is_pole, m.Constant(std::nan("")), value);
  return m.Select(m.Equal(x, zero), m.Constant(-HUGE_VAL), value);
}

namespace {

// Cephes's approximations of erf for |x| < 1 and of erfc beyond, single precision.
Value ErfcSingle(ChloMath& m, Value x) {
  static constexpr double kErf[] = {7.853861353153693e-5, -8.010193625184903e-4, 5.188327685732524e-3,
                                    -2.685381193529856e-2, 1.128358514861418e-1, -3.761262582423300e-1,
                                    1.128379165726710};
  static constexpr double kBelow2[] = {2.326819970068386e-2,  -1.387039388740657e-1, 3.687424674597105e-1,
                                       -5.824733027278666e-1, 6.210004621745983e-1,  -4.944515323274145e-1,
                                       3.404879937665872e-1,  -2.741127028184656e-1, 5.638259427386472e-1};
  static constexpr double kAbove2[] = {-1.047766399936249e1, 1.297719955372516e1,  -7.495518717768503,
                                       2.921019019210786,    -1.015265279202700,   4.218463358204948e-1,
                                       -2.820767439740514e-1, 5.641895067754075e-1};
  Value one = m.Constant(1), two = m.Constant(2), zero = m.Constant(0);
  Value square = m.Mul(x, x);
  Value small = m.Sub(one, m.Mul(x, m.Polynomial(square, kErf)));
  Value magnitude = m.Abs(x);
  Value exponent = m.Neg(square);
  Value scale = m.Mul(m.Op1(Opcode::kExp, exponent), m.Div(one, magnitude));
  Value inverse = m.Div(one, square);
  Value p = m.Select(m.Less(magnitude, two), m.Polynomial(inverse, kBelow2), m.Polynomial(inverse, kAbove2));
  Value y = m.Select(m.Less(exponent, m.Constant(-88.72283905206835)), zero, m.Mul(scale, p));
  Value large = m.Select(m.Less(x, zero), m.Sub(two, y), y);
  return m.Select(m.Less(magnitude, one), small, large);
}

// The same, double precision: for |x| < 1, for |x| < 8 and beyond.
Value ErfcDouble(ChloMath& m, Value x) {
  static constexpr double kT[] = {9.60497373987051638749, 9.00260197203842689217e1, 2.23200534594684319226e3,
                                  7.00332514112805075473e3, 5.55923013010394962768e4};
  static constexpr double kU[] = {1.0, 3.35617141647503099647e1, 5.21357949780152679795e2,
                                  4.59432382970980127987e3, 2.26290000613890934246e4, 4.92673942608635921086e4};
  static constexpr double kP[] = {2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687,
                                  4.86371970985681366614e1, 1.96520832956077098242e2, 5.26445194995477358631e2,
                                  9.34528527171957607540e2, 1.02755188689515710272e3, 5.57535335369399327526e2};
  static constexpr double kQ[] = {1.0, 1.32281951154744992508e1, 8.67072140885989742329e1,
                                  3.54937778887819891062e2, 9.75708501743205489753e2, 1.82390916687909736289e3,
                                  2.24633760818710981792e3, 1.65666309194161350182e3, 5.57535340817727675546e2};
  static constexpr double kR[] = {5.64189583547755073984e-1, 1.27536670759978104416, 5.01905042251180477414,
                                  6.16021097993053585195, 7.40974269950448939160, 2.97886665372100240670};
  static constexpr double kS[] = {1.0, 2.26052863220117276590, 9.39603524938001434673, 1.20489539808096656605e1,
                                  1.70814450747565897222e1, 9.60896809063285878198, 3.36907645100081516050};
  Value square = m.Mul(x, x), exponent = m.Neg(square), magnitude = m.Abs(x);
  Value e = m.Op1(Opcode::kExp, exponent);
  Value middle = m.Div(m.Mul(e, m.Polynomial(magnitude, kP)), m.Polynomial(magnitude, kQ));
  Value far = m.Div(m.Mul(e, m.Polynomial(magnitude, kR)), m.Polynomial(magnitude, kS));
  Value zero = m.Constant(0), one = m.Constant(1);
  Value y = m.Select(m.Less(magnitude, m.Constant(8)), middle, far);
  y = m.Select(m.Less(exponent, m.Constant(-7.09782712893383996843e2)), zero, y);
  Value large = m.Select(m.Less(x, zero), m.Sub(m.Constant(2), y), y);
  Value small = m.Sub(one, m.Div(m.Mul(x, m.Polynomial(square, kT)), m.Polynomial(square, kU)));
  return m.Select(m.Less(magnitude, one), small, large);
}

// sqrt((1 - x)(1 + x))
Value CosineOfAsin(ChloMath& m, Value x) {
  Value one = m.Constant(1);
  return m.Op1(Opcode::kSqrt, m.Mul(m.Sub(one, x), m.Add(x, one)));
}
Value Acos(ChloMath& m, Value x, bool) { return m.Op2(Opcode::kAtan2, CosineOfAsin(m, x), x); }
Value Asin(ChloMath& m, Value x, bool) { return m.Op2(Opcode::kAtan2, x, CosineOfAsin(m, x)); }

// exp(x - log 2) ± exp(-x - log 2): halves before the exponential, which could overflow.
Value HalfExp(ChloMath& m, Value x, bool negated) {
  Value half = m.Constant(-M_LN2);
  return m.Op1(Opcode::kExp, negated ? m.Sub(half, x) : m.Add(x, half));
}
Value Cosh(ChloMath& m, Value x, bool) { return m.Add(HalfExp(m, x, false), HalfExp(m, x, true)); }
Value Sinh(ChloMath& m, Value x, bool) {
  Value one = m.Constant(1);
  Value is_small = m.Less(m.Abs(x), one);
  Value e = m.Op1(Opcode::kExpm1, x);
  Value small = m.Mul(m.Add(e, m.Div(e, m.Add(e, one))), m.Constant(0.5));
  return m.Select(is_small, small, m.Sub(HalfExp(m, x, false), HalfExp(m, x, true)));
}

double Largest(bool is_double) {
  return is_double ? std::numeric_limits<double>::max() : static_cast<double>(std::numeric_limits<float>::max());
}

// log(x + sqrt(x² + 1)) without cancellation; log(2 |x|) where x² would overflow.
Value Asinh(ChloMath& m, Value x, bool is_double) {
  Value sign = m.Op1(Opcode::kSign, x), magnitude = m.Abs(x), one = m.Constant(1);
  Value is_large = m.Compare(ComparisonDirection::kGe, magnitude, m.Constant(std::sqrt(Largest(is_double))));
  Value large = m.Add(m.Op1(Opcode::kLog, magnitude), m.Constant(M_LN2));
  Value square = m.Mul(magnitude, magnitude);
  Value root = m.Op1(Opcode::kSqrt, m.Add(square, one));
  Value small = m.Op1(Opcode::kLog1p, m.Add(magnitude, m.Div(square, m.Add(root, one))));
  return m.Mul(sign, m.Select(is_large, large, small));
}

// log1p(sqrt(x - 1) (sqrt(x + 1) + sqrt(x - 1)))
Value Acosh(ChloMath& m, Value x, bool is_double) {
  Value is_large = m.Compare(ComparisonDirection::kGe, x, m.Constant(Largest(is_double) / 2));
  Value large = m.Add(m.Op1(Opcode::kLog, x), m.Constant(M_LN2));
  Value one = m.Constant(1);
  Value below = m.Op1(Opcode::kSqrt, m.Sub(x, one)), above = m.Op1(Opcode::kSqrt, m.Add(x, one));
  return m.Select(is_large, large, m.Op1(Opcode::kLog1p, m.Mul(below, m.Add(above, below))));
}

Value Atanh(ChloMath& m, Value x, bool) {
  Value is_outside = m.Compare(ComparisonDirection::kGt, m.Abs(x), m.Constant(1));
  Value difference = m.Sub(m.Op1(Opcode::kLog1p, x), m.Op1(Opcode::kLog1p, m.Neg(x)));
  return m.Select(is_outside, m.Constant(std::nan("")), m.Mul(difference, m.Constant(0.5)));
}

}  // namespace

#define CHLO_FUNCTION(Name, value)                                                                              \
  Status ImportChlo##Name(Importer& importer, const MlirOp& op) {                                               \
    return ImportFloat(importer, op, [](ChloMath& m, std::span<const Value> x, [[maybe_unused]] bool is_double) { \
      return value;                                                                                             \
    });                                                                                                         \
  }
CHLO_FUNCTION(Acos, Acos(m, x[0], is_double))
CHLO_FUNCTION(Acosh, Acosh(m, x[0], is_double))
CHLO_FUNCTION(Asin, Asin(m, x[0], is_double))
CHLO_FUNCTION(Asinh, Asinh(m, x[0], is_double))
CHLO_FUNCTION(Atanh, Atanh(m, x[0], is_double))
CHLO_FUNCTION(Cosh, Cosh(m, x[0], is_double))
CHLO_FUNCTION(Sinh, Sinh(m, x[0], is_double))
CHLO_FUNCTION(ErfInv, ErfInv(m, x[0], is_double))
CHLO_FUNCTION(Lgamma, Lgamma(m, x[0]))
CHLO_FUNCTION(Digamma, Digamma(m, x[0]))
CHLO_FUNCTION(Erfc, is_double ? ErfcDouble(m, x[0]) : ErfcSingle(m, x[0]))
#undef CHLO_FUNCTION

// The next number after x in the direction of y: the bits of x plus or minus one.
Status ImportChloNextAfter(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(x, importer.Operand(op, 0));
  SHOAL_ASSIGN(y, importer.Operand(op, 1));
  if (!x->shape().IsArray() || !IsFloat(x->shape().element_type()))
    return importer.Refused(op, "the op needs floating-point numbers");
  const ElementType type = x->shape().element_type();
  const int width = BitWidth(type);
  const ElementType bits = width == 64   ? ElementType::kS64
                           : width == 32 ? ElementType::kS32
                           : width == 16 ? ElementType::kS16
                                         : ElementType::kS8;
  const Shape* shape = importer.module().shapes.WithDefaultLayout(x->shape());
  ChloMath m(importer, *shape);
  auto number = [&](double value) { return m.ConstantOf(bits, value); };
  Value is_nan = m.Or(m.Compare(ComparisonDirection::kNe, x, x), m.Compare(ComparisonDirection::kNe, y, y));
  Value nan_bits = m.Bits(m.Constant(std::nan("")), bits);
  Value equal = m.Equal(x, y);
  Value x_bits = m.Bits(x, bits), y_bits = m.Bits(y, bits);
  const double sign = -std::ldexp(1.0, width - 1);
  Value sign_mask = number(sign);
  Value magnitude_mask = m.Op1(Opcode::kNot, sign_mask);
  Value x_magnitude = m.And(x_bits, magnitude_mask), y_magnitude = m.And(y_bits, magnitude_mask);
  Value zero = number(0), one = number(1);
  Value x_is_zero = m.Equal(x_magnitude, zero), y_is_zero = m.Equal(y_magnitude, zero);
  Value x_sign = m.And(x_bits, sign_mask), y_sign = m.And(y_bits, sign_mask);
  Value smallest = m.Or(y_sign, one);
  Value from_zero = m.Select(y_is_zero, y_bits, smallest);
  Value down = m.Or(m.Compare(ComparisonDirection::kGt, x_magnitude, y_magnitude),
                    m.Compare(ComparisonDirection::kNe, x_sign, y_sign));
  Value stepped = m.Add(x_bits, m.Select(down, number(-1), one));
  Value result = m.Select(x_is_zero, from_zero, stepped);
  result = m.Select(is_nan, nan_bits, m.Select(equal, y_bits, result));
  Value value = m.Bits(result, type);
  SHOAL_TRY(std::move(m.status));
  return importer.SetResult(op, value);
}

}  // namespace shoal::internal
