// Attributes stored as a separate message: windows, slices, padding, literals.
#include <algorithm>

#include "core/base/strings.h"
#include "formats/proto/attr_fields.h"

namespace shoal::internal {
namespace {

DecodeResult ReadWindow(const AttrField&, const AttrSource& source) {
  if (!source.from.has_window()) return DecodedAttr{};
  std::vector<WindowDim> dims;
  for (const proto::WindowDimension& from : source.from.window().dimensions())
    dims.push_back({from.size(), from.stride(), from.padding_low(), from.padding_high(), from.base_dilation(),
                    from.window_dilation(), from.window_reversal()});
  const Window* window = source.module.arena.New<Window>(source.module.arena.Copy(dims));
  return DecodedAttr{window};
}

void WriteWindow(const AttrField&, const AttrValue* value, AttrTarget& target) {
  proto::Window* window = target.to.mutable_window();
  const Window* const* attr = Get<const Window*>(value);
  if (attr == nullptr) return;
  for (const WindowDim& dim : (*attr)->dims) {
    proto::WindowDimension* to = window->add_dimensions();
    to->set_size(dim.size);
    to->set_stride(dim.stride);
    to->set_padding_low(dim.pad_low);
    to->set_padding_high(dim.pad_high);
    to->set_base_dilation(dim.base_dilation);
    to->set_window_dilation(dim.window_dilation);
    to->set_window_reversal(dim.reversal);
  }
}

// True if the dimensions are distinct and in range. They may have gaps, which the text writes as '?'.
bool AreDistinctDims(int64_t a, int64_t b, Ints spatial) {
  constexpr int64_t kMaxRank = 1024;
  std::vector<int64_t> dims(spatial.begin(), spatial.end());
  dims.insert(dims.end(), {a, b});
  std::sort(dims.begin(), dims.end());
  return dims.front() >= 0 && dims.back() < kMaxRank && std::adjacent_find(dims.begin(), dims.end()) == dims.end();
}

DecodeResult ReadConvDims(const AttrField&, const AttrSource& source) {
  if (!source.from.has_convolution_dimension_numbers()) return DecodedAttr{};
  const proto::ConvolutionDimensionNumbers& from = source.from.convolution_dimension_numbers();
  ConvDims dims;
  dims.input_batch = from.input_batch_dimension();
  dims.input_feature = from.input_feature_dimension();
  dims.kernel_input_feature = from.kernel_input_feature_dimension();
  dims.kernel_output_feature = from.kernel_output_feature_dimension();
  dims.output_batch = from.output_batch_dimension();
  dims.output_feature = from.output_feature_dimension();
  dims.input_spatial = CopyInts(source.module, from.input_spatial_dimensions());
  dims.kernel_spatial = CopyInts(source.module, from.kernel_spatial_dimensions());
  dims.output_spatial = CopyInts(source.module, from.output_spatial_dimensions());
  if (!AreDistinctDims(dims.input_batch, dims.input_feature, dims.input_spatial) ||
      !AreDistinctDims(dims.kernel_input_feature, dims.kernel_output_feature, dims.kernel_spatial) ||
      !AreDistinctDims(dims.output_batch, dims.output_feature, dims.output_spatial))
    return Fail("dim_labels: a dimension is repeated or out of range");
  const ConvDims* result = source.module.arena.New<ConvDims>(dims);
  return DecodedAttr{result};
}

void WriteConvDims(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const ConvDims* const* attr = Get<const ConvDims*>(value);
  if (attr == nullptr) return;
  const ConvDims& dims = **attr;
  proto::ConvolutionDimensionNumbers* to = target.to.mutable_convolution_dimension_numbers();
  to->set_input_batch_dimension(dims.input_batch);
  to->set_input_feature_dimension(dims.input_feature);
  to->set_kernel_input_feature_dimension(dims.kernel_input_feature);
  to->set_kernel_output_feature_dimension(dims.kernel_output_feature);
  to->set_output_batch_dimension(dims.output_batch);
  to->set_output_feature_dimension(dims.output_feature);
  Assign(to->mutable_input_spatial_dimensions(), dims.input_spatial);
  Assign(to->mutable_kernel_spatial_dimensions(), dims.kernel_spatial);
  Assign(to->mutable_output_spatial_dimensions(), dims.output_spatial);
}

DecodeResult ReadSlice(const AttrField&, const AttrSource& source) {
  std::vector<SliceRange> ranges;
  for (const auto& from : source.from.slice_dimensions()) ranges.push_back({from.start(), from.limit(), from.stride()});
  return DecodedAttr{std::span<const SliceRange>(source.module.arena.Copy(ranges)), !ranges.empty()};
}

void WriteSlice(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const auto* attr = Get<std::span<const SliceRange>>(value);
  if (attr == nullptr) return;
  for (const SliceRange& range : *attr) {
    auto* to = target.to.add_slice_dimensions();
    to->set_start(range.start);
    to->set_limit(range.limit);
    to->set_stride(range.stride);
  }
}

DecodeResult ReadPadding(const AttrField&, const AttrSource& source) {
  if (!source.from.has_padding_config()) return DecodedAttr{};
  std::vector<PaddingDim> dims;
  for (const auto& from : source.from.padding_config().dimensions())
    dims.push_back({from.edge_padding_low(), from.edge_padding_high(), from.interior_padding()});
  return DecodedAttr{std::span<const PaddingDim>(source.module.arena.Copy(dims))};
}

void WritePadding(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const auto* attr = Get<std::span<const PaddingDim>>(value);
  proto::PaddingConfig* config = target.to.mutable_padding_config();
  if (attr == nullptr) return;
  for (const PaddingDim& dim : *attr) {
    auto* to = config->add_dimensions();
    to->set_edge_padding_low(dim.low);
    to->set_edge_padding_high(dim.high);
    to->set_interior_padding(dim.interior);
  }
}

DecodeResult ReadShapeAttr(const AttrField&, const AttrSource& source) {
  if (!source.from.has_outfeed_shape()) return DecodedAttr{};
  SHOAL_ASSIGN(shape, ReadShape(source.module, source.from.outfeed_shape()));
  return DecodedAttr{shape};
}

void WriteShapeAttr(const AttrField&, const AttrValue* value, AttrTarget& target) {
  if (const Shape* const* attr = Get<const Shape*>(value)) WriteShape(**attr, target.to.mutable_outfeed_shape());
}

DecodeResult ReadShapes(const AttrField&, const AttrSource& source) {
  if (!source.from.constrain_layout()) return DecodedAttr{};
  std::vector<const Shape*> shapes;
  for (const proto::ShapeProto& from : source.from.operand_shapes_with_layout()) {
    SHOAL_ASSIGN(shape, ReadShape(source.module, from));
    shapes.push_back(shape);
  }
  return DecodedAttr{std::span<const Shape* const>(source.module.arena.Copy(shapes))};
}

void WriteShapes(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const auto* attr = Get<std::span<const Shape* const>>(value);
  if (attr == nullptr) return;
  target.to.set_constrain_layout(true);
  for (const Shape* shape : *attr) WriteShape(*shape, target.to.add_operand_shapes_with_layout());
}

DecodeResult ReadLiteralAttr(const AttrField&, const AttrSource& source) {
  if (!source.from.has_literal()) return DecodedAttr{};
  SHOAL_ASSIGN(literal, ReadLiteral(source.module, source.from.literal()));
  return DecodedAttr{literal};
}

void WriteLiteralAttr(const AttrField&, const AttrValue* value, AttrTarget& target) {
  if (const Literal* const* attr = Get<const Literal*>(value)) WriteLiteral(**attr, target.to.mutable_literal());
}

// Returns the lengths of the concatenated slice_sizes lists of a collective-permute. The operands determine them:
// operand 0 is the source, operand 2 contains the start of each slice.
std::vector<size_t> SliceSizeLengths(const Instruction& hlo, size_t count) {
  std::vector<size_t> lengths;
  if (hlo.operands.size() < 3) return {count};
  const Shape& input = hlo.operand_shape(0);
  if (!input.IsTuple()) {
    const auto rank = static_cast<size_t>(input.rank());
    if (rank == 0) return {count};
    for (size_t at = 0; at + rank <= count; at += rank) lengths.push_back(rank);
    return lengths;
  }
  const Shape& starts = hlo.operand_shape(2);
  for (size_t i = 0; i < input.elements().size(); ++i) {
    const Shape* start = starts.IsTuple() && i < starts.elements().size() ? starts.elements()[i] : nullptr;
    const bool many = start != nullptr && start->IsTuple() && !start->elements().empty() && start->element(0).IsTuple();
    const size_t slices = many ? start->elements().size() : 1;
    lengths.insert(lengths.end(), slices, static_cast<size_t>(input.elements()[i]->rank()));
  }
  return lengths;
}

DecodeResult ReadSliceSizes(const AttrField&, const AttrSource& source) {
  const Ints all = CopyInts(source.module, source.from.dynamic_slice_sizes());
  if (all.empty()) return DecodedAttr{};
  std::vector<size_t> lengths = SliceSizeLengths(source.hlo, all.size());
  if (const Int64s& explicit_lengths = source.from.shoal().slice_size_lengths(); !explicit_lengths.empty())
    lengths.assign(explicit_lengths.begin(), explicit_lengths.end());
  std::vector<Ints> lists;
  size_t at = 0;
  for (size_t length : lengths) {
    if (length > all.size() - at) break;
    lists.push_back(all.subspan(at, length));
    at += length;
  }
  if (at != all.size()) lists = {all};
  return DecodedAttr{IntLists(source.module.arena.Copy(lists))};
}

void WriteSliceSizes(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const IntLists* attr = Get<IntLists>(value);
  if (attr == nullptr) return;
  std::vector<size_t> lengths;
  for (const Ints& list : *attr) {
    for (int64_t size : list) target.to.add_dynamic_slice_sizes(size);
    lengths.push_back(list.size());
  }
  if (lengths != SliceSizeLengths(target.hlo, static_cast<size_t>(target.to.dynamic_slice_sizes_size())))
    Assign(target.to.mutable_shoal()->mutable_slice_size_lengths(), lengths);
}

using ProtoTensor = proto::SparsityConfig::TensorSparsityConfig;

TensorSparsity ReadTensor(const ProtoTensor& from) {
  return {from.num_non_zero(), from.block_size(), from.dimension(), from.stride(), from.idx()};
}

void WriteTensor(const TensorSparsity& tensor, ProtoTensor* to) {
  to->set_num_non_zero(tensor.num_non_zero);
  to->set_block_size(tensor.block_size);
  to->set_dimension(tensor.dimension);
  to->set_stride(tensor.stride);
  to->set_idx(static_cast<int32_t>(tensor.idx));
}

DecodeResult ReadSparsity(const AttrField&, const AttrSource& source) {
  const proto::SparsityConfig& from = source.from.sparsity_config();
  if (!from.has_lhs() && !from.has_rhs()) return DecodedAttr{};
  SparsityConfig config;
  if (from.has_lhs()) config.lhs = ReadTensor(from.lhs());
  if (from.has_rhs()) config.rhs = ReadTensor(from.rhs());
  const SparsityConfig* result = source.module.arena.New<SparsityConfig>(config);
  return DecodedAttr{result};
}

void WriteSparsity(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const SparsityConfig* const* attr = Get<const SparsityConfig*>(value);
  if (attr == nullptr) return;
  proto::SparsityConfig* to = target.to.mutable_sparsity_config();
  if ((*attr)->lhs) WriteTensor(*(*attr)->lhs, to->mutable_lhs());
  if ((*attr)->rhs) WriteTensor(*(*attr)->rhs, to->mutable_rhs());
}

DecodeResult ReadResultAccuracy(const AttrField&, const AttrSource& source) {
  const proto::ResultAccuracy& from = source.from.result_accuracy();
  if (from.specs_case() == proto::ResultAccuracy::SPECS_NOT_SET) return DecodedAttr{};
  ResultAccuracy accuracy;
  accuracy.has_tolerance = from.has_tolerance();
  if (from.mode() < 0 || from.mode() > 1) return Fail(StrCat("result_accuracy: unknown mode ", from.mode()));
  accuracy.mode = static_cast<uint8_t>(from.mode());
  accuracy.atol = from.tolerance().atol();
  accuracy.rtol = from.tolerance().rtol();
  accuracy.ulps = from.tolerance().ulps();
  const ResultAccuracy* result = source.module.arena.New<ResultAccuracy>(accuracy);
  return DecodedAttr{result};
}

void WriteResultAccuracy(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const ResultAccuracy* const* attr = Get<const ResultAccuracy*>(value);
  if (attr == nullptr) return;
  proto::ResultAccuracy* to = target.to.mutable_result_accuracy();
  if (!(*attr)->has_tolerance) {
    to->set_mode((*attr)->mode);
    return;
  }
  to->mutable_tolerance()->set_atol((*attr)->atol);
  to->mutable_tolerance()->set_rtol((*attr)->rtol);
  to->mutable_tolerance()->set_ulps((*attr)->ulps);
}

}  // namespace

const AttrCodec kWindowCodec{ReadWindow, WriteWindow};
const AttrCodec kConvDimsCodec{ReadConvDims, WriteConvDims};
const AttrCodec kSliceCodec{ReadSlice, WriteSlice};
const AttrCodec kPaddingCodec{ReadPadding, WritePadding};
const AttrCodec kShapeCodec{ReadShapeAttr, WriteShapeAttr};
const AttrCodec kShapesCodec{ReadShapes, WriteShapes};
const AttrCodec kLiteralCodec{ReadLiteralAttr, WriteLiteralAttr};
const AttrCodec kSliceSizesCodec{ReadSliceSizes, WriteSliceSizes};
const AttrCodec kSparsityCodec{ReadSparsity, WriteSparsity};
const AttrCodec kResultAccuracyCodec{ReadResultAccuracy, WriteResultAccuracy};

}  // namespace shoal::internal
