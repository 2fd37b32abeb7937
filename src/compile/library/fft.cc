// fft of f32 and c64. Transforms several lines at a time in vector lanes. Threads split the boxes, or lines of one box.
#include <algorithm>

#include "compile/library/rows.h"
#include "core/ops/linear_algebra.h"
#include "kernels/algorithms/lane_fft.h"

namespace shoal::internal {
namespace {

using Complex = std::complex<float>;

using Transform = LaneFourierTransform;
constexpr int64_t kLanes = Transform::kLanes;

// One transform over all dimensions of fft_length.
struct Box {
  FftType type{};
  std::vector<int64_t> sizes;
  int64_t rows = 1, in_last = 0, out_last = 0;  // number of rows; size of the last dimension of operand and result

  int64_t count() const { return rows * sizes.back(); }
  float scale() const { return IsInverse(type) ? static_cast<float>(1 / static_cast<double>(count())) : 1; }
};

// Number of lines per task: about 2^14 elements, and full lanes.
int64_t LinesPerTask(int64_t length) { return std::max<int64_t>(1, (1 << 14) / (length * kLanes)) * kLanes; }

// Transforms dimension `axis` of `boxes` boxes. `last`: size of their last dimension.
void TransformAxis(const Box& box, const Complex* in, Complex* out, int64_t boxes, size_t axis, int64_t last, float scale, ThreadPool& pool) {
  int64_t outer = boxes, inner = 1;
  for (size_t d = 0; d < axis; ++d) outer *= box.sizes[d];
  for (size_t d = axis + 1; d < box.sizes.size(); ++d) inner *= d + 1 == box.sizes.size() ? last : box.sizes[d];
  const int64_t length = box.sizes[axis];
  const bool swapped = IsInverse(box.type);
  ForBlocks(pool, outer * inner, LinesPerTask(length), [&](int64_t begin, int64_t end) {
    Transform transform(length);
    int64_t starts[kLanes];
    for (int64_t first = begin; first < end; first += kLanes) {
      const LaneLines lines{starts, std::min(kLanes, end - first), inner};
      for (int64_t l = 0; l < lines.lines; ++l) starts[l] = (first + l) / inner * length * inner + (first + l) % inner;
      LoadLines(in, lines, length, swapped, transform.numbers());
      transform.Run();
      StoreLines(transform.numbers(), lines, length, swapped, scale, out);
    }
  });
}

// The two rows of each lane. They form one line of complex numbers, in which the second row is the imaginary part.
struct RowPairs {
  int64_t first[kLanes], second[kLanes];
  int64_t lines = 0, seconds = 0;  // number of first and second rows; an odd last row has no second

