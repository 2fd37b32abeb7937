#include "report/plot.h"

#include <algorithm>

#include "base/units.h"

namespace shoal {

std::vector<PlotPoint> Thinned(std::span<const int64_t> values, size_t columns) {
  std::vector<PlotPoint> points;
  const size_t count = std::min(columns, values.size());
  for (size_t c = 0; c < count; ++c) {
    const auto part =
        values.subspan(c * values.size() / count, (c + 1) * values.size() / count - c * values.size() / count);
    const auto largest = std::max_element(part.begin(), part.end());
    points.push_back({c * values.size() / count + static_cast<size_t>(largest - part.begin()), *largest});
  }
  return points;
}

std::string BytesPlot(std::span<const int64_t> values, size_t columns, size_t rows) {
  const std::vector<PlotPoint> points = Thinned(values, columns);
  int64_t most = 0;
  for (const PlotPoint& point : points) most = std::max(most, point.value);
  const std::string top = Bytes(static_cast<double>(most));
  std::string out;
  for (size_t row = rows; row-- > 0;) {
    std::string line = row + 1 == rows ? top : row == 0 ? "0" : "";
    line.insert(0, top.size() - std::min(line.size(), top.size()), ' ');
    line += " |";
    for (const PlotPoint& point : points) {
      // In eighths of a row would need other letters; a column is there if it fills half of its last row.
      const double height = most == 0 ? 0 : static_cast<double>(point.value) / static_cast<double>(most);
      line += height * static_cast<double>(rows) >= static_cast<double>(row) + 0.5 ? '#' : ' ';
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace shoal
