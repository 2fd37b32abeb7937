// fft of f32 and c64: several lines at a time, boxes of a batch or lines of one box on several threads.
#include <algorithm>

#include "kernels/lane_fft.h"
#include "ops/linear_algebra.h"
#include "program/library/rows.h"

namespace shoal {
namespace {

using FftOp = Op<Opcode::kFft>;
using Complex = std::complex<float>;

// One transform over all the dimensions of fft_length.
struct Box {
  FftType type{};
  std::vector<int64_t> sizes;
  int64_t rows = 1, in_last = 0, out_last = 0;  // of the last dimension: of the operand, of the result

  int64_t count() const { return rows * sizes.back(); }
};

// Dimension `axis` of `boxes` boxes at x.
void TransformAxis(const Box& box, Complex* x, int64_t boxes, size_t axis, ThreadPool& pool) {
  constexpr int64_t kLanes = LaneFourierTransform::kLanes;
  int64_t outer = boxes, inner = 1;
  for (size_t d = 0; d < axis; ++d) outer *= box.sizes[d];
  for (size_t d = axis + 1; d < box.sizes.size(); ++d) inner *= box.sizes[d];
  const int64_t length = box.sizes[axis], lines = outer * inner;
  const int64_t block = std::max<int64_t>(1, (1 << 14) / (length * kLanes)) * kLanes;
  ForBlocks(pool, lines, block, [&](int64_t begin, int64_t end) {
    LaneFourierTransform transform(length);
    int64_t starts[kLanes];
    for (int64_t first = begin; first < end; first += kLanes) {
      const int64_t count = std::min(kLanes, end - first);
      for (int64_t l = 0; l < count; ++l) starts[l] = (first + l) / inner * length * inner + (first + l) % inner;
      transform.Run(x, starts, count, inner, IsInverse(box.type));
    }
  });
}

// Half of a spectrum determines the other half: element n - k is the conjugate of element k.
void CompleteSpectrum(const Box& box, Complex* x, int64_t boxes) {
  const int64_t n = box.sizes.back();
  for (int64_t row = 0; row < boxes * box.rows; ++row, x += n) {
    x[0] = x[0].real();
    if (n % 2 == 0) x[n / 2] = x[n / 2].real();
    for (int64_t k = n / 2 + 1; k < n; ++k) x[k] = std::conj(x[n - k]);
  }
}

template <class In, class Out>
void TransformBoxes(const Box& box, const In* in, Out* out, int64_t boxes, ThreadPool& pool) {
  const int64_t last = box.sizes.back(), rows = boxes * box.rows;
  std::vector<Complex> elements(static_cast<size_t>(boxes * box.count()));
  for (int64_t row = 0; row < rows; ++row) std::copy_n(in + row * box.in_last, box.in_last, elements.data() + row * last);
  // The last dimension first, but for irfft: its other half appears only when the other dimensions are done.
  const size_t axes = box.sizes.size();
  if (box.type != FftType::kIrfft) TransformAxis(box, elements.data(), boxes, axes - 1, pool);
  for (size_t axis = 0; axis + 1 < axes; ++axis) TransformAxis(box, elements.data(), boxes, axis, pool);
  if (box.type == FftType::kIrfft) {
    CompleteSpectrum(box, elements.data(), boxes);
    TransformAxis(box, elements.data(), boxes, axes - 1, pool);
  }
  const float scale = IsInverse(box.type) ? static_cast<float>(1 / static_cast<double>(box.count())) : 1;
  for (int64_t row = 0; row < rows; ++row) {
    const Complex* from = elements.data() + row * last;
    Out* to = out + row * box.out_last;
    for (int64_t k = 0; k < box.out_last; ++k) {
      if constexpr (std::is_floating_point_v<Out>)
        to[k] = from[k].real() * scale;
      else
        to[k] = from[k] * scale;
    }
  }
}

template <class In, class Out>
void Transform(const Box& box, const Array& in, Array& out, ThreadPool& pool) {
  const In* from = in.As<In>().data();
  Out* to = out.Mutable<Out>().data();
  const int64_t in_count = box.rows * box.in_last, out_count = box.rows * box.out_last, boxes = out.count() / out_count;
  // So many boxes at a time that their lines fill the lanes, and stay in the cache.
  const int64_t together = std::max<int64_t>(1, (1 << 14) / (box.count() * 8)) * 8;
  ForBlocks(pool, boxes, together, [&](int64_t begin, int64_t end) {
    TransformBoxes<In, Out>(box, from + begin * in_count, to + begin * out_count, end - begin, pool);
  });
}

Status Fft(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const Ints length = hlo[FftOp::kLength];
  Box box{hlo[FftOp::kType], {length.begin(), length.end()}, ElementCount(length.first(length.size() - 1)),
          operands[0].dims().back(), results[0].dims().back()};
  if (box.type == FftType::kRfft)
    Transform<float, Complex>(box, operands[0], results[0], pool);
  else if (box.type == FftType::kIrfft)
    Transform<Complex, float>(box, operands[0], results[0], pool);
  else
    Transform<Complex, Complex>(box, operands[0], results[0], pool);
  return {};
}

}  // namespace

LibraryFunction FftFunction(const Instruction& hlo) {
  const Shape &in = hlo.operand_shape(0), &out = hlo.shape();
  constexpr int64_t kLeast = 1 << 12;  // elements; below, f64 and rounded once costs nothing
  if (in.has_dynamic() || out.has_dynamic() || in.ElementCount().value_or(0) < kLeast) return nullptr;
  const Ints length = hlo[FftOp::kLength];
  const FftType type = hlo[FftOp::kType];
  const bool real_in = type == FftType::kRfft, real_out = type == FftType::kIrfft;
  if (in.element_type() != (real_in ? ElementType::kF32 : ElementType::kC64)) return nullptr;
  if (out.element_type() != (real_out ? ElementType::kF32 : ElementType::kC64)) return nullptr;
  const size_t first = in.dims().size() - length.size();
  for (size_t i = 0; i < length.size(); ++i) {
    const bool halved = real_out && i + 1 == length.size();
    if (!LaneFourierTransform::Handles(length[i])) return nullptr;
    if (in.dims()[first + i] != (halved ? length[i] / 2 + 1 : length[i])) return nullptr;  // the evaluator says so
  }
  return out.ElementCount().value_or(0) > 0 && !length.empty() ? &Fft : nullptr;
}

}  // namespace shoal
