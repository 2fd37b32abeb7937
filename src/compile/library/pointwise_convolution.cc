#include "compile/library/pointwise_convolution.h"

#include "kernels/arrays/array.h"

namespace shoal::internal {
namespace {

// A dimension that input and result share: the batch, or a spatial one.
struct Place {
  int64_t size = 1, input_stride = 1;
};

bool IsPointwise(const Instruction& hlo) {
  if (hlo[kFeatureGroupCount] != 1 || hlo[kBatchGroupCount] != 1) return false;
  const ConvDims& labels = *hlo[kDimLabels];
  for (int64_t d : labels.kernel_spatial)
    if (hlo.operand_shape(1).dim(d) != 1) return false;
  const Window* window = hlo[kWindow];
  if (window == nullptr) return true;
  for (const WindowDim& dim : window->dims)
    if (dim.size != 1 || dim.stride != 1 || dim.pad_low != 0 || dim.pad_high != 0 || dim.base_dilation != 1) return false;
  return true;
}

// The places as the result has them, before and after its features.
struct Places {
  std::vector<Place> before, after;
};

Places PlacesOf(const Instruction& hlo) {
  const ConvDims& labels = *hlo[kDimLabels];
  const Shape &input = hlo.operand_shape(0), &out = hlo.shape();
  const Dims strides = RowMajorStrides(input.dims());
  std::vector<int64_t> of_input(static_cast<size_t>(out.rank()), -1);
  of_input[static_cast<size_t>(labels.output_batch)] = labels.input_batch;
  for (size_t i = 0; i < labels.output_spatial.size(); ++i)
    of_input[static_cast<size_t>(labels.output_spatial[i])] = labels.input_spatial[i];
  Places places;
  for (int64_t d = 0; d < out.rank(); ++d) {
    if (d == labels.output_feature || out.dim(d) == 1) continue;
    auto& to = d < labels.output_feature ? places.before : places.after;
    to.push_back({out.dim(d), strides[static_cast<size_t>(of_input[static_cast<size_t>(d)])]});
  }
  return places;
}

// The last of the dimensions as one, as far as they follow each other in memory; the ones before stay.
Place TakeMerged(std::vector<Place>& dims) {
  if (dims.empty()) return {};
  Place merged = dims.back();
  dims.pop_back();
  while (!dims.empty() && dims.back().input_stride == merged.input_stride * merged.size) {
    merged.size *= dims.back().size;
    dims.pop_back();
  }
  return merged;
}

bool IsMatrix(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  return rows == 1 || columns == 1 || row == 1 || column == 1;
}

}  // namespace

std::optional<PointwiseGemm> PointwiseGemmOf(const Instruction& hlo) {
  if (!IsPointwise(hlo)) return std::nullopt;
  const ConvDims& labels = *hlo[kDimLabels];
  const Shape &input = hlo.operand_shape(0), &kernel = hlo.operand_shape(1);
  const auto stride = [](const Shape& shape, int64_t d) { return RowMajorStrides(shape.dims())[static_cast<size_t>(d)]; };
  const int64_t feature = stride(input, labels.input_feature);
  const int64_t in = stride(kernel, labels.kernel_input_feature), out = stride(kernel, labels.kernel_output_feature);
  const int64_t out_features = kernel.dim(labels.kernel_output_feature);

  PointwiseGemm product;
  product.k = input.dim(labels.input_feature);
  Places places = PlacesOf(hlo);
  product.kernel_is_lhs = !places.after.empty();
  const Place merged = TakeMerged(product.kernel_is_lhs ? places.after : places.before);
  if (product.kernel_is_lhs) {
    if (!places.after.empty()) return std::nullopt;
    product.m = out_features, product.n = merged.size;
    product.a_row = out, product.a_column = in, product.b_row = feature, product.b_column = merged.input_stride;
  } else {
    product.m = merged.size, product.n = out_features;
    product.a_row = merged.input_stride, product.a_column = feature, product.b_row = in, product.b_column = out;
  }
  if (!IsMatrix(product.m, product.k, product.a_row, product.a_column)) return std::nullopt;
  if (!IsMatrix(product.k, product.n, product.b_row, product.b_column)) return std::nullopt;
  product.places = {{}};
  for (const Place& dim : places.before) {
    std::vector<GemmOffsets> next;
    for (const GemmOffsets& place : product.places)
      for (int64_t i = 0; i < dim.size; ++i) {
        const int64_t by = i * dim.input_stride;
        next.push_back(product.kernel_is_lhs ? GemmOffsets{0, place.b + by} : GemmOffsets{place.a + by, 0});
      }
    product.places = std::move(next);
  }
  return product;
}

}  // namespace shoal::internal
