// oneDNN calls: matmuls and convolutions with epilogues, softmax, layer normalization. Computed in f32, rounded once.
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/linalg/activation.h"
#include "execute/interp/algebra/convolution.h"
#include "kernels/linalg/dot_general.h"
#include "core/ops/backend_config.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "kernels/linalg/moments.h"
#include "kernels/elementwise/element_loops.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

BackendConfig ConfigOf(const Instruction& hlo, std::string_view key) {
  const BackendConfig whole = BackendConfig::Of(hlo);
  return whole.has(key) ? whole.Object(key) : whole;
}

Status CheckArrays(const Call& call, size_t count) {
  if (call.operands.size() < count) return ExecutionError(call.hlo, StrCat("expected at least ", count, " operands"));
  for (const Value& operand : call.operands)
    if (!operand.IsArray()) return ExecutionError(call.hlo, "all operands must be arrays");
  return {};
}

// Returns the result in its declared type. Fails if the dimensions differ. Other results are scratch memory.
Result<Value> Finished(const Instruction& hlo, const Array& sums) {
  const Shape& shape = FirstElement(hlo.shape());
  if (!shape.IsArray() || !std::equal(sums.dims().begin(), sums.dims().end(), shape.dims().begin(), shape.dims().end()))
    return ExecutionError(hlo, StrCat("yields ", ToString(sums), ", but declares ", ToString(shape)));
  Value result = Converted(sums, shape.element_type());
  if (!hlo.shape().IsTuple()) return result;
  std::vector<Value> results{std::move(result)};
  for (const Shape* other : hlo.shape().elements().subspan(1)) results.push_back(ZeroValue(*other));
  return Value::Tuple(std::move(results));
}

// Computes sums += operand. The operand is broadcast along dimensions of size 1 or that it does not have. Its last
// dimension corresponds to dimension `last` of the sums.
Status AddBroadcast(const Instruction& hlo, Array& sums, const Array& operand, int64_t last) {
  const Dims strides = RowMajorStrides(operand.dims());
  Strided from;
  from.strides.assign(static_cast<size_t>(sums.rank()), 0);
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const int64_t at = last + 1 - operand.rank() + d;
    if (operand.dim(d) == 1) continue;
    if (at < 0 || operand.dim(d) != sums.dim(at))
      return ExecutionError(hlo, StrCat(ToString(operand), " cannot be broadcast to ", ToString(sums)));
    from.strides[static_cast<size_t>(at)] = strides[static_cast<size_t>(d)];
  }
  const Array addend = Gathered(Converted(operand, ElementType::kF32), ToDims(sums.dims()), from);
  const std::span<float> out = sums.Mutable<float>();
  for (size_t i = 0; i < out.size(); ++i) out[i] += addend.As<float>()[i];
  return {};
}

Activation ParseDnnActivation(std::string_view name) {
  constexpr std::pair<std::string_view, Activation> kNames[] = {
      {"RELU", Activation::kRelu},          {"TANH", Activation::kTanh},  {"GELU_ERF", Activation::kGeluErf},
      {"GELU_TANH", Activation::kGeluTanh}, {"ELU", Activation::kElu},    {"RELU6", Activation::kRelu6},
      {"SIGMOID", Activation::kSigmoid},    {"SWISH", Activation::kSilu},
  };
  for (const auto& [text, activation] : kNames)
    if (text == name) return activation;
  return Activation::kNone;
}

