// Rewrites batch normalizations as reductions and elementwise ops, which are computed in f64 and rounded once, as the
// interpreter does.
#include <algorithm>
#include <cstring>

#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/linear_algebra.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

class BatchNormExpander {
 public:
  BatchNormExpander(const Instruction& hlo, Module& module, Computation& computation)
      : hlo_(hlo), module_(module), computation_(computation), feature_(hlo[kFeatureIndex]) {
    const Ints dims = hlo.operand_shape(0).dims();
    full_ = module.shapes.Array(ElementType::kF64, dims);
    features_ = module.shapes.Array(ElementType::kF64, dims.subspan(static_cast<size_t>(feature_), 1));
    per_feature_ = static_cast<double>(*full_->ElementCount() / *features_->ElementCount());
  }

  Instruction* Training() {
    Instruction* x = Operand(0);
    Instruction* mean = Apply(Opcode::kDivide, {Sum(x), Number(per_feature_)});
    Instruction* square = Apply(Opcode::kDivide, {Sum(Apply(Opcode::kMultiply, {x, x})), Number(per_feature_)});
    Instruction* variance = Apply(Opcode::kSubtract, {square, Apply(Opcode::kMultiply, {mean, mean})});
    Instruction* results[] = {Normalized(x, mean, variance), Result(mean, 1), Result(variance, 2)};
    return NewTuple(module_, computation_, results, hlo_);
  }

  Instruction* Inference() { return Normalized(Operand(0), Operand(3), Operand(4)); }

  Instruction* Gradient() {
    Instruction *mean = Operand(2), *gradient = Operand(4);
    Instruction* variance = Apply(Opcode::kAdd, {Operand(3), Number(hlo_[kEpsilon])});
    Instruction* inverse = Apply(Opcode::kDivide, {Number(1), Apply(Opcode::kSqrt, {variance})});
    Instruction* centered = Apply(Opcode::kSubtract, {Operand(0), Spread(mean)});
    Instruction* sum = Sum(gradient);
    Instruction* moment = Sum(Apply(Opcode::kMultiply, {gradient, centered}));
    Instruction* correction = Apply(Opcode::kMultiply, {centered, Spread(Apply(Opcode::kDivide, {moment, variance}))});
    Instruction* scaled = Apply(Opcode::kMultiply, {gradient, Spread(Number(per_feature_))});
    Instruction* rest = Apply(Opcode::kSubtract, {Apply(Opcode::kSubtract, {scaled, Spread(sum)}), correction});
    Instruction* factor = Apply(Opcode::kDivide, {Apply(Opcode::kMultiply, {Operand(1), inverse}), Number(per_feature_)});
    Instruction* results[] = {Result(Apply(Opcode::kMultiply, {Spread(factor), rest}), 0),
                              Result(Apply(Opcode::kMultiply, {moment, inverse}), 1), Result(sum, 2)};
    return NewTuple(module_, computation_, results, hlo_);
  }

 private:
  Instruction* Apply(Opcode opcode, std::initializer_list<Instruction*> operands) {
    return NewInstruction(module_, computation_, opcode, (*operands.begin())->shape_, std::span(operands.begin(), operands.size()), hlo_);
  }
  Instruction* Converted(Instruction* value, const Shape* shape) {
    Instruction* const operands[] = {value};
    return value->shape().element_type() == shape->element_type()
               ? value
               : NewInstruction(module_, computation_, Opcode::kConvert, shape, operands, hlo_);
  }
  Instruction* Operand(size_t i) { return Converted(hlo_.operands[i], i == 0 || hlo_.operand_shape(i).rank() > 1 ? full_ : features_); }
  // Rounds to the type of a result.
  Instruction* Result(Instruction* value, int64_t i) { return Converted(value, hlo_.shape().IsTuple() ? &hlo_.shape().element(i) : hlo_.shape_); }

