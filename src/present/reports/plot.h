// Text plots.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal::internal {

// Downsample returns the maximum of each of `columns` equal parts of `values`, or all values if there are fewer.
struct PlotPoint {
  size_t at = 0;  // index in `values`
  int64_t value = 0;
};
std::vector<PlotPoint> Downsample(std::span<const int64_t> values, size_t columns);

// A labelled range of steps, both ends included.
struct PlotSpan {
  size_t first = 0, last = 0;
  std::string name;
};

// Plots bytes over steps in `width` columns (0: 100). Each column shows the maximum of its steps. Labels show the maximum
// and zero on the left, and the first step, the last step, the peak and the loops (sorted by last step) below.
std::string BytesPlot(std::span<const int64_t> values, size_t peak, const std::vector<PlotSpan>& loops, size_t width);

}  // namespace shoal::internal
