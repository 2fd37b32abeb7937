// Layer normalization as in cuDNN: a row has as many elements as the scale. Computed in f32.
#include "kernels/linalg/moments.h"

#include "core/ops/backend_config.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {
namespace {

struct Rows {
  Array x;
  int64_t count = 0, length = 0;

  std::span<const float> Row(int64_t i) const { return RowOf(x, i); }
  std::span<const float> RowOf(const Array& array, int64_t i) const {
    return array.As<float>().subspan(static_cast<size_t>(i * length), static_cast<size_t>(length));
  }
};

// Returns operand i in f32. Fails unless it has `count` elements.
Result<Array> Operand(const Call& call, size_t i, int64_t count) {
  if (call.array(i).count() != count)
    return ExecutionError(call.hlo, StrCat("operand ", i, " must have ", count, " elements, got ", ToString(call.array(i))));
  return Converted(call.array(i), ElementType::kF32);
}

// Returns the declared tuple: these arrays, then scratch memory.
Result<Value> Finished(const Call& call, const std::vector<Array>& arrays) {
  std::vector<Value> results;
  for (const Shape* shape : call.hlo.shape().elements()) {
    const size_t i = results.size();
    if (i >= arrays.size()) {
      results.push_back(ZeroValue(*shape));
      continue;
    }
    if (!shape->IsArray() || ElementCount(shape->dims()) != arrays[i].count())
      return ExecutionError(call.hlo,
                     StrCat("result ", i, " must have ", arrays[i].count(), " elements, got ", ToString(*shape)));
    results.push_back(Converted(arrays[i].WithDims(ToDims(shape->dims())), shape->element_type()));
  }
  if (results.size() < arrays.size()) return ExecutionError(call.hlo, StrCat("expected ", arrays.size(), " results"));
  return Value::Tuple(std::move(results));
}

// Operands: x, scale, bias. Results: y, and in training each row's mean and norm factor.
Result<Value> Forward(const Call& call, const Rows& rows, double epsilon, bool is_training) {
  SHOAL_ASSIGN(scale, Operand(call, 1, rows.length));
  SHOAL_ASSIGN(bias, Operand(call, 2, rows.length));
  Array y(ElementType::kF32, rows.x.dims()), means(ElementType::kF32, Dims{rows.count}), factors(ElementType::kF32, Dims{rows.count});
  float* out = y.Mutable<float>().data();
  for (int64_t i = 0; i < rows.count; ++i) {
    const std::span<const float> row = rows.Row(i);
    const Moments moments = MomentsOf(row, epsilon);
    means.Mutable<float>()[static_cast<size_t>(i)] = moments.mean;
    factors.Mutable<float>()[static_cast<size_t>(i)] = moments.norm_factor;
    for (size_t j = 0; j < row.size(); ++j)
      *out++ = (row[j] - moments.mean) * moments.norm_factor * scale.As<float>()[j] + bias.As<float>()[j];
  }
  return is_training ? Finished(call, {y, means, factors}) : Finished(call, {y});
}

// Operands: x, scale, gradient of y, means, norm factors. Results: gradients of x, scale and bias.
Result<Value> Backward(const Call& call, const Rows& rows) {
  SHOAL_ASSIGN(scale, Operand(call, 1, rows.length));
  SHOAL_ASSIGN(dy, Operand(call, 2, rows.x.count()));
  SHOAL_ASSIGN(means, Operand(call, 3, rows.count));
  SHOAL_ASSIGN(factors, Operand(call, 4, rows.count));
  Array dx(ElementType::kF32, rows.x.dims());
  Array dscale = Array::Zeros(ElementType::kF32, scale.dims()), dbias = Array::Zeros(ElementType::kF32, scale.dims());
  float* out = dx.Mutable<float>().data();
  for (int64_t i = 0; i < rows.count; ++i) {
    const std::span<const float> row = rows.Row(i), gradient = rows.RowOf(dy, i);
    const float mean = means.As<float>()[static_cast<size_t>(i)], factor = factors.As<float>()[static_cast<size_t>(i)];
    double sum = 0, weighted = 0;  // sums of the normalized row's gradient g, and of g times the row
    for (size_t j = 0; j < row.size(); ++j) {
      const float normalised = (row[j] - mean) * factor;
      dscale.Mutable<float>()[j] += gradient[j] * normalised;
      dbias.Mutable<float>()[j] += gradient[j];
      sum += gradient[j] * scale.As<float>()[j];
      weighted += gradient[j] * scale.As<float>()[j] * normalised;
    }
    const auto n = static_cast<double>(rows.length);
    for (size_t j = 0; j < row.size(); ++j) {
      const double normalised = (row[j] - mean) * factor;
      *out++ = static_cast<float>(factor * (gradient[j] * scale.As<float>()[j] - sum / n - normalised * weighted / n));
    }
  }
  return Finished(call, {dx, dscale, dbias});
}

}  // namespace

Result<Value> CudnnNorm(Call& call) {
  const BackendConfig config = ConfigOf(call).Object("cudnn_norm_backend_config");
  const std::string_view kind = config.Text("kind");
  const bool is_backward = kind == "LAYER_BWD", is_training = kind == "LAYER_FWD_TRAIN";
  if (!is_backward && !is_training && kind != "LAYER_FWD_INFER")
    return ExecutionError(call.hlo, StrCat("unknown norm kind \"", kind, "\""));
  if (call.operands.size() < (is_backward ? 5 : 3) || !call.hlo.shape().IsTuple())
    return ExecutionError(call.hlo, StrCat("expected at least ", is_backward ? 5 : 3, " operands and a tuple result"));
  for (const Value& operand : call.operands)
    if (!operand.IsArray()) return ExecutionError(call.hlo, "all operands must be arrays");
  Rows rows{Converted(call.array(0), ElementType::kF32), 0, call.array(1).count()};
  if (rows.length == 0 || rows.x.count() % rows.length != 0)
    return ExecutionError(call.hlo, StrCat(ToString(rows.x), " cannot be split into rows of ", rows.length));
  rows.count = rows.x.count() / rows.length;
  return is_backward ? Backward(call, rows) : Forward(call, rows, config.Number("epsilon"), is_training);
}

}  // namespace shoal::internal