  RowPairs(int64_t begin, int64_t end) : lines(std::min(kLanes, (end - begin + 1) / 2)), seconds(std::min(kLanes, (end - begin) / 2)) {
    for (int64_t l = 0; l < lines; ++l) {
      first[l] = begin + 2 * l;
      second[l] = std::min(begin + 2 * l + 1, end - 1);
    }
  }
  // The row numbers multiplied by `width`: the offsets of the rows.
  RowPairs ScaledBy(int64_t width) const {
    RowPairs starts = *this;
    for (int64_t l = 0; l < lines; ++l) starts.first[l] *= width, starts.second[l] *= width;
    return starts;
  }
};

// Separates the spectra of two real lines a and b from the spectrum of a + ib.
void SplitSpectra(Transform& transform, int64_t count, Transform::Number* a, Transform::Number* b) {
  const Transform::Number* z = transform.numbers();
  const int64_t n = transform.length();
  for (int64_t k = 0; k < count; ++k) {
    const Transform::Number &front = z[k], &back = z[k == 0 ? 0 : n - k];
    a[k] = {(front.re + back.re) * 0.5f, (front.im - back.im) * 0.5f};
    b[k] = {(front.im + back.im) * 0.5f, (back.re - front.re) * 0.5f};
  }
}

// Computes the full spectrum of a + ib from the half spectra of real lines a and b: element n - k is the conjugate of
// element k. Swaps real and imaginary parts, for an inverse transform.
void JoinSpectra(const Transform::Number* a, const Transform::Number* b, Transform& transform) {
  Transform::Number* z = transform.numbers();
  const int64_t n = transform.length();
  for (int64_t k = 0; k <= n / 2; ++k) {
    Transform::Number x = a[k], y = b[k];
    if (k == 0 || 2 * k == n) x.im = y.im = Transform::Lanes{};
    z[k] = {x.im + y.re, x.re - y.im};
    if (k > 0) z[n - k] = {y.re - x.im, x.re + y.im};
  }
}

void TransformRealRows(const Box& box, const float* in, Complex* out, int64_t rows, ThreadPool& pool) {
  const int64_t length = box.sizes.back();
  ForBlocks(pool, rows, 2 * LinesPerTask(length), [&](int64_t begin, int64_t end) {
    Transform transform(length);
    LaneNumbers a(box.out_last), b(box.out_last);
    for (int64_t first = begin; first < end; first += 2 * kLanes) {
      const RowPairs rows_of(first, end), from = rows_of.ScaledBy(box.in_last), to = rows_of.ScaledBy(box.out_last);
      LoadRealLines(in, from.first, from.lines, length, &transform.numbers()->re, 2);
      LoadRealLines(in, from.second, from.lines, length, &transform.numbers()->im, 2);
      transform.Run();
      SplitSpectra(transform, box.out_last, a.data(), b.data());
      StoreLines(a.data(), {to.first, to.lines, 1}, box.out_last, false, 1, out);
      StoreLines(b.data(), {to.second, to.seconds, 1}, box.out_last, false, 1, out);
    }
  });
}

void TransformToRealRows(const Box& box, const Complex* in, float* out, int64_t rows, ThreadPool& pool) {
  const int64_t length = box.sizes.back();
  ForBlocks(pool, rows, 2 * LinesPerTask(length), [&](int64_t begin, int64_t end) {
    Transform transform(length);
    LaneNumbers a(box.in_last), b(box.in_last);
    for (int64_t first = begin; first < end; first += 2 * kLanes) {
      const RowPairs rows_of(first, end), from = rows_of.ScaledBy(box.in_last), to = rows_of.ScaledBy(box.out_last);
      LoadLines(in, {from.first, from.lines, 1}, box.in_last, false, a.data());
      LoadLines(in, {from.second, from.lines, 1}, box.in_last, false, b.data());
      JoinSpectra(a.data(), b.data(), transform);
      transform.Run();
      StoreRealLines(&transform.numbers()->im, 2, to.first, to.lines, length, box.scale(), out);
      StoreRealLines(&transform.numbers()->re, 2, to.second, to.seconds, length, box.scale(), out);
    }
  });
}

void TransformBoxes(const Box& box, const float* in, Complex* out, int64_t boxes, ThreadPool& pool) {
  TransformRealRows(box, in, out, boxes * box.rows, pool);
  for (size_t axis = 0; axis + 1 < box.sizes.size(); ++axis) TransformAxis(box, out, out, boxes, axis, box.out_last, 1, pool);
}

// Transforms the last dimension last, because its other half can be derived only after the other dimensions are done.
void TransformBoxes(const Box& box, const Complex* in, float* out, int64_t boxes, ThreadPool& pool) {
  std::vector<Complex> elements;
  if (box.sizes.size() > 1) {
    elements.assign(in, in + boxes * box.rows * box.in_last);
    for (size_t axis = 0; axis + 1 < box.sizes.size(); ++axis)
      TransformAxis(box, elements.data(), elements.data(), boxes, axis, box.in_last, 1, pool);
    in = elements.data();
  }
  TransformToRealRows(box, in, out, boxes * box.rows, pool);
}

void TransformBoxes(const Box& box, const Complex* in, Complex* out, int64_t boxes, ThreadPool& pool) {
  for (size_t axis = box.sizes.size(); axis-- > 0; in = out)
    TransformAxis(box, in, out, boxes, axis, box.sizes.back(), axis == 0 ? box.scale() : 1, pool);
}

template <class In, class Out>
void TransformAll(const Box& box, const Array& in, Array& out, ThreadPool& pool) {
  const In* from = in.As<In>().data();
  Out* to = out.Mutable<Out>().data();
  const int64_t in_count = box.rows * box.in_last, out_count = box.rows * box.out_last, boxes = out.count() / out_count;
  // Number of boxes whose lines, of two rows each, fill the lanes and fit in the cache.
  const int64_t boxes_per_task = std::max<int64_t>(1, (1 << 14) / (box.count() * 2 * kLanes)) * 2 * kLanes;
  ForBlocks(pool, boxes, box.rows >= 2 * kLanes ? std::max<int64_t>(1, (1 << 16) / box.count()) : boxes_per_task,
            [&](int64_t begin, int64_t end) {
              TransformBoxes(box, from + begin * in_count, to + begin * out_count, end - begin, pool);
            });
}

Status Fft(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const Ints length = hlo[FftOp::kLength];
  Box box{hlo[FftOp::kType], {length.begin(), length.end()}, ElementCount(length.first(length.size() - 1)),
          operands[0].dims().back(), results[0].dims().back()};
  if (box.type == FftType::kRfft)
    TransformAll<float, Complex>(box, operands[0], results[0], pool);
  else if (box.type == FftType::kIrfft)
    TransformAll<Complex, float>(box, operands[0], results[0], pool);
  else
    TransformAll<Complex, Complex>(box, operands[0], results[0], pool);
  return {};
}

}  // namespace

LibraryFunction FftFunction(const Instruction& hlo) {
  const Shape &in = hlo.operand_shape(0), &out = hlo.shape();
  constexpr int64_t kMin = 1 << 12;  // elements; for fewer, the interpreter's f64 computation is fast enough
  if (in.has_dynamic() || out.has_dynamic() || in.ElementCount().value_or(0) < kMin) return nullptr;
  const Ints length = hlo[FftOp::kLength];
  const FftType type = hlo[FftOp::kType];
  const bool real_in = type == FftType::kRfft, real_out = type == FftType::kIrfft;
  if (in.element_type() != (real_in ? ElementType::kF32 : ElementType::kC64)) return nullptr;
  if (out.element_type() != (real_out ? ElementType::kF32 : ElementType::kC64)) return nullptr;
  const size_t first = in.dims().size() - length.size();
  for (size_t i = 0; i < length.size(); ++i) {
    const bool halved = real_out && i + 1 == length.size();
    if (length[i] <= 0 || length[i] > (1 << 24)) return nullptr;
    if (in.dims()[first + i] != (halved ? length[i] / 2 + 1 : length[i])) return nullptr;  // an error
  }
  return out.ElementCount().value_or(0) > 0 && !length.empty() ? &Fft : nullptr;
}

}  // namespace shoal::internal