// Applies the ops in `fusions` in order. They use the call's operands in order. `feature` is the dimension of a bias.
Status Fuse(const Call& call, const BackendConfig& config, int64_t feature, Array& sums) {
  const BackendConfig fusions = config.Object("fusions");
  const std::vector<std::string_view> alphas = fusions.List("alpha");
  size_t operand = 2, alpha = 0;
  for (std::string_view quoted : fusions.List("ops")) {
    const size_t quotes = quoted.starts_with('"') ? 1 : 0;
    const std::string_view op = quoted.substr(quotes, quoted.size() - 2 * quotes);
    if (op == "BIAS" || op == "BINARY_ADD" || op == "SUM") {
      if (operand >= call.operands.size()) return ExecutionError(call.hlo, StrCat("missing operand for ", op));
      const Array& addend = call.array(operand++);
      SHOAL_TRY(AddBroadcast(call.hlo, sums, addend, addend.rank() == 1 ? feature : sums.rank() - 1));
    } else if (op == "LINEAR") {
      if (alpha >= alphas.size()) return ExecutionError(call.hlo, "missing alpha for LINEAR");
      const auto factor = static_cast<float>(std::atof(std::string(alphas[alpha++]).c_str()));
      for (float& x : sums.Mutable<float>()) x *= factor;
    } else if (const Activation activation = ParseDnnActivation(op); activation != Activation::kNone) {
      Activate(activation, sums, 1);
    } else {
      return ExecutionError(call.hlo, StrCat("unknown fused op ", op));
    }
  }
  return {};
}

ConvDims LabelsOf(const BackendConfig& config, std::span<const int64_t> input, std::span<const int64_t> kernel,
                  std::span<const int64_t> output) {
  const BackendConfig in = config.Object("input").Object("data"), out = config.Object("output").Object("data");
  const BackendConfig filter = config.Object("kernel").Object("filter");
  return {in.Int("batch_dim"),
          in.Int("feature_dim"),
          filter.Int("input_feature_dim"),
          filter.Int("output_feature_dim"),
          out.Int("batch_dim"),
          out.Int("feature_dim"),
          input,
          kernel,
          output};
}

std::vector<WindowDim> WindowOf(const BackendConfig& config, const Array& kernel, Ints spatial) {
  const BackendConfig window = config.Object("window");
  const std::vector<int64_t> low = window.Ints("pad_left"), high = window.Ints("pad_right");
  const std::vector<int64_t> strides = window.Ints("strides"), dilations = window.Ints("window_dilations");
  std::vector<WindowDim> dims(spatial.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    dims[d].size = kernel.dim(spatial[d]);
    if (d < low.size()) dims[d].pad_low = low[d];
    if (d < high.size()) dims[d].pad_high = high[d];
    if (d < strides.size()) dims[d].stride = std::max<int64_t>(strides[d], 1);
    if (d < dilations.size()) dims[d].window_dilation = std::max<int64_t>(dilations[d], 1);
  }
  return dims;
}

}  // namespace

Result<Value> OneDnnMatmul(Call& call) {
  SHOAL_TRY(CheckArrays(call, 2));
  const BackendConfig config = ConfigOf(call.hlo, "onednn_matmul_config");
  const Array& a = call.array(0);
  const Array& b = call.array(1);
  Dims batch;
  for (int64_t d = 0; d + 2 < a.rank(); ++d) batch.push_back(d);
  const int64_t a_contracting = a.rank() - (config.Bool("transpose_a") && a.rank() > 1 ? 2 : 1);
  const int64_t b_contracting = b.rank() - (config.Bool("transpose_b") || b.rank() == 1 ? 1 : 2);
  const bool fits = a.rank() > 0 && b.rank() > 0 && (batch.empty() || a.rank() == b.rank()) &&
                    b.rank() <= 2 + static_cast<int>(batch.size()) && a.dim(a_contracting) == b.dim(b_contracting) &&
                    std::equal(batch.begin(), batch.end(), a.dims().begin(),
                               [&](int64_t d, int64_t size) { return b.dim(d) == size; });
  if (!fits) return ExecutionError(call.hlo, StrCat("operand sizes do not match: ", ToString(a), " and ", ToString(b)));
  Array sums = DotGeneral(a, b, {AsInts(batch), AsInts(batch), {&a_contracting, 1}, {&b_contracting, 1}}, ElementType::kF32);
  SHOAL_TRY(Fuse(call, config, sums.rank() - 1, sums));
  return Finished(call.hlo, sums);
}

