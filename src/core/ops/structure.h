// Ops that do no work: parameters, constants, tuples, tokens.
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

struct Structure : OpBase {
  static constexpr OpClass kClass = OpClass::kStructure;
};

// The values in the parentheses of parameter(0) and constant(1.5), where other ops have operands. They are not written
// as attributes, so they are not in kAttrs.
inline constexpr Attr<int64_t> kParameterNumber{"(parameter number)"};
inline constexpr Attr<const Literal*> kConstantValue{"(value)"};

// parameter: argument number n of the computation.
template <>
struct Op<Opcode::kParameter> : Structure {
  static constexpr std::array kAttrs{IfGiven(kParameterReplication)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static constexpr auto Cost = &NoCost;
};

// constant: a literal value.
template <>
struct Op<Opcode::kConstant> : Structure {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static constexpr auto Cost = &NoCost;
};

// tuple: (operand0, operand1, …).
template <>
struct Op<Opcode::kTuple> : Structure {
  static constexpr bool kInfersShape = true;
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// get-tuple-element: operand0's element number index.
template <>
struct Op<Opcode::kGetTupleElement> : Structure {
  static constexpr Attr<int64_t> kIndex{"index"};
  static constexpr std::array kAttrs{Required(kIndex)};
  static constexpr bool kInfersShape = true;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static constexpr auto Cost = &NoCost;
};

// after-all: a token that waits for the operands' tokens.
template <>
struct Op<Opcode::kAfterAll> : Structure {
  static constexpr bool kInfersShape = true;
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static constexpr auto Cost = &NoCost;
};

// add-dependency: operand0, available only after the token operand1.
template <>
struct Op<Opcode::kAddDependency> : Structure {
  static constexpr bool kInfersShape = true;
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static constexpr auto Cost = &NoCost;
};

// opt-barrier: operand0; no op is moved across it.
template <>
struct Op<Opcode::kOptimizationBarrier> : Structure {
  static constexpr bool kInfersShape = true;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// domain: operand0; marks a change of the sharding.
template <>
struct Op<Opcode::kDomain> : Structure {
  static constexpr Attr<const Domain*> kDomain{"domain"};
  static constexpr std::array kAttrs{Required(kDomain)};
  static constexpr bool kInfersShape = true;
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static constexpr auto Cost = &NoCost;
};

}  // namespace shoal::internal
