// Expressions of CHLO's mathematical functions, which XLA expands by formulas. Private to formats/stablehlo.
#pragma once

#include "core/ops/elementwise.h"
#include "formats/stablehlo/importer.h"

namespace shoal::internal {

using Value = Instruction*;

// Builds expressions. The first error is in `status`; a failed operation returns its first operand.
class ChloMath {
 public:
  ChloMath(Importer& importer, const Shape& shape) : importer_(importer), shape_(shape) {}

  Status status;

  Value Constant(double value) { return ConstantOf(shape_.element_type(), value); }
  Value ConstantOf(ElementType type, double value) {
    return Check(importer_.AddSplat(*importer_.module().shapes.WithType(shape_, type), value), nullptr);
  }
  Value Op1(Opcode opcode, Value x, const Shape* shape = nullptr) {
    return Check(importer_.Add(opcode, {x}, {}, shape), x);
  }
  Value Op2(Opcode opcode, Value x, Value y) { return Check(importer_.Add(opcode, {x, y}), x); }
  Value Add(Value x, Value y) { return Op2(Opcode::kAdd, x, y); }
  Value Sub(Value x, Value y) { return Op2(Opcode::kSubtract, x, y); }
  Value Mul(Value x, Value y) { return Op2(Opcode::kMultiply, x, y); }
  Value Div(Value x, Value y) { return Op2(Opcode::kDivide, x, y); }
  Value And(Value x, Value y) { return Op2(Opcode::kAnd, x, y); }
  Value Or(Value x, Value y) { return Op2(Opcode::kOr, x, y); }
  Value Neg(Value x) { return Op1(Opcode::kNegate, x); }
  Value Abs(Value x) { return Op1(Opcode::kAbs, x); }
  Value Select(Value p, Value x, Value y) { return Check(importer_.Add(Opcode::kSelect, {p, x, y}), x); }
  Value Compare(ComparisonDirection direction, Value x, Value y) {
    const EnumValue value{static_cast<uint8_t>(direction)};
    return Check(importer_.Add(Opcode::kCompare, {x, y}, {{Op<Opcode::kCompare>::kDirection.id, value}}), x);
  }
  Value Less(Value x, Value y) { return Compare(ComparisonDirection::kLt, x, y); }
  Value Equal(Value x, Value y) { return Compare(ComparisonDirection::kEq, x, y); }
  Value Convert(Value x, ElementType type) {
    return Op1(Opcode::kConvert, x, importer_.module().shapes.WithType(shape_, type));
  }
  Value Bits(Value x, ElementType type) {
    return Op1(Opcode::kBitcastConvert, x, importer_.module().shapes.WithType(shape_, type));
  }
  // Horner's rule, from the highest power.
  Value Polynomial(Value x, std::span<const double> coefficients) {
    Value sum = Constant(coefficients[0]);
    for (size_t i = 1; i < coefficients.size(); ++i) sum = Add(Mul(sum, x), Constant(coefficients[i]));
    return sum;
  }

 private:
  Value Check(Result<Instruction*> made, Value otherwise) {
    if (made.ok()) return *made;
    if (status.ok()) status = std::move(made.diag());
    return otherwise;
  }

  Importer& importer_;
  const Shape& shape_;
};

// Computes a function of all operands in f32 if they are narrower.
using ChloFunction = Value (*)(ChloMath& math, std::span<const Value> operands, bool is_double);
Status ImportChloFunction(Importer& importer, const MlirOp& op, ChloFunction function);

// import_chlo_math.cc
Value Lgamma(ChloMath& m, Value x);
Value Digamma(ChloMath& m, Value x);

}  // namespace shoal::internal
