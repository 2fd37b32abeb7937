#include "execute/interp/custom_calls/convolution_vectors.h"

#include <algorithm>

#include "core/ops/backend_config.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "kernels/arrays/strided.h"
#include "core/ops/control_flow.h"
#include "core/ops/dims.h"

namespace shoal::internal {
namespace {

bool IsReordered(const Instruction& hlo) {
  return BackendConfig::Of(hlo).Object("cudnn_conv_backend_config").Bool("reordered_int8_nchw_vect");
}

// The dimensions that dim_labels name for one array, and the vector dimension, which they do not name.
struct VectorizedDims {
  int64_t first, feature;  // first: batch or output feature. feature: the vectorized feature
  Ints spatial;
  int64_t vector = 0;

  // Finds the only dimension without a label. Returns false unless all others have exactly one label.
  bool FindVectorDim(int64_t rank) {
    std::vector<int64_t> named = {first, feature};
    named.insert(named.end(), spatial.begin(), spatial.end());
    if (static_cast<int64_t>(named.size()) + 1 != rank || !AllDistinct(named) || !AllWithin(named, 0, rank))
      return false;
    while (Contains(named, vector)) ++vector;
    return true;
  }
  // The index that a dimension has after the vectors are merged into the feature.
  int64_t PlainDim(int64_t dim) const { return dim > vector ? dim - 1 : dim; }
  // The order of all dimensions that moves the vector dimension directly after the feature.
  Dims Order() const {
    Dims order;
    for (int64_t d = 0; d < static_cast<int64_t>(spatial.size()) + 3; ++d) {
      if (d != vector) order.push_back(d);
      if (d == feature) order.push_back(vector);
    }
    return order;
  }
};

// The dim_labels of the arrays after the vectors are merged into the feature.
struct PlainLabels {
  Dims input_spatial, kernel_spatial, output_spatial;
  ConvDims labels;

  PlainLabels(const VectorizedDims& input, const VectorizedDims& kernel, const VectorizedDims& output)
      : input_spatial(Spatial(input)), kernel_spatial(Spatial(kernel)), output_spatial(Spatial(output)) {
    labels.input_batch = input.PlainDim(input.first);
    labels.input_feature = input.PlainDim(input.feature);
    labels.kernel_output_feature = kernel.PlainDim(kernel.first);
    labels.kernel_input_feature = kernel.PlainDim(kernel.feature);
    labels.output_batch = output.PlainDim(output.first);
    labels.output_feature = output.PlainDim(output.feature);
    labels.input_spatial = AsInts(input_spatial);
    labels.kernel_spatial = AsInts(kernel_spatial);
    labels.output_spatial = AsInts(output_spatial);
  }
  PlainLabels(const PlainLabels&) = delete;  // because `labels` points into *this
  PlainLabels& operator=(const PlainLabels&) = delete;

  static Dims Spatial(const VectorizedDims& vectorized) {
    Dims dims = ToDims(vectorized.spatial);
    for (int64_t& d : dims) d = vectorized.PlainDim(d);
    return dims;
  }
};

Dims PlainSizes(Ints sizes, const VectorizedDims& vectorized) {
  Dims merged;
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    const int64_t size = sizes[static_cast<size_t>(d)];
    if (d != vectorized.vector)
      merged.push_back(d == vectorized.feature ? size * sizes[static_cast<size_t>(vectorized.vector)] : size);
  }
  return merged;
}

Array Unpacked(const Array& array, const VectorizedDims& vectorized) {
  return Transposed(array, AsInts(vectorized.Order())).WithDims(PlainSizes(array.dims(), vectorized));
}

Array Packed(const Array& array, Ints sizes, const VectorizedDims& vectorized) {
  const Dims order = vectorized.Order();
  Dims split, inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    split.push_back(sizes[static_cast<size_t>(order[i])]);
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return Transposed(array.WithDims(std::move(split)), AsInts(inverse));
}

// True for a filter [O, I/32, H, W, 32]: only this form can be reordered.
bool CanReorder(Ints sizes) { return sizes.size() == 5 && sizes[0] % 32 == 0 && sizes[4] == 32; }

// Reorders to [I/32, H, W, O/8, 2, 8, 4, 4], with O split into [O/8, 4, 2] and the vector into [8, 4].
Array ReorderedFilter(const Array& filter) {
  constexpr int64_t kOrder[] = {3, 4, 5, 0, 2, 6, 1, 7};
  const Array split = filter.WithDims({filter.dim(0) / 8, 4, 2, filter.dim(1), filter.dim(2), filter.dim(3), 8, 4});
  return Transposed(split, kOrder).WithDims(ToDims(filter.dims()));
}
Array RestoredFilter(const Array& filter) {
  constexpr int64_t kOrder[] = {3, 6, 4, 0, 1, 2, 5, 7};
  const Array split = filter.WithDims({filter.dim(1), filter.dim(2), filter.dim(3), filter.dim(0) / 8, 2, 8, 4, 4});
  return Transposed(split, kOrder).WithDims(ToDims(filter.dims()));
}

// Order of the dimensions [O/32, 4, 2, 4] of O in memory: [O/32, 2, 4, 4].
constexpr int64_t kBiasOrder[] = {0, 2, 1, 3};
Array ReorderedBias(const Array& bias) {
  return Transposed(bias.WithDims({bias.count() / 32, 4, 2, 4}), kBiasOrder).WithDims(ToDims(bias.dims()));
}
Array RestoredBias(const Array& bias) {
  return Transposed(bias.WithDims({bias.count() / 32, 2, 4, 4}), kBiasOrder).WithDims(ToDims(bias.dims()));
}

Status RestoreOrder(const Instruction& hlo, const VectorizedDims& vectorized, std::span<Value> operands) {
  const Array& filter = operands[1].array();
  if (!CanReorder(filter.dims()) || vectorized.first != 0 || vectorized.feature != 1 || vectorized.spatial[0] != 2 ||
      vectorized.vector != 4)
    return ExecutionError(hlo, StrCat("a reordered filter must be [O,I/32,H,W,32], got ", ToString(filter)));
  operands[1] = RestoredFilter(filter);
  if (operands.size() < 3) return {};
  const Array& bias = operands[2].array();
  if (bias.count() % 32 != 0) return ExecutionError(hlo, StrCat("a reordered bias must be [O], got ", ToString(bias)));
  operands[2] = RestoredBias(bias);
  return {};
}

}  // namespace

