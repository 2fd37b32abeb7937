#include "kernels/algorithms/window_walk.h"

#include <algorithm>
#include <numeric>

namespace shoal::internal {
namespace {

// Products of indices and paddings may need more than 64 bits before they are clamped to the size of an array.
using Wide = __int128;

Wide DivideUp(Wide a, Wide b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
Wide DivideDown(Wide a, Wide b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

int64_t Clamp(Wide x, int64_t low, int64_t high) {
  return static_cast<int64_t>(std::min<Wide>(std::max<Wide>(x, low), high));
}

}  // namespace

WindowTapIterator::WindowTapIterator(const Window* window, Ints base, Ints results)
    : dims_(window == nullptr ? std::span<const WindowDim>() : window->dims),
      base_(ToDims(base)),
      results_(ToDims(results)),
      base_strides_(RowMajorStrides(base)),
      result_strides_(RowMajorStrides(results)),
      progressions_(dims_.size()) {
  box_.sizes.resize(dims_.size());
  box_.results.strides.resize(dims_.size());
  box_.elements.strides.resize(dims_.size());
  for (size_t d = 0; d < dims_.size(); ++d) {
    const WindowDim& dim = dims_[d];
    const Wide dilation = dim.window_dilation;
    const Wide lowest = Wide{dim.pad_low} - Wide{results_[d] - 1} * dim.stride;
    const Wide highest = Wide{dim.pad_low} + Wide{base_[d] - 1} * dim.base_dilation;
    first_.push_back(Clamp(DivideUp(lowest, dilation), 0, dim.size));
    last_.push_back(Clamp(DivideDown(highest, dilation), -1, dim.size - 1));
  }
}

// Result o reads, at tap w, position o * stride + w * window_dilation - pad_low of the dilated base, where every
// base_dilation-th position is an element.
WindowTapIterator::Progression WindowTapIterator::ResultsAt(size_t d) const {
  const WindowDim& dim = dims_[d];
  const Wide at = Wide{tap_[d]} * dim.window_dilation - dim.pad_low;
  const Wide end = Wide{base_[d] - 1} * dim.base_dilation;
  const int64_t last = Clamp(DivideDown(end - at, dim.stride), -1, results_[d] - 1);
  Progression found;
  found.first = Clamp(DivideUp(-at, dim.stride), 0, results_[d]);
  const int64_t common = std::gcd(dim.stride, dim.base_dilation);
  found.step = dim.base_dilation / common;
  found.base_step = dim.stride / common;
  auto position = [&] { return found.first * Wide{dim.stride} + at; };
  for (int64_t tries = 0; found.first <= last && position() % dim.base_dilation != 0; ++found.first)
    if (++tries == found.step) return found;
  if (found.first > last) return found;
  found.count = (last - found.first) / found.step + 1;
  found.base = static_cast<int64_t>(position() / dim.base_dilation);
  if (found.count == 1) found.step = found.base_step = 1;  // unused, and possibly larger than any array
  return found;
}

// Moves dimension d to its next tap that has an element; false past the last.
bool WindowTapIterator::Advance(size_t d) {
  while (tap_[d] < last_[d]) {
    ++tap_[d];
    progressions_[d] = ResultsAt(d);
    if (progressions_[d].count > 0) return true;
  }
  return false;
}

// Moves every dimension to its first tap that has an element; false if there is none.
bool WindowTapIterator::MoveToFirst() {
  for (size_t d = 0; d < dims_.size(); ++d) {
    tap_.push_back(first_[d] - 1);
    if (!Advance(d)) return false;
  }
  return true;
}

const WindowBox* WindowTapIterator::Next() {
  if (!started_) {
    started_ = true;
    if (!MoveToFirst()) return nullptr;
  } else {
    size_t d = dims_.size();
    for (; d-- > 0;) {
      if (Advance(d)) break;
      tap_[d] = first_[d] - 1;
      Advance(d);
    }
    if (d == static_cast<size_t>(-1)) return nullptr;
  }
  box_.results.offset = box_.elements.offset = 0;
  box_.whole = true;
  for (size_t d = 0; d < dims_.size(); ++d) {
    const Progression& found = progressions_[d];
    box_.sizes[d] = found.count;
    box_.results.offset += found.first * result_strides_[d];
    box_.results.strides[d] = found.step * result_strides_[d];
    box_.elements.offset += found.base * base_strides_[d];
    box_.elements.strides[d] = found.base_step * base_strides_[d];
    box_.whole &= found.count == results_[d];
  }
  return &box_;
}

}  // namespace shoal::internal
