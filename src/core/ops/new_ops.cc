#include "core/ops/new_ops.h"

#include "core/ir/sizes.h"
#include "core/ops/families.h"

namespace shoal::internal {

Instruction* NewTuple(Module& module, Computation& computation, std::span<Instruction* const> elements,
                      const Instruction& instead_of) {
  std::vector<const Shape*> shapes;
  for (const Instruction* element : elements) shapes.push_back(element->shape_);
  return NewInstruction(module, computation, Opcode::kTuple, module.shapes.Tuple(shapes), elements, instead_of);
}

Instruction* NewGetTupleElement(Module& module, Computation& computation, Instruction* tuple, int64_t index,
                                const Instruction& instead_of) {
  Instruction* const operands[] = {tuple};
  const Shape* shape = tuple->shape().elements()[static_cast<size_t>(index)];
  Instruction* element = NewInstruction(module, computation, Opcode::kGetTupleElement, shape, operands, instead_of);
  SetAttr(*element, module, Op<Opcode::kGetTupleElement>::kIndex, index);
  return element;
}

Instruction* NewParameter(Module& module, Computation& computation, const Shape* shape, const Instruction& instead_of) {
  Instruction* parameter = NewInstruction(module, computation, Opcode::kParameter, shape, {}, instead_of);
  SetAttr(*parameter, module, kParameterNumber, std::ssize(computation.parameters));
  computation.parameters.push_back(parameter);
  return parameter;
}

Instruction* NewCall(Module& module, Computation& computation, Computation& callee, std::span<Instruction* const> arguments,
                     const Instruction& instead_of) {
  Instruction* call = NewInstruction(module, computation, Opcode::kCall, callee.root->shape_, arguments, instead_of);
  SetAttr(*call, module, kToApply, &callee);
  return call;
}

Instruction* NewConstant(Module& module, Computation& computation, const Shape* shape, const Instruction& instead_of) {
  return NewInstruction(module, computation, Opcode::kConstant, shape, {}, instead_of);
}

Instruction* NewReshape(Module& module, Computation& computation, const Shape* shape, Instruction* operand,
                        const Instruction& instead_of) {
  Instruction* const operands[] = {operand};
  return NewInstruction(module, computation, Opcode::kReshape, shape, operands, instead_of);
}

namespace {

// A new op with the attribute `dimensions`.
Instruction* NewIndexMap(Module& module, Computation& computation, Opcode opcode, const Shape* shape, Instruction* operand,
                         std::span<const int64_t> dimensions, const Instruction& instead_of) {
  Instruction* const operands[] = {operand};
  Instruction* op = NewInstruction(module, computation, opcode, shape, operands, instead_of);
  SetAttr(*op, module, kDimensions, Ints(module.arena.Copy(dimensions)));
  return op;
}

}  // namespace

Instruction* NewTranspose(Module& module, Computation& computation, const Shape* shape, Instruction* operand,
                          std::span<const int64_t> dimensions, const Instruction& instead_of) {
  return NewIndexMap(module, computation, Opcode::kTranspose, shape, operand, dimensions, instead_of);
}

Instruction* NewBroadcast(Module& module, Computation& computation, const Shape* shape, Instruction* operand,
                          std::span<const int64_t> dimensions, const Instruction& instead_of) {
  return NewIndexMap(module, computation, Opcode::kBroadcast, shape, operand, dimensions, instead_of);
}

Instruction* NewSlice(Module& module, Computation& computation, Instruction* operand, const SlicedDim& sliced,
                      const Instruction& instead_of) {
  const Shape& whole = operand->shape();
  const auto along = static_cast<size_t>(sliced.d);
  std::vector<int64_t> dims(whole.dims().begin(), whole.dims().end());
  std::span<SliceRange> ranges = module.arena.NewSpan<SliceRange>(dims.size());
  for (size_t d = 0; d < ranges.size(); ++d) ranges[d] = {0, dims[d], 1};
  ranges[along] = {sliced.start, sliced.limit, sliced.stride};
  dims[along] = CeilDiv(sliced.limit - sliced.start, sliced.stride);
  Instruction* const operands[] = {operand};
  Instruction* slice = NewInstruction(module, computation, Opcode::kSlice, module.shapes.Array(whole.element_type(), dims),
                                      operands, instead_of);
  SetAttr(*slice, module, Op<Opcode::kSlice>::kSlice, std::span<const SliceRange>(ranges));
  return slice;
}

void TurnIntoReshape(Instruction& transpose, Module& module) {
  transpose.opcode = Opcode::kReshape;
  DropAttr(transpose, module, kDimensions.id);
}

bool TurnReshapeIntoBitcast(Instruction& hlo, Module& module) {
  if (hlo.opcode != Opcode::kReshape || !hlo.shape().IsArray() || hlo.shape().has_dynamic()) return false;
  for (const Shape* shape : {hlo.shape_, hlo.operands[0]->shape_})
    if (module.shapes.WithDefaultLayout(*shape) != shape) return false;
  hlo.opcode = Opcode::kBitcast;
  return true;
}

}  // namespace shoal::internal