bool IsVectorized(const Call& call) {
  const ConvDims* labels = call.hlo[kDimLabels];
  if (labels == nullptr || call.operands.empty() || !call.operands[0].IsArray()) return false;
  return call.array(0).dims().size() == labels->input_spatial.size() + 3 || IsReordered(call.hlo);
}

Result<Value> VectorizedConvolution(Call& call, Evaluator plain) {
  const Instruction& hlo = call.hlo;
  const ConvDims& labels = *hlo[kDimLabels];
  const Shape& shape = FirstElement(hlo.shape());
  if (call.operands.size() < 2 ||
      !std::all_of(call.operands.begin(), call.operands.end(), [](const Value& operand) { return operand.IsArray(); }))
    return ExecutionError(hlo, "expected at least two operands, all arrays");
  VectorizedDims input{labels.input_batch, labels.input_feature, labels.input_spatial};
  VectorizedDims kernel{labels.kernel_output_feature, labels.kernel_input_feature, labels.kernel_spatial};
  VectorizedDims output{labels.output_batch, labels.output_feature, labels.output_spatial};
  if (!shape.IsArray() || !shape.ElementCount() || !input.FindVectorDim(call.array(0).rank()) ||
      !kernel.FindVectorDim(call.array(1).rank()) || !output.FindVectorDim(shape.rank()) ||
      (call.operands.size() > 3 && call.array(3).rank() != shape.rank()))
    return ExecutionError(hlo, StrCat("dim_labels must name all dimensions but one, the vector, of ",
                               ToString(call.array(0)), ", ", ToString(call.array(1)), " and ", ToString(shape)));

  std::vector<Value> operands(call.operands.begin(), call.operands.end());
  if (IsReordered(hlo)) SHOAL_TRY(RestoreOrder(hlo, kernel, operands));
  operands[0] = Unpacked(operands[0].array(), input);
  operands[1] = Unpacked(operands[1].array(), kernel);
  if (operands.size() > 3) operands[3] = Unpacked(operands[3].array(), output);

  const PlainLabels plain_labels(input, kernel, output);
  // A copy of the instruction whose arrays have one dimension less.
  Arena arena;
  ShapePool shapes(arena);
  Instruction plain_hlo = hlo;
  plain_hlo.shape_ = shapes.Array(shape.element_type(), AsInts(PlainSizes(shape.dims(), output)));
  std::vector<NamedAttr> attrs(hlo.attrs.begin(), hlo.attrs.end());
  for (NamedAttr& attr : attrs)
    if (attr.id == kDimLabels.id) attr.value = &plain_labels.labels;
  plain_hlo.attrs = attrs;
  Call plain_call{plain_hlo, operands, call.device};
  SHOAL_ASSIGN(result, plain(plain_call));
  Value packed = Packed(result.array(), shape.dims(), output);
  if (!hlo.shape().IsTuple()) return packed;
  std::vector<Value> results{std::move(packed)};
  for (const Shape* other : hlo.shape().elements().subspan(1)) results.push_back(ZeroValue(*other));
  return Value::Tuple(std::move(results));
}

// __cudnn$convReorderFilter and …FilterAndBias: return filter and bias in the memory order of cuDNN's kernels.
Result<Value> CudnnReorderFilter(Call& call) {
  const size_t count = call.hlo.shape().IsTuple() ? 2 : 1;
  if (call.operands.size() != count || !call.operands[0].IsArray() || !CanReorder(call.array(0).dims()))
    return ExecutionError(call.hlo, "expected a filter [O,I/32,H,W,32], and a bias if the result is a tuple");
  Value filter = ReorderedFilter(call.array(0));
  if (count == 1) return filter;
  if (!call.operands[1].IsArray() || call.array(1).count() != call.array(0).dim(0))
    return ExecutionError(call.hlo, StrCat("bias must have one element for each output of ", ToString(call.array(0))));
  return Value::Tuple({std::move(filter), ReorderedBias(call.array(1))});
}

}  // namespace shoal::internal
