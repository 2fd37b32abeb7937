// A curve as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal {

// The largest value of each of `columns` equal parts; the values themselves where there are fewer. Also gives where in
// `values` each stands.
struct PlotPoint {
  size_t at = 0;
  int64_t value = 0;
};
std::vector<PlotPoint> Thinned(std::span<const int64_t> values, size_t columns);

// Bytes over steps: `rows` lines of columns, each as high as the largest value of its part, with the largest and zero
// at the left.
std::string BytesPlot(std::span<const int64_t> values, size_t columns, size_t rows);

}  // namespace shoal