Result<Value> OneDnnConvolution(Call& call) {
  SHOAL_TRY(CheckArrays(call, 2));
  const BackendConfig config = ConfigOf(call.hlo, "onednn_conv_config");
  const std::vector<int64_t> input = config.Object("input").Object("data").Ints("spatial_dims");
  const std::vector<int64_t> kernel = config.Object("kernel").Object("filter").Ints("spatial_dims");
  const std::vector<int64_t> output = config.Object("output").Object("data").Ints("spatial_dims");
  const ConvDims labels = LabelsOf(config, input, kernel, output);
  if (call.array(1).rank() != call.array(0).rank() || !HasDistinctDims(labels, call.array(0).rank()))
    return ExecutionError(call.hlo, "dimension numbers in backend_config are invalid for the operands");
  const std::vector<WindowDim> window = WindowOf(config, call.array(1), kernel);
  const ConvolutionForm form{labels, window, std::max<int64_t>(config.Int("feature_groups", 1), 1), 1};
  SHOAL_TRY(CheckSizes(call.hlo, call.array(0), call.array(1), form));
  Array sums = Convolved(call.array(0), call.array(1), form, ElementType::kF32);
  SHOAL_TRY(Fuse(call, config, labels.output_feature, sums));
  return Finished(call.hlo, sums);
}

Result<Value> OneDnnSoftmax(Call& call) {
  SHOAL_TRY(CheckArrays(call, 1));
  const BackendConfig config = ConfigOf(call.hlo, "onednn_softmax_config");
  Array x = Converted(call.array(0), ElementType::kF32);
  const int64_t axis = config.Int("softmax_axis", x.rank() - 1);
  if (axis < 0 || axis >= x.rank()) return ExecutionError(call.hlo, StrCat("softmax_axis is out of range: ", axis));
  const int64_t stride = RowMajorStrides(x.dims())[static_cast<size_t>(axis)], n = x.dim(axis);
  float* data = x.Mutable<float>().data();
  for (int64_t i = 0; n != 0 && i < x.count() / n; ++i) {
    float* row = data + i / stride * stride * n + i % stride;
    float largest = row[0], sum = 0;
    for (int64_t j = 1; j < n; ++j) largest = std::max(largest, row[j * stride]);
    for (int64_t j = 0; j < n; ++j) sum += row[j * stride] = std::exp(row[j * stride] - largest);
    for (int64_t j = 0; j < n; ++j) row[j * stride] /= sum;
  }
  return Finished(call.hlo, x);
}

// Computes (x - mean) / √(variance + epsilon) * scale + shift along the last dimension.
Result<Value> OneDnnLayerNorm(Call& call) {
  SHOAL_TRY(CheckArrays(call, 3));
  const BackendConfig config = ConfigOf(call.hlo, "onednn_layer_norm_config");
  const float epsilon = std::bit_cast<float>(static_cast<int32_t>(config.Int("epsilon_typecast")));
  Array x = Converted(call.array(0), ElementType::kF32);
  const int64_t n = x.rank() == 0 ? 1 : x.dims().back();
  if (call.array(1).count() != n || call.array(2).count() != n)
    return ExecutionError(call.hlo, StrCat("scale and shift must have ", n, " elements"));
  const Array scale = Converted(call.array(1), ElementType::kF32), shift = Converted(call.array(2), ElementType::kF32);
  float* row = x.Mutable<float>().data();
  for (int64_t i = 0; n != 0 && i < x.count() / n; ++i, row += n) {
    const Moments moments = MomentsOf({row, static_cast<size_t>(n)}, epsilon);
    for (int64_t j = 0; j < n; ++j)
      row[j] = (row[j] - moments.mean) * moments.norm_factor * scale.As<float>()[static_cast<size_t>(j)] +
               shift.As<float>()[static_cast<size_t>(j)];
  }
  return Finished(call.hlo, x);
}

}  // namespace shoal::internal
