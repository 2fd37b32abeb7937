// Expands batched dots of small vectors, and of vectors with matrices, into a multiply and a reduce, which fuse into
// one loop nest. A library call for each batch element would cost more than the arithmetic.
#include <algorithm>
#include <numeric>

#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

// The operands of a dot in which one operand, `full`, has all dimensions of the other, `vector`.
struct DotSides {
  Instruction *full = nullptr, *vector = nullptr;
  Ints batch, contracted;               // dimensions of `full`
  std::vector<int64_t> vector_to_full;  // for each dimension of `vector`, the dimension of `full`
};

std::optional<DotSides> DotSidesOf(const Instruction& dot, bool swapped) {
  const Ints lhs_batch = dot[kLhsBatchDims], rhs_batch = dot[kRhsBatchDims];
  const Ints lhs_contracted = dot[kLhsContractingDims], rhs_contracted = dot[kRhsContractingDims];
  DotSides sides{dot.operands[swapped ? 1 : 0], dot.operands[swapped ? 0 : 1], swapped ? rhs_batch : lhs_batch,
              swapped ? rhs_contracted : lhs_contracted, {}};
  const Ints batch = swapped ? lhs_batch : rhs_batch, contracted = swapped ? lhs_contracted : rhs_contracted;
  const int64_t rank = sides.vector->shape().rank();
  if (rank != std::ssize(batch) + std::ssize(contracted)) return std::nullopt;
  sides.vector_to_full.resize(static_cast<size_t>(rank));
  for (size_t i = 0; i < batch.size(); ++i) sides.vector_to_full[static_cast<size_t>(batch[i])] = sides.batch[i];
  for (size_t i = 0; i < contracted.size(); ++i) sides.vector_to_full[static_cast<size_t>(contracted[i])] = sides.contracted[i];
  // The kept dimensions of `full` are in the order of the result only if the batch dimensions come first.
  for (size_t i = 0; i < sides.batch.size(); ++i)
    if (sides.batch[i] != static_cast<int64_t>(i)) return std::nullopt;
  return sides;
}

// Returns the vector, transposed if its dimensions are not in the order of `full`.
Instruction* VectorInFullOrder(const Instruction& dot, DotSides& sides, Module& module, Computation& computation) {
  if (std::is_sorted(sides.vector_to_full.begin(), sides.vector_to_full.end())) return sides.vector;
  std::vector<int64_t> order(sides.vector_to_full.size()), dims;
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return sides.vector_to_full[static_cast<size_t>(a)] < sides.vector_to_full[static_cast<size_t>(b)];
  });
  for (int64_t d : order) dims.push_back(sides.vector->shape().dim(d));
  std::sort(sides.vector_to_full.begin(), sides.vector_to_full.end());
  const Shape* shape = module.shapes.Array(ElementType::kF32, dims);
  return NewTranspose(module, computation, shape, sides.vector, order, dot);
}

std::optional<DotSides> ExpandableSides(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kDot || !hlo[kControlPredecessors].empty() || hlo.shape().has_dynamic()) return std::nullopt;
  for (const Instruction* operand : hlo.operands)
    if (operand->shape().element_type() != ElementType::kF32 || operand->shape().has_dynamic()) return std::nullopt;
  if (hlo.shape().element_type() != ElementType::kF32 || hlo[kLhsContractingDims].empty()) return std::nullopt;
  int64_t batch = 1;
  for (int64_t d : hlo[kLhsBatchDims]) batch *= hlo.operand_shape(0).dim(d);
  if (batch < 2 || hlo.operand_shape(0).ElementCount().value_or(0) <= 0 || hlo.shape().ElementCount().value_or(0) <= 0)
    return std::nullopt;
  if (std::optional<DotSides> sides = DotSidesOf(hlo, false)) return sides;
  return DotSidesOf(hlo, true);
}

// The dimensions of an outer product's operand, as dimensions of the result. Excludes contracting dimensions (size 1).
struct Factor {
  std::vector<int64_t> dims, sizes;
};

std::optional<Factor> FactorOf(const Shape& shape, Ints batch, Ints contracted, int64_t first_free) {
  Factor factor;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const auto in = [&](Ints dims) { return std::find(dims.begin(), dims.end(), d); };
    if (in(contracted) != contracted.end()) {
      if (shape.dim(d) != 1) return std::nullopt;
      continue;
    }
    const auto at = in(batch);
    factor.dims.push_back(at != batch.end() ? at - batch.begin() : first_free++);
    factor.sizes.push_back(shape.dim(d));
  }
  return std::is_sorted(factor.dims.begin(), factor.dims.end()) ? std::optional(factor) : std::nullopt;
}

