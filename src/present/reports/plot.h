// A curve as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal::internal {

// The largest value of each of `columns` equal parts; the values themselves where there are fewer. Also gives where in
// `values` each stands.
struct PlotPoint {
  size_t at = 0;
  int64_t value = 0;
};
std::vector<PlotPoint> Downsample(std::span<const int64_t> values, size_t columns);

// Steps from first to last that belong together.
struct PlotSpan {
  size_t first = 0, last = 0;
  std::string name;
};

// Bytes over steps, in `width` columns (0: a hundred): each as high as the largest value of its part, with the largest
// and zero at the left; below them the first and the last step and the peak, and the loops (in the order of their ends).
std::string BytesPlot(std::span<const int64_t> values, size_t peak, const std::vector<PlotSpan>& loops, size_t width);

}  // namespace shoal::internal
