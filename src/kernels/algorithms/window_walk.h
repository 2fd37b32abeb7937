// Iterates over a window op by taps (positions in the window) rather than by results: the results that have an element
// under a given tap form a box, and so do these elements.
#pragma once

#include "core/ir/attr.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {

struct WindowBox {
  Dims sizes;
  Strided results;     // the results of the box in a row-major array of results
  Strided elements;    // their elements in the row-major base
  bool whole = false;  // the box contains all results
};

class WindowTapIterator {
 public:
  // `window` may be null for arrays without dimensions. The sizes must be consistent (WindowedOutputDims).
  WindowTapIterator(const Window* window, Ints base, Ints results);

  // The box of the next tap, in row-major order, that has an element for some result; null at the end.
  const WindowBox* Next();

 private:
  // Result first + i * step reads element base + i * base_step, for i < count.
  struct Progression {
    int64_t first = 0, step = 1, count = 0, base = 0, base_step = 0;
  };
  Progression ResultsAt(size_t d) const;
  bool Advance(size_t d);
  bool MoveToFirst();

  std::span<const WindowDim> dims_;
  Dims base_, results_, base_strides_, result_strides_;
  Dims first_, last_;  // the range of taps to visit: other taps are in the padding for every result
  Dims tap_;
  absl::InlinedVector<Progression, 6> progressions_;
  bool started_ = false;
  WindowBox box_;
};

}  // namespace shoal::internal
