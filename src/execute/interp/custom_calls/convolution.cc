// Convolutions as in cuDNN. dim_labels and window always describe the forward convolution of input and filter. Each
// gradient is expressed as a convolution that computes it.
#include <algorithm>
#include <cmath>

#include "kernels/linalg/activation.h"
#include "execute/interp/algebra/convolution.h"
#include "kernels/linalg/dot_general.h"
#include "core/ops/backend_config.h"
#include "execute/interp/custom_calls/convolution_vectors.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "kernels/elementwise/element_loops.h"
#include "kernels/arrays/strided.h"
#include "core/ops/control_flow.h"

namespace shoal::internal {
namespace {

Status CheckForm(const Call& call) {
  const Instruction& hlo = call.hlo;
  const ConvDims* labels = hlo[kDimLabels];
  const Shape& result = FirstElement(hlo.shape());
  if (labels == nullptr || call.operands.size() < 2 || !call.operands[0].IsArray() || !call.operands[1].IsArray() ||
      !result.IsArray())
    return ExecutionError(hlo, "expected at least two array operands and dim_labels");
  const size_t rank = labels->input_spatial.size() + 2;
  const size_t window = hlo[kWindow] == nullptr ? 0 : hlo[kWindow]->dims.size();
  for (size_t found : {call.array(0).dims().size(), call.array(1).dims().size(), result.dims().size(), window + 2})
    if (found != rank) return ExecutionError(hlo, StrCat("dim_labels have rank ", rank, ", but found rank ", found));
  if (!HasDistinctDims(*labels, static_cast<int64_t>(rank)))
    return ExecutionError(hlo, StrCat("dim_labels must name each of the ", rank, " dimensions once"));
  if (hlo[kFeatureGroupCount] < 1) return ExecutionError(hlo, "feature_group_count must be positive");
  return {};
}

std::span<const WindowDim> WindowOf(const Instruction& hlo) {
  return hlo[kWindow] == nullptr ? std::span<const WindowDim>() : hlo[kWindow]->dims;
}

// Computes a convolution. Fails if the sizes do not match or the result differs from the declared shape.
Result<Array> CheckedConvolution(const Instruction& hlo, const Array& input, const Array& kernel,
                                 const ConvolutionForm& form) {
  SHOAL_TRY(CheckSizes(hlo, input, kernel, form));
  for (size_t i = 0; i < form.window.size(); ++i)
    if (form.window[i].size != kernel.dim(form.labels.kernel_spatial[i]) || form.window[i].stride < 1 ||
        form.window[i].window_dilation < 1 || form.window[i].base_dilation < 1)
      return ExecutionError(hlo, StrCat("window is invalid for the filter ", ToString(kernel)));
  const ElementType result = FirstElement(hlo.shape()).element_type();
  const ElementType sum = IsInteger(input.type()) && IsInteger(kernel.type())
                              ? ElementType::kS32
                              : SumType(input.type(), kernel.type(), result);
  Array sums = Convolved(input, kernel, form, sum);
  const Ints declared = FirstElement(hlo.shape()).dims();
  if (!std::equal(declared.begin(), declared.end(), sums.dims().begin(), sums.dims().end()))
    return ExecutionError(hlo, StrCat("yields ", ToString(sums), ", but declares ", ToString(FirstElement(hlo.shape()))));
  return sums;
}

Result<Array> Forward(Call& call) {
  const ConvolutionForm form{*call.hlo[kDimLabels], WindowOf(call.hlo), call.hlo[kFeatureGroupCount], 1};
  return CheckedConvolution(call.hlo, call.array(0), call.array(1), form);
}

// Rearranges a filter [group features, groups * outputs] for the gradient: [outputs, groups * group features].
Array FilterOfGradient(const Array& filter, const ConvDims& labels, int64_t groups) {
  const Dims strides = RowMajorStrides(filter.dims());
  auto stride = [&](int64_t d) { return strides[static_cast<size_t>(d)]; };
  const int64_t i = labels.kernel_input_feature, o = labels.kernel_output_feature;
  const int64_t outputs = filter.dim(o) / groups;
  Dims sizes, whole;
  Strided from;
  for (int64_t d = 0; d < filter.rank(); ++d) {
    if (d == o) {  // this dimension becomes groups * features
      sizes.push_back(groups), from.strides.push_back(outputs * stride(o));
      sizes.push_back(filter.dim(i)), from.strides.push_back(stride(i));
      whole.push_back(groups * filter.dim(i));
    } else if (d == i) {
      sizes.push_back(outputs), from.strides.push_back(stride(o));
      whole.push_back(outputs);
    } else {
      sizes.push_back(filter.dim(d)), from.strides.push_back(stride(d));
      whole.push_back(filter.dim(d));
    }
  }
  return Gathered(filter, std::move(sizes), from).WithDims(std::move(whole));
}

// Operands: output gradient, filter. Result: input gradient.
Result<Array> BackwardInput(Call& call) {
  const Instruction& hlo = call.hlo;
  const ConvDims& forward = *hlo[kDimLabels];
  const int64_t groups = hlo[kFeatureGroupCount];
  const Array& gradient = call.array(0);
  const Array& filter = call.array(1);
  if (filter.dim(forward.kernel_output_feature) % groups != 0)
    return ExecutionError(hlo, StrCat("feature_group_count must divide the number of outputs of ", ToString(filter)));
  const ConvDims labels{.input_batch = forward.output_batch,
                        .input_feature = forward.output_feature,
                        .kernel_input_feature = forward.kernel_input_feature,
                        .kernel_output_feature = forward.kernel_output_feature,
                        .output_batch = forward.input_batch,
                        .output_feature = forward.input_feature,
                        .input_spatial = forward.output_spatial,
                        .kernel_spatial = forward.kernel_spatial,
                        .output_spatial = forward.input_spatial};
  std::vector<WindowDim> window;
  for (size_t d = 0; d < WindowOf(hlo).size(); ++d) {
    const WindowDim& dim = WindowOf(hlo)[d];
    const int64_t reach = (dim.size - 1) * dim.window_dilation;
    const int64_t result = FirstElement(hlo.shape()).dim(forward.input_spatial[d]);
    const int64_t spread = (gradient.dim(forward.output_spatial[d]) - 1) * dim.stride + 1;
    WindowDim back{.size = dim.size, .pad_low = reach - dim.pad_low, .base_dilation = dim.stride};
    back.pad_high = result + reach - spread - back.pad_low;
    back.window_dilation = dim.window_dilation;
    back.reversal = !dim.reversal;
    window.push_back(back);
  }
  return CheckedConvolution(hlo, gradient, FilterOfGradient(filter, forward, groups), {labels, window, groups, 1});
}

// Operands: input, output gradient. Result: filter gradient. The batch is the contracting dimension.
Result<Array> BackwardFilter(Call& call) {
  const Instruction& hlo = call.hlo;
  const ConvDims& forward = *hlo[kDimLabels];
  const ConvDims labels{.input_batch = forward.input_feature,
                        .input_feature = forward.input_batch,
                        .kernel_input_feature = forward.output_batch,
                        .kernel_output_feature = forward.output_feature,
                        .output_batch = forward.kernel_input_feature,
                        .output_feature = forward.kernel_output_feature,
                        .input_spatial = forward.input_spatial,
                        .kernel_spatial = forward.output_spatial,
                        .output_spatial = forward.kernel_spatial};
  std::vector<WindowDim> window;
  for (size_t d = 0; d < WindowOf(hlo).size(); ++d) {
    const WindowDim& dim = WindowOf(hlo)[d];
    if (dim.reversal) return ExecutionError(hlo, "gradients of reversed filters are not supported");
    WindowDim back{.size = call.array(1).dim(forward.output_spatial[d]), .stride = dim.window_dilation};
    back.window_dilation = dim.stride;
    back.pad_low = dim.pad_low;
    back.pad_high = (FirstElement(hlo.shape()).dim(forward.kernel_spatial[d]) - 1) * dim.window_dilation +
                    (back.size - 1) * dim.stride + 1 - call.array(0).dim(forward.input_spatial[d]) - dim.pad_low;
    window.push_back(back);
  }
  return CheckedConvolution(hlo, call.array(0), call.array(1), {labels, window, 1, hlo[kFeatureGroupCount]});
}

Activation ParseCudnnActivation(std::string_view name) {
  constexpr std::pair<std::string_view, Activation> kNames[] = {
      {"kSigmoid", Activation::kSigmoid}, {"kRelu", Activation::kRelu},         {"kRelu6", Activation::kRelu6},
      {"kTanh", Activation::kTanh},       {"kElu", Activation::kElu},           {"kLeakyRelu", Activation::kLeakyRelu},
      {"kSilu", Activation::kSilu},       {"kGeluExact", Activation::kGeluErf},
  };
  for (const auto& [text, activation] : kNames)
    if (text == name) return activation;
  return Activation::kNone;
}

// Computes sums += factor * other. `sums` is f32 and has the same size as `other`.
void AddScaled(Array& sums, const Array& other, float factor) {
  const Array addend = Converted(other, ElementType::kF32);
  const std::span<float> out = sums.Mutable<float>();
  for (size_t i = 0; i < out.size(); ++i) out[i] += factor * addend.As<float>()[i];
}

// Adds bias[f] to all elements of output feature f.
void AddBias(Array& sums, const Array& bias, int64_t feature) {
  const Array addend = Converted(bias, ElementType::kF32);
  const int64_t inner = RowMajorStrides(sums.dims())[static_cast<size_t>(feature)];
  const std::span<float> out = sums.Mutable<float>();
  for (size_t i = 0; i < out.size(); ++i)
    out[i] += addend.As<float>()[i / static_cast<size_t>(inner) % static_cast<size_t>(bias.count())];
}

// Computes activation(scale * sums + side_scale * side input + bias) in f32.
Status Finish(const Call& call, const BackendConfig& config, Array& sums) {
  const auto scale = static_cast<float>(config.Number("conv_result_scale", 1));
  if (scale != 1)
    for (float& x : sums.Mutable<float>()) x *= scale;
  const int64_t feature = call.hlo[kDimLabels]->output_feature;
  if (call.operands.size() > 3 && call.operands[3].IsArray()) {
    if (call.array(3).count() != sums.count()) return ExecutionError(call.hlo, "side input must have the result's size");
    AddScaled(sums, call.array(3), static_cast<float>(config.Number("side_input_scale")));
  }
  if (call.operands.size() > 2 && call.operands[2].IsArray()) {
    if (call.array(2).count() != sums.dim(feature)) return ExecutionError(call.hlo, "bias must have one element per feature");
    AddBias(sums, call.array(2), feature);
  }
  Activate(ParseCudnnActivation(config.Text("activation_mode")), sums, config.Number("leakyrelu_alpha"));
  return {};
}

// Rounds as cuDNN does: integers are rounded with saturation.
Array RoundedAsCudnn(Array sums, ElementType type) {
  if (type == ElementType::kS8 && sums.type() == ElementType::kF32)
    for (float& x : sums.Mutable<float>()) x = std::clamp(std::nearbyint(x), -128.0f, 127.0f);
  return Converted(sums, type);
}

Result<Value> Finished(Call& call, Result<Array> convolved) {
  if (!convolved.ok()) return std::move(convolved.diag());
  const Instruction& hlo = call.hlo;
  Array sums = std::move(convolved.value());
  const BackendConfig whole = BackendConfig::Of(hlo);
  const BackendConfig config =
      whole.has("cudnn_conv_backend_config") ? whole.Object("cudnn_conv_backend_config") : whole;
  const ElementType type = FirstElement(hlo.shape()).element_type();
  const bool plain = call.operands.size() == 2 && config.Number("conv_result_scale", 1) == 1 &&
                     ParseCudnnActivation(config.Text("activation_mode")) == Activation::kNone;
  if (!plain || type == ElementType::kS8) {
    if (sums.type() != ElementType::kF32) sums = Converted(sums, ElementType::kF32);
    SHOAL_TRY(Finish(call, config, sums));
  }
  Value result = RoundedAsCudnn(std::move(sums), type);
  if (!hlo.shape().IsTuple()) return result;
  std::vector<Value> results{std::move(result)};
  for (const Shape* other : hlo.shape().elements().subspan(1)) results.push_back(ZeroValue(*other));
  return Value::Tuple(std::move(results));
}

Result<Value> PlainConvolution(Call& call) {
  SHOAL_TRY(CheckForm(call));
  return Finished(call, Forward(call));
}

}  // namespace

Result<Array> CudnnForwardSums(Call& call) {
  SHOAL_TRY(CheckForm(call));
  if (!call.hlo.shape().IsTuple()) return ExecutionError(call.hlo, "the result must be a tuple");
  return Forward(call);
}

Result<Value> CudnnConvolution(Call& call) {
  return IsVectorized(call) ? VectorizedConvolution(call, &PlainConvolution) : PlainConvolution(call);
}

Result<Value> CudnnConvolutionBackwardInput(Call& call) {
  SHOAL_TRY(CheckForm(call));
  return Finished(call, BackwardInput(call));
}

Result<Value> CudnnConvolutionBackwardFilter(Call& call) {
  SHOAL_TRY(CheckForm(call));
  return Finished(call, BackwardFilter(call));
}

}  // namespace shoal::internal
