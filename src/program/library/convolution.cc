// Convolutions: the images of a batch on several threads.
#include <cstring>

#include "interp/algebra/convolution.h"
#include "ops/contraction.h"
#include "program/library/rows.h"

namespace shoal {
namespace {

// So many images to a task.
int64_t ImagesPerTask(const Instruction& hlo) {
  const int64_t batch = hlo.operand_shape(0).dim(hlo[kDimLabels]->input_batch);
  return std::max<int64_t>(1, (batch + 15) / 16);
}

Status Convolution(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const Window* window = hlo[kWindow];
  const ConvolutionForm form{*hlo[kDimLabels], window == nullptr ? std::span<const WindowDim>() : window->dims,
                             hlo[kFeatureGroupCount], hlo[kBatchGroupCount]};
  SHOAL_TRY(CheckSizes(hlo, operands[0], operands[1], form));
  const Array& input = operands[0];
  std::byte* out = results[0].mutable_data();
  const int64_t batch = input.dim(0), in_bytes = input.bytes() / batch, out_bytes = results[0].bytes() / batch;
  ForBlocks(pool, batch, ImagesPerTask(hlo), [&](int64_t begin, int64_t end) {
    Dims dims = ToDims(input.dims());
    dims[0] = end - begin;
    const Array images(input.type(), dims,
                       Buffer::Borrow(input.data() + begin * in_bytes, static_cast<size_t>((end - begin) * in_bytes)));
    const Array done = Convolved(images, operands[1], form, results[0].type());
    std::memcpy(out + begin * out_bytes, done.data(), static_cast<size_t>(done.bytes()));
  });
  return {};
}

}  // namespace

LibraryFunction ConvolutionFunction(const Instruction& hlo) {
  const ConvDims& labels = *hlo[kDimLabels];
  if (hlo[Op<Opcode::kConvolution>::kSparsity] != nullptr || hlo[kBatchGroupCount] != 1) return nullptr;
  if (labels.input_batch != 0 || labels.output_batch != 0) return nullptr;
  if (hlo.operand_shape(0).dim(0) < 2 || hlo.shape().ElementCount().value_or(0) < (1 << 12)) return nullptr;
  return &Convolution;
}

}  // namespace shoal
