#include "core/ops/structure.h"

namespace shoal::internal {

ShapeResult Op<Opcode::kParameter>::Infer(const Instruction& hlo, ShapePool&) { return hlo.shape_; }

ShapeResult Op<Opcode::kConstant>::Infer(const Instruction& hlo, ShapePool&) {
  const Literal* value = hlo[kConstantValue];
  return value != nullptr ? value->shape : hlo.shape_;  // protobufs may omit the value
}

Status Op<Opcode::kTuple>::Normalize(Instruction& hlo, Module&) {
  if (hlo.shape_ == nullptr) return {};
  if (hlo.shape().IsTuple() && hlo.shape().elements().size() == hlo.operand_count()) return {};
  return Broken(hlo, "C1",
                StrCat("the result must be a tuple of ", Count(hlo.operand_count(), "element"),
                       ", one per operand, got ", Str(hlo.shape())));
}

ShapeResult Op<Opcode::kTuple>::Infer(const Instruction& hlo, ShapePool& shapes) {
  std::vector<const Shape*> elements;
  elements.reserve(hlo.operand_count());
  for (const Instruction* operand : hlo.operands) elements.push_back(operand->shape_);
  return shapes.Tuple(elements);
}

ShapeResult Op<Opcode::kGetTupleElement>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandCount(hlo, 1));
  const Shape& operand = hlo.operand_shape(0);
  if (!operand.IsTuple()) return Broken(hlo, "C1", StrCat("operand 0 must be a tuple, got ", Str(operand)));
  const int64_t index = hlo[kIndex];
  const int64_t count = static_cast<int64_t>(operand.elements().size());
  if (index < 0 || index >= count) return Broken(hlo, "C2", StrCat("index must lie in [0, ", count, "), got ", index));
  return operand.elements()[index];
}

Status Op<Opcode::kAfterAll>::Normalize(Instruction& hlo, Module& module) {
  if (hlo.shape_ != nullptr) hlo.shape_ = module.shapes.Token();
  return {};
}

ShapeResult Op<Opcode::kAfterAll>::Infer(const Instruction&, ShapePool& shapes) { return shapes.Token(); }

Status Op<Opcode::kAddDependency>::Normalize(Instruction& hlo, Module&) {
  if (hlo.shape_ != nullptr && hlo.operand_count() > 0) hlo.shape_ = hlo.operands[0]->shape_;
  return {};
}

ShapeResult Op<Opcode::kAddDependency>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandCount(hlo, 2));
  if (!hlo.operand_shape(1).IsToken())
    return Broken(hlo, "C1", StrCat("operand 1 must be a token, got ", Str(hlo.operand_shape(1))));
  return hlo.operands[0]->shape_;
}

ShapeResult Op<Opcode::kOptimizationBarrier>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandCount(hlo, 1));
  return hlo.operands[0]->shape_;
}

Status Op<Opcode::kDomain>::Normalize(Instruction& hlo, Module&) {
  const Domain* domain = hlo[kDomain];
  if (domain == nullptr || domain->kind == "sharding") return {};
  return Broken(hlo, "C1", StrCat("the kind of a domain must be \"sharding\", got \"", domain->kind, "\""));
}

ShapeResult Op<Opcode::kDomain>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandCount(hlo, 1));
  return hlo.operands[0]->shape_;
}

}  // namespace shoal::internal
