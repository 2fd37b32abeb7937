// Recognizes argmax and argmin reducers of (number, index) pairs. If a function only compares its arguments, selects
// among them and combines predicates, its result depends only on the outcomes of the comparisons. Evaluating it on one
// pair of numbers per possible outcome therefore determines the result for all numbers.
#include <cmath>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

using CompareOp = Op<Opcode::kCompare>;

class ReducerTrial {
 public:
  // `first` and `second` are the numbers of the two pairs; their indices are 0 and 1.
  ReducerTrial(const Computation& computation, double first, double second)
      : parameters_(computation.parameters), arguments_{first, 0, second, 1} {}

  // Evaluates `hlo` for the arguments of this trial. Returns nullopt if the function uses an unsupported op.
  std::optional<double> Value(const Instruction& hlo) {
    if (auto found = known_.find(&hlo); found != known_.end()) return found->second;
    const std::optional<double> value = Evaluate(hlo);
    known_[&hlo] = value;
    return value;
  }

 private:
  std::optional<double> Evaluate(const Instruction& hlo) {
    if (hlo.opcode == Opcode::kParameter) return arguments_[static_cast<size_t>(hlo[kParameterNumber])];
    double x[3] = {0, 0, 0};
    if (hlo.operand_count() > 3) return std::nullopt;
    for (size_t i = 0; i < hlo.operand_count(); ++i) {
      const std::optional<double> operand = Value(*hlo.operands[i]);
      if (!operand) return std::nullopt;
      x[i] = *operand;
    }
    if (hlo.opcode == Opcode::kSelect) return x[0] != 0 ? x[1] : x[2];
    if (hlo.opcode == Opcode::kCompare) return CompareNumbers(hlo, x[0], x[1]);
    if (hlo.shape().element_type() != ElementType::kPred) return std::nullopt;
    if (hlo.opcode == Opcode::kAnd) return x[0] != 0 && x[1] != 0 ? 1 : 0;
    if (hlo.opcode == Opcode::kOr) return x[0] != 0 || x[1] != 0 ? 1 : 0;
    if (hlo.opcode == Opcode::kNot) return x[0] != 0 ? 0 : 1;
    return std::nullopt;
  }

  static std::optional<double> CompareNumbers(const Instruction& hlo, double x, double y) {
    if (hlo[CompareOp::kOrder] == ComparisonOrder::kTotal && IsFloat(hlo.operand_shape(0).element_type())) return std::nullopt;
    using D = ComparisonDirection;
    const D direction = hlo[CompareOp::kDirection];
    const bool holds = direction == D::kEq   ? x == y
                       : direction == D::kNe ? x != y
                       : direction == D::kGe ? x >= y
                       : direction == D::kGt ? x > y
                       : direction == D::kLe ? x <= y
                                             : x < y;
    return holds ? 1 : 0;
  }

  std::span<Instruction* const> parameters_;
  double arguments_[4];
  absl::flat_hash_map<const Instruction*, std::optional<double>> known_;
};

bool SameNumber(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool IsArgMinMax(const Computation& computation, Opcode op) {
  const bool is_float = IsFloat(computation.parameters[0]->shape().element_type());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double pairs[][2] = {{1, 2}, {2, 1}, {1, 1}, {nan, 1}, {1, nan}, {nan, nan}};
  for (size_t i = 0; i < (is_float ? 6 : 3); ++i) {
    const double a = pairs[i][0], b = pairs[i][1];
    const bool beyond = op == Opcode::kMaximum ? b > a : b < a;
    const bool second = !std::isnan(a) && (std::isnan(b) || beyond);
    ReducerTrial trial(computation, a, b);
    const std::optional<double> number = trial.Value(*computation.root->operands[0]);
    const std::optional<double> index = trial.Value(*computation.root->operands[1]);
    if (!number || !index || !SameNumber(*number, second ? b : a) || *index != (second ? 1 : 0)) return false;
  }
  return true;
}

}  // namespace

std::optional<Opcode> MatchArgMinMax(const Computation& computation) {
  const auto& parameters = computation.parameters;
  if (parameters.size() != 4 || computation.root->opcode != Opcode::kTuple || computation.root->operand_count() != 2)
    return std::nullopt;
  for (const Instruction* parameter : parameters)
    if (!parameter->shape().IsScalar()) return std::nullopt;
  for (size_t i : {0, 1}) {
    const ElementType type = parameters[i]->shape().element_type();
    if (type != parameters[i + 2]->shape().element_type() || !IsLoopType(type) || type == ElementType::kPred)
      return std::nullopt;
    if (computation.root->operand_shape(i).element_type() != type) return std::nullopt;
  }
  if (!IsInteger(parameters[1]->shape().element_type())) return std::nullopt;
  if (HasEffects(computation)) return std::nullopt;
  for (Opcode op : {Opcode::kMaximum, Opcode::kMinimum})
    if (IsArgMinMax(computation, op)) return op;
  return std::nullopt;
}

}  // namespace shoal::internal
