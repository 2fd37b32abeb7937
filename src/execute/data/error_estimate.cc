#include "execute/data/error_estimate.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "analyze/facts/execution_counts.h"
#include "core/ops/contraction.h"
#include "core/ops/data_movement.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "execute/data/leaves.h"

namespace shoal::internal {
namespace {

using Errors = std::vector<double>;  // by leaf

constexpr int kMaxIterations = 6;   // of a loop; later iterations grow by a square root
constexpr int kMaxDepth = 64;       // of nested calls
constexpr double kMaxError = .02;   // a larger estimate would hide faults
// Limit of visited instructions. A computation is visited once for each of its callers, of which a hostile module has
// exponentially many.
constexpr int64_t kMaxVisits = 5'000'000;

// Half the distance between 1 and the next number of the type.
double RoundingError(const Shape& shape) {
  if (!shape.IsArray()) return 0;
  const ElementType type = shape.element_type();
  if (IsComplex(type)) return type == ElementType::kC64 ? 0x1p-24 : 0x1p-53;
  return IsFloat(type) ? std::ldexp(1.0, -Info(type).mantissa_bits - 1) : 0;
}

double Elements(const Shape& shape) {
  return shape.IsArray() ? static_cast<double>(std::max<int64_t>(1, shape.ElementCount().value_or(1))) : 1;
}

size_t LeafCount(const Shape& shape) {
  if (!shape.IsTuple()) return 1;
  size_t count = 0;
  for (const Shape* element : shape.elements()) count += LeafCount(*element);
  return count;
}

size_t FirstLeaf(const Shape& tuple, int64_t index) {
  size_t first = 0;
  for (int64_t i = 0; i < index; ++i) first += LeafCount(tuple.element(i));
  return first;
}

class Estimator {
 public:
  explicit Estimator(const Module& module) : module_(module), executions_(module) {}

  Errors Run() {
    std::vector<Errors> arguments;
    for (const Instruction* parameter : module_.entry->parameters)
      arguments.push_back(Errors(parameter == nullptr ? 1 : LeafCount(parameter->shape()), 0));
    return Of(*module_.entry, arguments, 0);
  }

 private:
  using Values = absl::flat_hash_map<const Instruction*, Errors>;

  Errors Of(const Computation& computation, const std::vector<Errors>& arguments, int depth) {
    const size_t leaves = LeafCount(computation.root->shape());
    visits_ += std::ssize(computation.instructions);
    if (depth > kMaxDepth || visits_ > kMaxVisits) return Errors(leaves, kMaxError);
    Values values;
    for (const Instruction* hlo : computation.instructions) {
      Errors errors = OfOp(*hlo, arguments, values, depth);
      errors.resize(LeafCount(hlo->shape()), errors.empty() ? 0 : errors.back());
      for (double& error : errors) error = std::min(error, kMaxError);
      values[hlo] = std::move(errors);
    }
    return values.at(computation.root);
  }

  static double Largest(const Errors& errors) { return errors.empty() ? 0 : *std::max_element(errors.begin(), errors.end()); }

  Errors OfOp(const Instruction& hlo, const std::vector<Errors>& arguments, const Values& values, int depth) {
    if (IsParameter(hlo)) {
      const auto number = static_cast<size_t>(hlo[kParameterNumber]);
      return number < arguments.size() ? arguments[number] : Errors{0};
    }
    if (IsTuple(hlo)) {
      Errors all;
      for (const Instruction* operand : hlo.operands) all.insert(all.end(), values.at(operand).begin(), values.at(operand).end());
      return all;
    }
    if (IsGetTupleElement(hlo)) {
      const Errors& tuple = values.at(hlo.operands[0]);
      const size_t first = FirstLeaf(hlo.operand_shape(0), ElementIndexOf(hlo)), count = LeafCount(hlo.shape());
      if (first + count > tuple.size()) return {Largest(tuple)};
      return {tuple.begin() + static_cast<std::ptrdiff_t>(first), tuple.begin() + static_cast<std::ptrdiff_t>(first + count)};
    }
    if (IsLoop(hlo)) return OfLoop(hlo, values.at(hlo.operands[0]), depth);
    if (const Computation* callee = CalleeRunOnce(hlo)) {
      std::vector<Errors> inner;
      for (const Instruction* operand : hlo.operands) inner.push_back(values.at(operand));
      return Of(*callee, inner, depth + 1);
    }
    if (IsBranch(hlo)) return OfBranches(hlo, values, depth);
    return {OfComputedValue(hlo, values)};
  }

  Errors OfLoop(const Instruction& loop, Errors state, int depth) {
    const TripCount* trips = executions_.FindTripCount(loop);
    const double count = trips == nullptr ? 1 : static_cast<double>(std::max<int64_t>(0, trips->count));
    const int iterations = static_cast<int>(std::min(count, static_cast<double>(kMaxIterations)));
    Errors before = state;
    for (int i = 0; i < iterations; ++i) {
      before = state;
      state = Of(*BodyOf(loop), {state}, depth + 1);
    }
    const double growth = count > iterations ? std::sqrt(count / iterations) : 1;
    for (size_t leaf = 0; leaf < state.size() && leaf < before.size(); ++leaf)
      if (state[leaf] > before[leaf]) state[leaf] *= growth;
    return state;
  }

  Errors OfBranches(const Instruction& hlo, const Values& values, int depth) {
    Errors worst(LeafCount(hlo.shape()), 0);
    const std::vector<Computation*> branches = CalledComputations(hlo);
    for (size_t b = 0; b < branches.size() && b + 1 < hlo.operand_count(); ++b) {
      const Errors errors = Of(*branches[b], {values.at(hlo.operands[b + 1])}, depth + 1);
      for (size_t leaf = 0; leaf < worst.size() && leaf < errors.size(); ++leaf) worst[leaf] = std::max(worst[leaf], errors[leaf]);
    }
    return worst;
  }

  // The error of an op that computes one value, or several of equal precision.
  static double OfComputedValue(const Instruction& hlo, const Values& values) {
    // Operands often share their errors, so that the largest counts, not their sum.
    double largest = 0;
    for (const Instruction* operand : hlo.operands) largest = std::max(largest, Largest(values.at(operand)));
    const Shape& shape = FirstElement(hlo.shape());
    const double rounding = RoundingError(shape);
    if (!MovedOperands(hlo).empty() || IsConstant(hlo)) return largest;
    if (IsConvert(hlo)) {
      const double before = RoundingError(hlo.operand_shape(0));
      return rounding > before && before > 0 ? std::hypot(largest, rounding) : largest;
    }
    return std::sqrt(largest * largest + rounding * rounding * SummedTerms(hlo));
  }

  // The number of roundings of one element of the result.
  static double SummedTerms(const Instruction& hlo) {
    if (hlo.operand_count() == 0) return 1;
    const double result = Elements(FirstElement(hlo.shape()));
    if (IsReduce(hlo) || IsReduceWindow(hlo)) return std::max(1.0, Elements(hlo.operand_shape(0)) / result);
    if (!IsContraction(hlo) || hlo.operand_count() < 2) return 1;
    const bool is_wide = RoundingError(hlo.shape()) < 0x1p-20;
    const double terms = ContractedSize(Elements(hlo.operand_shape(0)), Elements(hlo.operand_shape(1)), result);
    return is_wide ? std::max(1.0, terms) : 2;  // narrow products are summed in f32 and rounded once
  }

  int64_t visits_ = 0;
  const Module& module_;
  const ExecutionCounts executions_;
};

}  // namespace

std::vector<double> EstimateResultErrors(const Module& module) { return Estimator(module).Run(); }

}  // namespace shoal::internal
