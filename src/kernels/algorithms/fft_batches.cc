#include "kernels/algorithms/fft_batches.h"

#include "kernels/algorithms/fft.h"

namespace shoal::internal {
namespace {

using Complex = std::complex<double>;

// One transform over all dimensions of fft_length. A batch may have many.
struct FftBox {
  FftType type{};
  std::vector<int64_t> sizes;     // fft_length
  int64_t in_last = 0;            // elements of the operand in the last dimension
  int64_t out_last = 0;           // elements of the result in the last dimension
  int64_t rows = 1;               // product of the other dimensions
  std::vector<Complex> elements;  // a box of `sizes`
};

// Half of a spectrum determines the other half: element n - k is the conjugate of element k.
void CompleteSpectrum(FftBox& box) {
  const int64_t n = box.sizes.back();
  for (int64_t row = 0; row < box.rows; ++row) {
    Complex* x = box.elements.data() + row * n;
    if (n > 0) x[0] = x[0].real();
    if (n % 2 == 0 && n > 0) x[n / 2] = x[n / 2].real();
    for (int64_t k = n / 2 + 1; k < n; ++k) x[k] = std::conj(x[n - k]);
  }
}

template <class In>
void Load(const In* in, FftBox& box) {
  std::fill(box.elements.begin(), box.elements.end(), Complex());
  for (int64_t row = 0; row < box.rows; ++row)
    for (int64_t k = 0; k < box.in_last; ++k)
      box.elements[static_cast<size_t>(row * box.sizes.back() + k)] = Complex(in[row * box.in_last + k]);
}

template <class Out>
void Store(const FftBox& box, double scale, Out* out) {
  for (int64_t row = 0; row < box.rows; ++row) {
    for (int64_t k = 0; k < box.out_last; ++k) {
      const Complex x = box.elements[static_cast<size_t>(row * box.sizes.back() + k)] * scale;
      if constexpr (std::is_floating_point_v<Out>)
        out[row * box.out_last + k] = static_cast<Out>(x.real());
      else
        out[row * box.out_last + k] = Out(x);
    }
  }
}

void Transform(FftBox& box) {
  const bool inverse = IsInverse(box.type);
  // Transforms the last dimension first. For irfft, it comes last, because its spectrum is completed after the others.
  const size_t last = box.sizes.size() - 1;
  if (box.type != FftType::kIrfft) TransformAxis(box.elements.data(), box.sizes, last, inverse);
  for (size_t axis = 0; axis < last; ++axis) TransformAxis(box.elements.data(), box.sizes, axis, inverse);
  if (box.type != FftType::kIrfft) return;
  CompleteSpectrum(box);
  TransformAxis(box.elements.data(), box.sizes, last, inverse);
}

template <class In, class Out>
void RunBatches(FftBox& box, const Array& in, Array& out) {
  int64_t count = 1;
  for (int64_t size : box.sizes) count *= size;
  box.elements.resize(static_cast<size_t>(count));
  const int64_t in_count = box.rows * box.in_last, out_count = box.rows * box.out_last;
  const double scale = IsInverse(box.type) ? 1 / static_cast<double>(count) : 1;
  const In* from = in.As<In>().data();
  Out* to = out.Mutable<Out>().data();
  for (int64_t b = 0; b < out.count() / out_count; ++b) {
    Load(from + b * in_count, box);
    Transform(box);
    Store(box, scale, to + b * out_count);
  }
}

}  // namespace

void TransformBatches(FftType type, Ints length, const Array& in, Array& out) {
  FftBox box{.type = type, .sizes = {length.begin(), length.end()}, .elements = {}};
  box.in_last = in.dims().back();
  box.out_last = out.dims().back();
  box.rows = ElementCount(length.first(length.size() - 1));
  const bool wide = in.type() == ElementType::kF64 || in.type() == ElementType::kC128;
  if (!IsReal(type))
    wide ? RunBatches<Complex, Complex>(box, in, out)
         : RunBatches<std::complex<float>, std::complex<float>>(box, in, out);
  else if (type == FftType::kRfft)
    wide ? RunBatches<double, Complex>(box, in, out) : RunBatches<float, std::complex<float>>(box, in, out);
  else
    wide ? RunBatches<Complex, double>(box, in, out) : RunBatches<std::complex<float>, float>(box, in, out);
}

}  // namespace shoal::internal