  Instruction* Scalar(double value) {
    Literal literal;
    literal.shape = module_.shapes.Array(ElementType::kF64, {});
    literal.data = module_.arena.NewSpan<std::byte>(sizeof(value));
    std::memcpy(literal.data.data(), &value, sizeof(value));
    Instruction* constant = NewConstant(module_, computation_, literal.shape, hlo_);
    SetAttr(*constant, module_, kConstantValue.id, static_cast<const Literal*>(module_.arena.New<Literal>(literal)));
    return constant;
  }
  // The number for each feature.
  Instruction* Number(double value) { return NewBroadcast(module_, computation_, features_, Scalar(value), {}, hlo_); }
  // The number of each feature for all its elements.
  Instruction* Spread(Instruction* value) { return NewBroadcast(module_, computation_, full_, value, std::array{feature_}, hlo_); }

  Instruction* Sum(Instruction* value) {
    Computation* add = module_.NewComputation("sum");
    add->at = hlo_.parent->at;
    const Shape* scalar = module_.shapes.Array(ElementType::kF64, {});
    for (int64_t i = 0; i < 2; ++i) NewParameter(module_, *add, scalar, hlo_);
    add->root = NewInstruction(module_, *add, Opcode::kAdd, scalar, add->parameters, hlo_);
    module_.computations.push_back(add);
    Instruction* const operands[] = {value, Scalar(0)};
    Instruction* sum = NewInstruction(module_, computation_, Opcode::kReduce, features_, operands, hlo_);
    std::vector<int64_t> reduced;
    for (int64_t d = 0; d < full_->rank(); ++d)
      if (d != feature_) reduced.push_back(d);
    SetAttr(*sum, module_, kDimensions, Ints(module_.arena.Copy(reduced)));
    SetAttr(*sum, module_, kToApply, add);
    return sum;
  }

  // (x - mean) / sqrt(variance + epsilon) * scale + offset, rounded
  Instruction* Normalized(Instruction* x, Instruction* mean, Instruction* variance) {
    Instruction* deviation = Apply(Opcode::kSqrt, {Apply(Opcode::kAdd, {variance, Number(hlo_[kEpsilon])})});
    Instruction* inverse = Apply(Opcode::kDivide, {Number(1), deviation});
    Instruction* y = Apply(Opcode::kMultiply, {Apply(Opcode::kSubtract, {x, Spread(mean)}), Spread(inverse)});
    y = Apply(Opcode::kMultiply, {y, Spread(Operand(1))});
    return Result(Apply(Opcode::kAdd, {y, Spread(Operand(2))}), 0);
  }

  const Instruction& hlo_;
  Module& module_;
  Computation& computation_;
  int64_t feature_;
  const Shape *full_ = nullptr, *features_ = nullptr;  // of f64
  double per_feature_ = 1;
};

bool HasStaticFloats(const Instruction& hlo) {
  if (!hlo[kControlPredecessors].empty()) return false;
  return std::all_of(hlo.operands.begin(), hlo.operands.end(), [](const Instruction* operand) {
    const Shape& shape = operand->shape();
    return shape.IsArray() && !shape.has_dynamic() && shape.ElementCount().value_or(0) > 0 && IsFloat(shape.element_type());
  });
}

Instruction* Expanded(const Instruction& hlo, Module& module, Computation& computation) {
  if (hlo.opcode == Opcode::kBatchNormTraining && HasStaticFloats(hlo)) return BatchNormExpander(hlo, module, computation).Training();
  if (hlo.opcode == Opcode::kBatchNormInference && HasStaticFloats(hlo)) return BatchNormExpander(hlo, module, computation).Inference();
  if (hlo.opcode == Opcode::kBatchNormGrad && HasStaticFloats(hlo)) return BatchNormExpander(hlo, module, computation).Gradient();
  return nullptr;
}

}  // namespace

Result<bool> ExpandBatchNorms(Module& module, const PassContext& context) {
  bool any = false;
  const auto embedded = EmbeddedComputations(module);
  const std::vector<Computation*> all = module.computations;
  for (Computation* computation : all) {
    if (embedded.contains(computation)) continue;
    Replacements replacements;
    const std::vector<Instruction*> before = computation->instructions;
    for (Instruction* hlo : before)
      if (Instruction* expanded = Expanded(*hlo, module, *computation)) replacements[hlo] = expanded;
    if (replacements.empty()) continue;
    any = true;
    ApplyReplacements(replacements, module, *computation);
  }
  return any ? SimplifyTuples(module, context) : Result<bool>(false);
}

}  // namespace shoal::internal
