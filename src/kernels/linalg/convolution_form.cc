#include "kernels/linalg/convolution_form.h"

#include <algorithm>

#include "core/base/strings.h"
#include "kernels/arrays/strided.h"
#include "kernels/elementwise/element_loops.h"
#include "kernels/linalg/convolve.h"
#include "kernels/linalg/dot_general.h"

namespace shoal::internal {
namespace {

Array InOrder(const Array& array, const Dims& order) {
  return std::is_sorted(order.begin(), order.end()) ? array : Transposed(array, AsInts(order));
}

bool IsPointwise(const ConvolutionForm& form) {
  return form.feature_groups == 1 && form.batch_groups == 1 &&
         std::all_of(form.window.begin(), form.window.end(), [](const WindowDim& dim) {
           return dim.size == 1 && dim.stride == 1 && dim.pad_low == 0 && dim.pad_high == 0 && dim.base_dilation == 1;
         });
}

// The order that permutes [dims of the input without the feature, feature] to the labels of the output.
Dims OutputOrder(const ConvDims& labels) {
  auto without_feature = [&](int64_t d) { return d < labels.input_feature ? d : d - 1; };
  Dims order(labels.output_spatial.size() + 2, 0);
  order[static_cast<size_t>(labels.output_batch)] = without_feature(labels.input_batch);
  order[static_cast<size_t>(labels.output_feature)] = static_cast<int64_t>(order.size()) - 1;
  for (size_t i = 0; i < labels.output_spatial.size(); ++i)
    order[static_cast<size_t>(labels.output_spatial[i])] = without_feature(labels.input_spatial[i]);
  return order;
}

// A convolution with a window of one element is a GEMM over the features.
Array Pointwise(const Array& input, const Array& kernel, const ConvDims& labels, ElementType result) {
  const ContractionDims dims{{}, {}, {&labels.input_feature, 1}, {&labels.kernel_input_feature, 1}};
  const Array dot = DotGeneral(input, kernel, dims, result);
  Dims sizes(dot.dims().begin(), dot.dims().begin() + input.rank() - 1);
  sizes.push_back(kernel.dim(labels.kernel_output_feature));
  return InOrder(dot.WithDims(std::move(sizes)), OutputOrder(labels));
}

int64_t OutputSize(int64_t base, int64_t kernel, const WindowDim& window) {
  const int64_t dilated_base = base == 0 ? 0 : (base - 1) * window.base_dilation + 1;
  const int64_t dilated_kernel = kernel == 0 ? 0 : (kernel - 1) * window.window_dilation + 1;
  const int64_t padded = dilated_base + window.pad_low + window.pad_high;
  return padded < dilated_kernel || padded <= 0 ? 0 : (padded - dilated_kernel) / window.stride + 1;
}

// Sums of pred are counted in u32, so that a sum of many trues stays nonzero.
ElementType ConvolutionSumType(ElementType input, ElementType kernel, ElementType result) {
  const ElementType sum = SumType(input, kernel, result);
  return sum == ElementType::kPred ? ElementType::kU32 : sum;
}

template <class T>
void ConvolveAs(const ConvolutionSizes& sizes, const Array& input, const Array& kernel, Array& out) {
  Convolve<T>(sizes, input.As<T>().data(), kernel.As<T>().data(), out.Mutable<T>().data());
}

void ConvolveTyped(const ConvolutionSizes& sizes, const Array& input, const Array& kernel, Array& out) {
  if (out.type() == ElementType::kF32) return ConvolveAs<float>(sizes, input, kernel, out);
  if (out.type() == ElementType::kF64) return ConvolveAs<double>(sizes, input, kernel, out);
  if (out.type() == ElementType::kC64) return ConvolveAs<std::complex<float>>(sizes, input, kernel, out);
  if (out.type() == ElementType::kC128) return ConvolveAs<std::complex<double>>(sizes, input, kernel, out);
  if (out.element_bytes() == 1) return ConvolveAs<uint8_t>(sizes, input, kernel, out);
  if (out.element_bytes() == 2) return ConvolveAs<uint16_t>(sizes, input, kernel, out);
  if (out.element_bytes() == 4) return ConvolveAs<uint32_t>(sizes, input, kernel, out);
  return ConvolveAs<uint64_t>(sizes, input, kernel, out);
}

Dims Ordered(int64_t first, Ints spatial, std::initializer_list<int64_t> last) {
  Dims order;
  if (first >= 0) order.push_back(first);
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

}  // namespace

bool HasDistinctDims(const ConvDims& labels, int64_t rank) {
  auto each_once = [&](int64_t first, int64_t second, Ints spatial) {
    std::vector<int64_t> dims(spatial.begin(), spatial.end());
    dims.insert(dims.end(), {first, second});
    return static_cast<int64_t>(dims.size()) == rank && AllDistinct(dims) && AllWithin(dims, 0, rank);
  };
  return each_once(labels.input_batch, labels.input_feature, labels.input_spatial) &&
         each_once(labels.kernel_input_feature, labels.kernel_output_feature, labels.kernel_spatial) &&
         each_once(labels.output_batch, labels.output_feature, labels.output_spatial);
}

Status CheckSizes(const Instruction& hlo, const Array& input, const Array& kernel, const ConvolutionForm& form) {
  const ConvDims& labels = form.labels;
  const bool fits = input.dim(labels.input_feature) == kernel.dim(labels.kernel_input_feature) * form.feature_groups &&
                    input.dim(labels.input_batch) % form.batch_groups == 0 &&
                    kernel.dim(labels.kernel_output_feature) % (form.feature_groups * form.batch_groups) == 0;
  if (fits) return {};
  return Fail(hlo.at, "", StrCat("incompatible features or groups: ", ToString(input), " and ", ToString(kernel)));
}

Array Convolved(const Array& input, const Array& kernel, const ConvolutionForm& form, ElementType result) {
  const ConvDims& labels = form.labels;
  if (IsPointwise(form)) return Pointwise(input, kernel, labels, result);
  ConvolutionSizes sizes;
  sizes.feature_groups = form.feature_groups;
  sizes.batch_groups = form.batch_groups;
  sizes.batch = input.dim(labels.input_batch) / sizes.batch_groups;
  sizes.features = kernel.dim(labels.kernel_input_feature);
  sizes.outputs = kernel.dim(labels.kernel_output_feature) / sizes.groups();
  Dims out_sizes{sizes.batch};
  for (size_t i = 0; i < form.window.size(); ++i) {
    const int64_t base = input.dim(labels.input_spatial[i]), taps = kernel.dim(labels.kernel_spatial[i]);
    sizes.spatial.push_back({base, taps, OutputSize(base, taps, form.window[i]), form.window[i]});
    out_sizes.push_back(sizes.spatial.back().output);
  }
  out_sizes.push_back(kernel.dim(labels.kernel_output_feature));

  const ElementType sum = ConvolutionSumType(input.type(), kernel.type(), result);
  const Array base =
      Converted(InOrder(input, Ordered(labels.input_batch, labels.input_spatial, {labels.input_feature})), sum);
  const Array taps = Converted(
      InOrder(kernel, Ordered(-1, labels.kernel_spatial, {labels.kernel_input_feature, labels.kernel_output_feature})),
      sum);
  Array out(sum, std::move(out_sizes));
  ConvolveTyped(sizes, base, taps, out);

  // Permutes [batch, spatial, feature] to the labels of the output.
  const Dims from = Ordered(labels.output_batch, labels.output_spatial, {labels.output_feature});
  Dims order(from.size());
  for (size_t i = 0; i < from.size(); ++i) order[static_cast<size_t>(from[i])] = static_cast<int64_t>(i);
  return InOrder(sum == result ? out : Converted(out, result), order);
}

}  // namespace shoal::internal
