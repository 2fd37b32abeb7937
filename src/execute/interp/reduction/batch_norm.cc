// Batch normalization over all elements of a feature. A feature is an index of dimension feature_index.
#include <cmath>

#include "core/ops/linear_algebra.h"
#include "execute/interp/evaluate.h"
#include "kernels/arrays/doubles.h"

namespace shoal::internal {
namespace {

using Doubles = std::vector<double>;

// For each outer index o, element i of feature f is at offset (o * features + f) * inner + i.
struct Features {
  explicit Features(const Call& call) {
    const Array& operand = call.array(0);
    const int64_t index = call.hlo[kFeatureIndex];
    features = static_cast<size_t>(operand.dim(index));
    for (int64_t d = 0; d < index; ++d) outer *= static_cast<size_t>(operand.dim(d));
    for (int64_t d = index + 1; d < operand.rank(); ++d) inner *= static_cast<size_t>(operand.dim(d));
  }

  template <class Visit>
  void ForEach(const Visit& visit) const {
    size_t at = 0;
    for (size_t o = 0; o < outer; ++o)
      for (size_t f = 0; f < features; ++f)
        for (size_t i = 0; i < inner; ++i) visit(f, at++);
  }

  double elements_per_feature() const { return static_cast<double>(outer * inner); }

  size_t features = 0, outer = 1, inner = 1;
};

// Computes 1 / sqrt(variance + epsilon) for each feature.
Doubles InverseDeviations(const Doubles& variance, double epsilon) {
  Doubles inverse;
  for (double v : variance) inverse.push_back(1 / std::sqrt(v + epsilon));
  return inverse;
}

Value ResultTuple(const Call& call, const Doubles& elements, const Doubles& first, const Doubles& second) {
  const Array& operand = call.array(0);
  const int64_t features[] = {operand.dim(call.hlo[kFeatureIndex])};
  return Value::Tuple({FromDoubles(operand.type(), operand.dims(), elements),
                       FromDoubles(operand.type(), features, first), FromDoubles(operand.type(), features, second)});
}

}  // namespace

// batch-norm-training: returns ((x - mean) / sqrt(variance + epsilon) * scale + offset, mean, variance), where mean =
// E[x] and variance = E[x²] - E[x]².
template <>
Result<Value> Evaluate<Opcode::kBatchNormTraining>(Call& call) {
  const Features features(call);
  Doubles x = ToDoubles(call.array(0));
  const Doubles scale = ToDoubles(call.array(1)), offset = ToDoubles(call.array(2));
  Doubles mean(features.features), variance(features.features);
  features.ForEach([&](size_t f, size_t i) {
    mean[f] += x[i];
    variance[f] += x[i] * x[i];
  });
  for (size_t f = 0; f < features.features; ++f) {
    mean[f] /= features.elements_per_feature();
    variance[f] = variance[f] / features.elements_per_feature() - mean[f] * mean[f];
  }
  const Doubles inverse = InverseDeviations(variance, call.hlo[kEpsilon]);
  features.ForEach([&](size_t f, size_t i) { x[i] = (x[i] - mean[f]) * inverse[f] * scale[f] + offset[f]; });
  return ResultTuple(call, x, mean, variance);
}

// batch-norm-inference: (x - mean) / sqrt(variance + epsilon) * scale + offset. Mean and variance are operands.
template <>
Result<Value> Evaluate<Opcode::kBatchNormInference>(Call& call) {
  const Features features(call);
  const Array& operand = call.array(0);
  Doubles x = ToDoubles(operand);
  const Doubles scale = ToDoubles(call.array(1)), offset = ToDoubles(call.array(2)), mean = ToDoubles(call.array(3));
  const Doubles inverse = InverseDeviations(ToDoubles(call.array(4)), call.hlo[kEpsilon]);
  features.ForEach([&](size_t f, size_t i) { x[i] = (x[i] - mean[f]) * inverse[f] * scale[f] + offset[f]; });
  return Value(FromDoubles(operand.type(), operand.dims(), x));
}

// batch-norm-grad: gradients of x, scale and offset, for a gradient g of the result and N elements per feature:
//   offset: Σ g;  scale: Σ g (x - mean) / sqrt(variance + epsilon);
//   x: scale / sqrt(variance + epsilon) / N * (N g - Σ g - (x - mean) Σ g (x - mean) / (variance + epsilon)).
template <>
Result<Value> Evaluate<Opcode::kBatchNormGrad>(Call& call) {
  const Features features(call);
  Doubles x = ToDoubles(call.array(0));
  const Doubles scale = ToDoubles(call.array(1)), mean = ToDoubles(call.array(2)), variance = ToDoubles(call.array(3)),
                gradient = ToDoubles(call.array(4));
  const double epsilon = call.hlo[kEpsilon];
  const Doubles inverse = InverseDeviations(variance, epsilon);
  Doubles sum(features.features), moment(features.features);
  features.ForEach([&](size_t f, size_t i) {
    sum[f] += gradient[i];
    moment[f] += gradient[i] * (x[i] - mean[f]);
  });
  const double n = features.elements_per_feature();
  features.ForEach([&](size_t f, size_t i) {
    const double correction = (x[i] - mean[f]) * moment[f] / (variance[f] + epsilon);
    x[i] = scale[f] * inverse[f] / n * (n * gradient[i] - sum[f] - correction);
  });
  for (size_t f = 0; f < features.features; ++f) moment[f] *= inverse[f];
  return ResultTuple(call, x, moment, sum);
}

}  // namespace shoal::internal
