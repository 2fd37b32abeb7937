#include "compile/library/convolution_pieces.h"

#include <algorithm>

#include "kernels/arrays/array.h"

namespace shoal::internal {
namespace {

using DnnKind = DnnConvolution::Kind;
using Sizes = std::vector<int64_t>;

// One array of a convolution: the sizes and strides of its dimensions by their role.
struct Labelled {
  int64_t first = 1, second = 1, first_stride = 1, second_stride = 1;
  Sizes spatial, spatial_strides;

  Labelled(const Shape& shape, int64_t first_dim, int64_t second_dim, Ints spatial_dims) {
    const Dims strides = RowMajorStrides(shape.dims());
    first = shape.dim(first_dim), first_stride = strides[static_cast<size_t>(first_dim)];
    second = shape.dim(second_dim), second_stride = strides[static_cast<size_t>(second_dim)];
    for (int64_t d : spatial_dims) {
      spatial.push_back(shape.dim(d));
      spatial_strides.push_back(strides[static_cast<size_t>(d)]);
    }
  }
  // [a, b, spatial…]
  Sizes Strides(int64_t a, int64_t b) const {
    Sizes strides{a, b};
    strides.insert(strides.end(), spatial_strides.begin(), spatial_strides.end());
    return strides;
  }
};

struct Arrays {
  Labelled input, kernel, output;  // batch, features; input features, output features; batch, features
  int64_t feature_groups, batch_groups;
  Sizes strides, window_dilations, base_dilations, pad_low;
  bool reversed = false;
};

int64_t Product(const Sizes& sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

bool AllOnes(const Sizes& sizes) { return Product(sizes) == 1; }

DnnForm Forward(const Arrays& of) {
  DnnForm form;
  DnnConvolution& to = form.convolution;
  to.kind = DnnKind::kForward;
  to.batch = of.input.first, to.groups = of.feature_groups;
  to.in_features = of.input.second, to.out_features = of.output.second;
  to.source = of.input.spatial, to.kernel = of.kernel.spatial, to.result = of.output.spatial;
  to.strides = of.strides, to.dilations = of.window_dilations, to.pad_low = of.pad_low;
  to.source_strides = of.input.Strides(of.input.first_stride, of.input.second_stride);
  to.result_strides = of.output.Strides(of.output.first_stride, of.output.second_stride);
  to.weight_strides = of.kernel.Strides(of.kernel.second_stride, of.kernel.first_stride);
  to.weight_strides.insert(to.weight_strides.begin(), to.out_features / to.groups * of.kernel.second_stride);
  form.flips_kernel = of.reversed;
  return form;
}

// The result has the role of a forward convolution's input: x = y * base_dilation + t * dilation - pad, flipped window.
DnnForm BackwardData(const Arrays& of) {
  DnnForm form;
  DnnConvolution& to = form.convolution;
  to.kind = DnnKind::kBackwardData;
  to.batch = of.input.first, to.groups = of.feature_groups;
  to.in_features = of.output.second, to.out_features = of.input.second;
  to.source = of.output.spatial, to.kernel = of.kernel.spatial, to.result = of.input.spatial;
  to.strides = of.base_dilations, to.dilations = of.window_dilations;
  for (size_t d = 0; d < to.kernel.size(); ++d)
    to.pad_low.push_back((to.kernel[d] - 1) * of.window_dilations[d] - of.pad_low[d]);
  to.source_strides = of.output.Strides(of.output.first_stride, of.output.second_stride);
  to.result_strides = of.input.Strides(of.input.first_stride, of.input.second_stride);
  to.weight_strides = of.kernel.Strides(of.kernel.first_stride, of.kernel.second_stride);
  to.weight_strides.insert(to.weight_strides.begin(), to.in_features / to.groups * of.kernel.second_stride);
  form.flips_kernel = !of.reversed;
  return form;
}

// The input features take the role of the batch, over which sums run. The result takes the role of the window.
DnnForm BackwardWeights(const Arrays& of) {
  DnnForm form;
  DnnConvolution& to = form.convolution;
  to.kind = DnnKind::kBackwardWeights;
  to.batch = of.input.second, to.groups = of.batch_groups;
  to.in_features = of.input.first, to.out_features = of.output.second;
  to.source = of.input.spatial, to.kernel = of.output.spatial, to.result = of.kernel.spatial;
  to.strides = of.window_dilations, to.dilations = of.strides, to.pad_low = of.pad_low;
  to.source_strides = of.input.Strides(of.input.second_stride, of.input.first_stride);
  to.result_strides = of.kernel.Strides(of.kernel.first_stride, of.kernel.second_stride);
  to.weight_strides = of.output.Strides(of.output.second_stride, of.output.first_stride);
  to.weight_strides.insert(to.weight_strides.begin(), to.out_features / to.groups * of.output.second_stride);
  form.flips_kernel = of.reversed;
  return form;
}

int64_t Extent(const DnnConvolution& of, size_t d) { return (of.kernel[d] - 1) * of.dilations[d] + 1; }

// oneDNN does not support negative padding. Crops the source elements that no window reaches; false if impossible.
bool Crop(DnnForm& form) {
  DnnConvolution& to = form.convolution;
  for (size_t d = 0; d < to.kernel.size(); ++d) {
    const int64_t high = (to.result[d] - 1) * to.strides[d] + Extent(to, d) - to.source[d] - to.pad_low[d];
    if (to.pad_low[d] >= 0 && high >= 0) continue;
    if (to.kind == DnnKind::kBackwardData) {
      // Unreached elements of the result are zero. oneDNN writes them if there are fewer than a stride.
      if (to.pad_low[d] < 0 || high <= -to.strides[d]) return false;
      continue;
    }
    if (high < 0) to.source[d] += high;
    if (to.pad_low[d] < 0) {
      form.source_offset += -to.pad_low[d] * to.source_strides[d + 2];
      to.source[d] += to.pad_low[d];
      to.pad_low[d] = 0;
    }
    if (to.source[d] <= 0) return false;
  }
  return true;
}

constexpr int64_t kMaxBlocks = 16;

// Multiplications that justify a part: about 20 µs. oneDNN is slower with few features.
int64_t MinPartWork(const DnnConvolution& of) {
  const int64_t features = std::min(of.in_features, of.out_features) / of.groups;
  return features < 8 ? int64_t{1} << 18 : int64_t{1} << 20;
}

// Rows [begin, end) of the first spatial dimension of the result.
std::optional<DnnPart> RowsPart(const DnnConvolution& whole, int64_t begin, int64_t end) {
  DnnPart part{whole};
  DnnConvolution& to = part.convolution;
  const int64_t start = begin * whole.strides[0] - whole.pad_low[0];
  const int64_t stop = std::min(whole.source[0], (end - 1) * whole.strides[0] + Extent(whole, 0) - whole.pad_low[0]);
  const int64_t first = std::max<int64_t>(0, start);
  if (stop <= first) return std::nullopt;  // only padding
  to.pad_low[0] = first - start;
  to.source[0] = stop - first;
  to.result[0] = end - begin;
  part.source = first * whole.source_strides[2];
  part.result = begin * whole.result_strides[2];
  return part;
}

}  // namespace

std::optional<DnnForm> DnnFormOf(const Instruction& hlo) {
  const ConvDims& labels = *hlo[kDimLabels];
  const Window* window = hlo[kWindow];
  const size_t rank = labels.input_spatial.size();
  if (rank < 1 || rank > 3 || window == nullptr || window->dims.size() != rank) return std::nullopt;
  Arrays of{{hlo.operand_shape(0), labels.input_batch, labels.input_feature, labels.input_spatial},
            {hlo.operand_shape(1), labels.kernel_input_feature, labels.kernel_output_feature, labels.kernel_spatial},
            {hlo.shape(), labels.output_batch, labels.output_feature, labels.output_spatial},
            hlo[kFeatureGroupCount],
            hlo[kBatchGroupCount],
            {}, {}, {}, {}};
  const bool reversed = window->dims[0].reversal;
  of.reversed = reversed;
  for (const WindowDim& dim : window->dims) {
    of.strides.push_back(dim.stride);
    of.window_dilations.push_back(dim.window_dilation);
    of.base_dilations.push_back(dim.base_dilation);
    of.pad_low.push_back(dim.pad_low);
    if (dim.reversal != reversed) return std::nullopt;
  }
  std::optional<DnnForm> form;
  const bool has_holes = !AllOnes(of.base_dilations);
  if (of.batch_groups > 1) {
    if (has_holes || of.feature_groups > 1) return std::nullopt;
    form = BackwardWeights(of);
  } else if (has_holes) {
    if (!AllOnes(of.strides)) return std::nullopt;
    form = BackwardData(of);
  } else if (of.feature_groups == 1 && Product(of.kernel.spatial) > 4 * Product(of.output.spatial)) {
    form = BackwardWeights(of);
  } else {
    form = Forward(of);
  }
  if (!Crop(*form)) return std::nullopt;
  return form;
}

std::vector<DnnPart> SplitConvolution(const DnnConvolution& whole) {
  const int64_t work = whole.batch * Product(whole.result) * Product(whole.kernel) * whole.in_features *
                       (whole.out_features / whole.groups);
  const int64_t max_parts = std::clamp<int64_t>(work / MinPartWork(whole), 1, kMaxBlocks);
  std::vector<DnnPart> parts;
  const int64_t batches = std::min(max_parts, whole.batch);
  const int64_t rows = whole.kind == DnnKind::kForward && whole.result[0] >= 8 ? std::min(max_parts / batches, whole.result[0] / 4) : 1;
  for (int64_t i = 0; i < batches; ++i) {
    const int64_t first = whole.batch * i / batches, last = whole.batch * (i + 1) / batches;
    DnnConvolution images = whole;
    images.batch = last - first;
    for (int64_t r = 0; r < std::max<int64_t>(rows, 1); ++r) {
      std::optional<DnnPart> part =
          rows > 1 ? RowsPart(images, whole.result[0] * r / rows, whole.result[0] * (r + 1) / rows) : DnnPart{images};
      if (!part) return {DnnPart{whole}};
      part->source += first * whole.source_strides[0];
      part->result += first * whole.result_strides[0];
      parts.push_back(std::move(*part));
    }
  }
  return parts;
}

}  // namespace shoal::internal