// For a dot without a sum: broadcasts both operands to the result's shape and multiplies them. Null for other dots.
Instruction* OuterProduct(Instruction& dot, Module& module, Computation& computation) {
  if (dot.opcode != Opcode::kDot || !dot[kControlPredecessors].empty() || dot.shape().has_dynamic() || ElementsOf(dot) <= 0) return nullptr;
  for (const Instruction* operand : dot.operands)
    if (operand->shape().element_type() != dot.shape().element_type() || operand->shape().has_dynamic()) return nullptr;
  if (!IsLoopType(dot.shape().element_type()) || dot.shape().element_type() == ElementType::kPred || dot.operand_count() != 2) return nullptr;
  const Ints batch = dot[kLhsBatchDims];
  const int64_t lhs_free = dot.operand_shape(0).rank() - std::ssize(batch) - std::ssize(dot[kLhsContractingDims]);
  const auto lhs = FactorOf(dot.operand_shape(0), batch, dot[kLhsContractingDims], std::ssize(batch));
  const auto rhs = FactorOf(dot.operand_shape(1), dot[kRhsBatchDims], dot[kRhsContractingDims], std::ssize(batch) + lhs_free);
  if (!lhs || !rhs) return nullptr;
  const auto broadcast = [&](Instruction* operand, const Factor& factor) {
    const Shape* plain = module.shapes.Array(dot.shape().element_type(), factor.sizes);
    Instruction* reshaped = NewReshape(module, computation, plain, operand, dot);
    return NewBroadcast(module, computation, dot.shape_, reshaped, factor.dims, dot);
  };
  Instruction* left = broadcast(dot.operands[0], *lhs);
  Instruction* right = broadcast(dot.operands[1], *rhs);
  return NewInstruction(module, computation, Opcode::kMultiply, dot.shape_, std::vector{left, right}, dot);
}

Computation* NewSum(Module& module, const Instruction& like) {
  Computation* sum = module.NewComputation("sum");
  sum->at = like.at;
  const Shape* scalar = module.shapes.Array(ElementType::kF32, {});
  for (int64_t i = 0; i < 2; ++i) NewParameter(module, *sum, scalar, like);
  sum->root = NewInstruction(module, *sum, Opcode::kAdd, scalar, sum->parameters, like);
  return sum;
}

Instruction* ExpandDot(const Instruction& dot, DotSides sides, Module& module, Computation& computation, Computation& sum) {
  const Shape* full = module.shapes.Array(ElementType::kF32, sides.full->shape().dims());
  Instruction* vector = VectorInFullOrder(dot, sides, module, computation);
  if (vector->shape().rank() != full->rank())
    vector = NewBroadcast(module, computation, full, vector, sides.vector_to_full, dot);
  Instruction* product = NewInstruction(module, computation, Opcode::kMultiply, full, std::vector{sides.full, vector}, dot);
  Instruction* zero = NewInstruction(module, computation, Opcode::kConstant, module.shapes.Array(ElementType::kF32, {}), {}, dot);
  Literal value;
  value.shape = zero->shape_;
  value.data = module.arena.NewSpan<std::byte>(sizeof(float));
  std::fill(value.data.begin(), value.data.end(), std::byte{0});
  SetAttr(*zero, module, kConstantValue.id, static_cast<const Literal*>(module.arena.New<Literal>(value)));
  Instruction* reduced = NewInstruction(module, computation, Opcode::kReduce, dot.shape_, std::vector{product, zero}, dot);
  std::vector<int64_t> dimensions(sides.contracted.begin(), sides.contracted.end());
  std::sort(dimensions.begin(), dimensions.end());
  SetAttr(*reduced, module, kDimensions, Ints(module.arena.Copy(dimensions)));
  SetAttr(*reduced, module, kToApply, &sum);
  return reduced;
}

}  // namespace

Result<bool> ExpandDots(Module& module, const PassContext& context) {
  Computation* sum = nullptr;
  bool any = false;
  const auto embedded = EmbeddedComputations(module);
  const std::vector<Computation*> all = module.computations;
  for (Computation* computation : all) {
    if (embedded.contains(computation)) continue;
    Replacements replacements;
    const std::vector<Instruction*> before = computation->instructions;
    for (Instruction* hlo : before) {
      if (Instruction* product = OuterProduct(*hlo, module, *computation)) {
        replacements[hlo] = product;
        continue;
      }
      const std::optional<DotSides> sides = ExpandableSides(*hlo);
      if (!sides) continue;
      if (sum == nullptr) sum = NewSum(module, *hlo);
      replacements[hlo] = ExpandDot(*hlo, *sides, module, *computation, *sum);
    }
    if (replacements.empty()) continue;
    any = true;
    Apply(replacements, module, *computation);
    SortTopologically(*computation);
  }
  if (!any) return false;
  if (sum != nullptr) module.computations.insert(module.computations.begin(), sum);
  return RemoveDeadCode(module, context);
}

}  // namespace shoal::internal
