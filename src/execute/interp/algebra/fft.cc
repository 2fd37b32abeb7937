// fft: the discrete Fourier transform of the last dimensions.
#include "execute/interp/evaluate.h"
#include "kernels/algorithms/fft_batches.h"

namespace shoal::internal {
namespace {

using FftOp = Op<Opcode::kFft>;

// True if the operand has the sizes of fft_length. The last dimension of an IRFFT operand has length / 2 + 1 elements.
bool LengthFits(FftType type, Ints length, Ints sizes) {
  const size_t last = length.size() - 1;
  for (size_t i = 0; i <= last; ++i) {
    const bool halved = type == FftType::kIrfft && i == last;
    if (sizes[sizes.size() - length.size() + i] != (halved ? length[i] / 2 + 1 : length[i])) return false;
  }
  return true;
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kFft>(Call& call) {
  const Array& in = call.array(0);
  const FftType type = call.hlo[FftOp::kType];
  const Ints length = call.hlo[FftOp::kLength];
  Dims dims = ToDims(in.dims());
  if (IsReal(type)) dims.back() = type == FftType::kRfft && length.back() != 0 ? length.back() / 2 + 1 : length.back();
  Array out = Array::Zeros(call.hlo.shape().element_type(), AsInts(dims));
  // A transform of length zero leaves the zeroed result unchanged.
  if (out.count() == 0 || ElementCount(length) == 0) return Value(std::move(out));
  if (!LengthFits(type, length, in.dims()))
    return ExecutionError(call.hlo,
                   StrCat("fft_length=", ToString(length), " must match the operand's sizes, got ", ToString(in)));
  TransformBatches(type, length, in, out);
  return Value(std::move(out));
}

}  // namespace shoal::internal
