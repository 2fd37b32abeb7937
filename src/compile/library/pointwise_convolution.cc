#include "compile/library/pointwise_convolution.h"

#include "kernels/arrays/array.h"

namespace shoal::internal {
namespace {

// A dimension shared by input and result: the batch or a spatial dimension.
struct SharedDim {
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

// The shared dimensions before and after the feature dimension of the result, in the order of the result.
struct SharedDims {
  std::vector<SharedDim> before, after;
};

SharedDims SharedDimsOf(const Instruction& hlo) {
  const ConvDims& labels = *hlo[kDimLabels];
  const Shape &input = hlo.operand_shape(0), &out = hlo.shape();
  const Dims strides = RowMajorStrides(input.dims());
  std::vector<int64_t> of_input(static_cast<size_t>(out.rank()), -1);
  of_input[static_cast<size_t>(labels.output_batch)] = labels.input_batch;
  for (size_t i = 0; i < labels.output_spatial.size(); ++i)
    of_input[static_cast<size_t>(labels.output_spatial[i])] = labels.input_spatial[i];
  SharedDims shared;
  for (int64_t d = 0; d < out.rank(); ++d) {
    if (d == labels.output_feature || out.dim(d) == 1) continue;
    auto& to = d < labels.output_feature ? shared.before : shared.after;
    to.push_back({out.dim(d), strides[static_cast<size_t>(of_input[static_cast<size_t>(d)])]});
  }
  return shared;
}

// Removes the last dimensions, as far as they are contiguous, and returns them merged into one.
SharedDim TakeMerged(std::vector<SharedDim>& dims) {
  if (dims.empty()) return {};
  SharedDim merged = dims.back();
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

  PointwiseGemm gemm;
  gemm.k = input.dim(labels.input_feature);
  SharedDims shared = SharedDimsOf(hlo);
  gemm.kernel_is_lhs = !shared.after.empty();
  const SharedDim merged = TakeMerged(gemm.kernel_is_lhs ? shared.after : shared.before);
  if (gemm.kernel_is_lhs) {
    if (!shared.after.empty()) return std::nullopt;
    gemm.m = out_features, gemm.n = merged.size;
    gemm.a_row = out, gemm.a_column = in, gemm.b_row = feature, gemm.b_column = merged.input_stride;
  } else {
    gemm.m = merged.size, gemm.n = out_features;
    gemm.a_row = merged.input_stride, gemm.a_column = feature, gemm.b_row = in, gemm.b_column = out;
  }
  if (!IsMatrix(gemm.m, gemm.k, gemm.a_row, gemm.a_column)) return std::nullopt;
  if (!IsMatrix(gemm.k, gemm.n, gemm.b_row, gemm.b_column)) return std::nullopt;
  gemm.offsets = {{}};
  for (const SharedDim& dim : shared.before) {
    std::vector<GemmOffsets> next;
    for (const GemmOffsets& offset : gemm.offsets)
      for (int64_t i = 0; i < dim.size; ++i) {
        const int64_t by = i * dim.input_stride;
        next.push_back(gemm.kernel_is_lhs ? GemmOffsets{0, offset.b + by} : GemmOffsets{offset.a + by, 0});
      }
    gemm.offsets = std::move(next);
  }
  return gemm;
}

}  // namespace shoal::internal
