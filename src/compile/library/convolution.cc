// Convolutions of floats with oneDNN, split by batch or by rows. Convolutions that oneDNN cannot express are computed
// as GEMMs of patches, image by image.
#include <algorithm>
#include <cstring>

#include "compile/library/convolution_pieces.h"
#include "compile/library/pointwise_convolution.h"
#include "compile/library/rows.h"
#include "kernels/arrays/strided.h"
#include "kernels/linalg/convolution_form.h"

namespace shoal::internal {
namespace {

using DnnKind = DnnConvolution::Kind;

// Number of images per task.
int64_t ImagesPerTask(const Instruction& hlo) {
  const int64_t batch = hlo.operand_shape(0).dim(hlo[kDimLabels]->input_batch);
  return std::max<int64_t>(1, (batch + 15) / 16);
}

Status ConvolveByPatches(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const Window* window = hlo[kWindow];
  const ConvolutionForm form{*hlo[kDimLabels], window == nullptr ? std::span<const WindowDim>() : window->dims,
                             hlo[kFeatureGroupCount], hlo[kBatchGroupCount]};
  SHOAL_TRY(CheckSizes(hlo, operands[0], operands[1], form));
  const Array& input = operands[0];
  std::byte* out = results[0].mutable_data();
  const bool by_images = form.batch_groups == 1 && form.labels.input_batch == 0 && form.labels.output_batch == 0;
  const int64_t batch = by_images ? input.dim(0) : 1;
  const int64_t in_bytes = input.bytes() / batch, out_bytes = results[0].bytes() / batch;
  ForBlocks(pool, batch, by_images ? ImagesPerTask(hlo) : 1, [&](int64_t begin, int64_t end) {
    Dims dims = ToDims(input.dims());
    if (by_images) dims[0] = end - begin;
    const Array images(input.type(), dims,
                       Buffer::Borrow(input.data() + begin * in_bytes, static_cast<size_t>((end - begin) * in_bytes)));
    const Array done = Convolved(images, operands[1], form, results[0].type());
    std::memcpy(out + begin * out_bytes, done.data(), static_cast<size_t>(done.bytes()));
  });
  return {};
}

// The kernel with its spatial dimensions reversed.
Array Flipped(const Array& kernel, Ints spatial) {
  Strided from{0, RowMajorStrides(kernel.dims())};
  for (int64_t d : spatial) {
    int64_t& stride = from.strides[static_cast<size_t>(d)];
    from.offset += stride * (kernel.dim(d) - 1);
    stride = -stride;
  }
  return Gathered(kernel, ToDims(kernel.dims()), from);
}

using Code = std::shared_ptr<const OneDnn::Convolution>;

// Computes the result of each part. Returns false if a part could not be run.
template <class In, class Out>
bool RunParts(std::span<const DnnPart> parts, std::span<const Code> codes, const void* kernel, In* source, Out* result,
              ThreadPool& pool) {
  std::vector<std::shared_ptr<void>> packed(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    size_t first_same = 0;
    while (codes[first_same] != codes[i]) ++first_same;
    packed[i] = first_same < i ? packed[first_same] : codes[i]->PackWeights(kernel);
  }
  std::atomic<bool> all = true;
  pool.Run(static_cast<int64_t>(parts.size()), [&](int64_t t) {
    const auto i = static_cast<size_t>(t);
    if (!codes[i]->Run(source + parts[i].source, nullptr, packed[i].get(), result + parts[i].result)) all = false;
  });
  return all;
}

// Computes the sum of the results of all parts. Returns false if a part could not be run.
bool SumParts(std::span<const DnnPart> parts, std::span<const Code> codes, float* source, float* result, Array& out,
               ThreadPool& pool) {
  float* sums = out.Mutable<float>().data();
  std::vector<Array> partial;
  for (size_t i = 1; i < parts.size(); ++i) partial.emplace_back(ElementType::kF32, out.dims());
  std::vector<float*> to{sums};
  for (Array& array : partial) to.push_back(array.Mutable<float>().data());
  std::atomic<bool> all = true;
  pool.Run(static_cast<int64_t>(parts.size()), [&](int64_t t) {
    const auto i = static_cast<size_t>(t);
    if (!codes[i]->Run(source + parts[i].source, to[i], nullptr, result + parts[i].result)) all = false;
  });
  if (!all) return false;
  ForBlocks(pool, out.count(), 1 << 13, [&](int64_t begin, int64_t end) {
    for (size_t i = 1; i < to.size(); ++i)
      for (int64_t j = begin; j < end; ++j) sums[j] += to[i][j];
  });
  return true;
}

// A convolution with a window of one element is a GEMM, which is faster.
Status Pointwise(const PointwiseGemm& gemm, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const Array &left = operands[gemm.kernel_is_lhs ? 1 : 0], &right = operands[gemm.kernel_is_lhs ? 0 : 1];
  const bool is_narrow = results[0].type() != ElementType::kF32;
  Array sums = is_narrow ? Array(ElementType::kF32, results[0].dims()) : std::move(results[0]);
  float* to = sums.Mutable<float>().data();
  const bool is_done = left.type() == ElementType::kBf16 && right.type() == left.type() &&
                       ParallelGemm(gemm.m, gemm.n, gemm.k, MatrixView<Bf16>{left.As<Bf16>().data(), gemm.a_row, gemm.a_column},
                                    MatrixView<Bf16>{right.As<Bf16>().data(), gemm.b_row, gemm.b_column}, gemm.offsets, to, pool);
  if (!is_done) {
    const Array a = Widened(left, pool), b = Widened(right, pool);
    ParallelGemm(gemm.m, gemm.n, gemm.k, MatrixView<float>{a.As<float>().data(), gemm.a_row, gemm.a_column},
                 MatrixView<float>{b.As<float>().data(), gemm.b_row, gemm.b_column}, gemm.offsets, to, pool);
  }
  if (is_narrow)
    ConvertOnPool(sums, results[0], pool);
  else
    results[0] = std::move(sums);
  return {};
}

// The code of each part; empty if oneDNN does not support one of them.
std::vector<Code> CodesOf(const OneDnn& library, std::span<const DnnPart> parts) {
  std::vector<Code> codes;
  for (const DnnPart& part : parts) {
    codes.push_back(library.ConvolutionFor(part.convolution));
    if (codes.back() == nullptr) return {};
  }
  return codes;
}

// A convolution of bf16 by the CPU's instructions for that. Returns false if oneDNN cannot compute it.
bool ConvolveBf16(DnnForm form, const Instruction& hlo, std::span<const Array> operands, Array& out, ThreadPool& pool) {
  const OneDnn* library = OpenOneDnn();
  const bool is_bf16 = operands[0].type() == ElementType::kBf16 && operands[1].type() == ElementType::kBf16;
  if (!is_bf16 || !library->HasBf16() || form.convolution.kind != DnnKind::kForward) return false;
  form.convolution.is_bf16 = true;
  const std::vector<DnnPart> parts = SplitConvolution(form.convolution);
  const std::vector<Code> codes = CodesOf(*library, parts);
  if (codes.empty()) return false;
  const Array kernel = form.flips_kernel ? Flipped(operands[1], hlo[kDimLabels]->kernel_spatial) : operands[1];
  auto* source = const_cast<uint16_t*>(operands[0].As<uint16_t>().data()) + form.source_offset;
  return RunParts(parts, codes, kernel.data(), source, out.Mutable<float>().data(), pool);
}

// A convolution in f32. Returns false if oneDNN cannot compute it.
bool ConvolveFloats(const DnnForm& form, const Instruction& hlo, std::span<const Array> operands, Array& out, ThreadPool& pool) {
  const std::vector<DnnPart> parts = SplitConvolution(form.convolution);
  const std::vector<Code> codes = CodesOf(*OpenOneDnn(), parts);
  if (codes.empty()) return false;
  const Array input = Widened(operands[0], pool);
  Array kernel = Widened(operands[1], pool);
  if (form.flips_kernel) kernel = Flipped(kernel, hlo[kDimLabels]->kernel_spatial);
  auto* in_data = const_cast<float*>(input.As<float>().data());
  auto* kernel_data = const_cast<float*>(kernel.As<float>().data());
  float* out_data = out.Mutable<float>().data();
  if (form.convolution.kind == DnnKind::kForward) return RunParts(parts, codes, kernel_data, in_data + form.source_offset, out_data, pool);
  if (form.convolution.kind == DnnKind::kBackwardData)
    return RunParts(parts, codes, kernel_data, out_data + form.source_offset, in_data, pool);
  return SumParts(parts, codes, in_data + form.source_offset, kernel_data, out, pool);
}

Status Convolution(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  if (const auto gemm = PointwiseGemmOf(hlo)) return Pointwise(*gemm, operands, results, pool);
  const std::optional<DnnForm> form = OpenOneDnn() == nullptr ? std::nullopt : DnnFormOf(hlo);
  if (!form) return ConvolveByPatches(hlo, operands, results, pool);
  const bool is_narrow = results[0].type() != ElementType::kF32;
  Array out = is_narrow ? Array(ElementType::kF32, results[0].dims()) : std::move(results[0]);
  const bool done = ConvolveBf16(*form, hlo, operands, out, pool) || ConvolveFloats(*form, hlo, operands, out, pool);
  if (is_narrow && done)
    ConvertOnPool(out, results[0], pool);
  else if (!is_narrow)
    results[0] = std::move(out);
  return done ? Status() : ConvolveByPatches(hlo, operands, results, pool);
}

// Number of products in each sum.
int64_t ProductsPerOutput(const Instruction& hlo) {
  const Shape& kernel = hlo.operand_shape(1);
  return *kernel.ElementCount() / kernel.dim(hlo[kDimLabels]->kernel_output_feature);
}

// True for 8-bit integers whose sums are exact in f32: each product is at most 2^14 if signed and 2^16 if unsigned.
bool IsExactInFloats(const Instruction& hlo) {
  const ElementType input = hlo.operand_shape(0).element_type(), kernel = hlo.operand_shape(1).element_type();
  if (!IsInteger(input) || !IsInteger(kernel) || BitWidth(input) != 8 || BitWidth(kernel) != 8) return false;
  return hlo.shape().element_type() == ElementType::kS32 && ProductsPerOutput(hlo) <= (IsSigned(input) && IsSigned(kernel) ? 1024 : 256);
}

// A convolution of signed bytes with 32-bit sums. Returns false if oneDNN cannot compute it.
bool ConvolveBytes(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const OneDnn* library = OpenOneDnn();
  if (library == nullptr || !library->HasInt8()) return false;
  std::optional<DnnForm> form = DnnFormOf(hlo);
  if (!form || form->convolution.kind != DnnKind::kForward) return false;
  form->convolution.is_int8 = true;
  const std::vector<DnnPart> parts = SplitConvolution(form->convolution);
  const std::vector<Code> codes = CodesOf(*library, parts);
  if (codes.empty()) return false;
  const Array kernel = form->flips_kernel ? Flipped(operands[1], hlo[kDimLabels]->kernel_spatial) : operands[1];
  auto* source = const_cast<std::byte*>(operands[0].data()) + form->source_offset;
  auto* result = results[0].Mutable<int32_t>().data();
  return RunParts(parts, codes, kernel.data(), source, result, pool);
}

Status ByteConvolution(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  if (ConvolveBytes(hlo, operands, results, pool)) return {};
  return IsExactInFloats(hlo) ? Convolution(hlo, operands, results, pool) : ConvolveByPatches(hlo, operands, results, pool);
}

bool IsByteConvolution(const Instruction& hlo) {
  return hlo.operand_shape(0).element_type() == ElementType::kS8 && hlo.operand_shape(1).element_type() == ElementType::kS8 &&
         hlo.shape().element_type() == ElementType::kS32;
}

bool IsFloatForGemm(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kBf16 || type == ElementType::kF16;
}

}  // namespace

LibraryFunction ConvolutionFunction(const Instruction& hlo) {
  constexpr int64_t kMin = 1 << 14;  // multiplications
  if (IsSparse(hlo)) return nullptr;
  const Shape &input = hlo.operand_shape(0), &kernel = hlo.operand_shape(1), &out = hlo.shape();
  for (const Shape* shape : {&input, &kernel, &out})
    if (shape->has_dynamic() || shape->ElementCount().value_or(0) <= 0) return nullptr;
  const ConvDims& labels = *hlo[kDimLabels];
  if (*out.ElementCount() < kMin / std::max<int64_t>(ProductsPerOutput(hlo), 1)) return nullptr;
  const bool are_floats = IsFloatForGemm(input.element_type()) && IsFloatForGemm(kernel.element_type()) &&
                          IsFloatForGemm(out.element_type());
  if (IsByteConvolution(hlo)) return &ByteConvolution;
  if (are_floats || IsExactInFloats(hlo)) return &Convolution;
  const bool by_images = hlo[kBatchGroupCount] == 1 && labels.input_batch == 0 && labels.output_batch == 0;
  return by_images && input.dim(0) >= 2 ? &ConvolveByPatches : nullptr;
}

}  // namespace shoal::internal
