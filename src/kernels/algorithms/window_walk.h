// A window that moves over an array, place by place of the window rather than result by result: for one place in the
// window, the results that find an element there form a box, and so do their elements.
#pragma once

#include "core/ir/attr.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {

struct WindowBox {
  Dims sizes;
  Strided results;     // where the results of the box lie in a row-major array of results
  Strided elements;    // where their elements lie in the row-major base
  bool whole = false;  // all results
};

class WindowWalk {
 public:
  // `window` may be null for arrays without dimensions. The sizes must fit together (WindowedOutputDims).
  WindowWalk(const Window* window, Ints base, Ints results);

  // The next place of the window, in row-major order, that lies on an element for some result; null at the end.
  const WindowBox* Next();

 private:
  // The results o = first + i * step, i < count, find the elements base + i * base_step.
  struct Progression {
    int64_t first = 0, step = 1, count = 0, base = 0, base_step = 0;
  };
  Progression ResultsAt(size_t d) const;
  bool Advance(size_t d);
  bool Settle();

  std::span<const WindowDim> dims_;
  Dims base_, results_, base_strides_, result_strides_;
  Dims first_, last_;  // the places worth looking at: others lie in the padding for every result
  Dims place_;
  absl::InlinedVector<Progression, 6> found_;
  bool started_ = false;
  WindowBox box_;
};

}  // namespace shoal::internal
