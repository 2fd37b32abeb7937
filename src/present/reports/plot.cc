#include "present/reports/plot.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/base/text_width.h"
#include "core/base/units.h"

namespace shoal::internal {
namespace {

constexpr size_t kRows = 8, kDefaultWidth = 100, kMinColumns = 10, kMaxLevels = 3;

class Plot {
 public:
  Plot(std::span<const int64_t> values, size_t width)
      : values_(values), max_(*std::max_element(values.begin(), values.end())) {
    top_ = FormatBytes(static_cast<double>(max_));
    margin_ = std::max<size_t>(top_.size(), 5);  // "loops"
    if (width == 0) width = kDefaultWidth;
    columns_ = std::max(kMinColumns, width > margin_ + 2 ? width - margin_ - 2 : 0);
  }

  void AddCurve() {
    for (size_t row = kRows; row-- > 0;) {
      std::string line(columns_, ' ');
      for (size_t c = 0; c < columns_; ++c) {
        // A cell is filled if the column covers half of it.
        const double height = max_ == 0 ? 0 : static_cast<double>(MaxOfColumn(c)) / static_cast<double>(max_);
        if (height * static_cast<double>(kRows) >= static_cast<double>(row) + 0.5) line[c] = '#';
      }
      Add(row + 1 == kRows ? top_ : row == 0 ? "0" : "", "|", line);
    }
  }

  // The axis, with the first step, the last step and the peak below it.
  void AddAxis(size_t peak) {
    std::string axis(columns_, '-'), numbers(columns_, ' ');
    axis[ColumnOf(peak)] = '^';
    const std::string last = StrCat(values_.size()), mark = StrCat("peak ", peak + 1);
    numbers.replace(0, 1, "1");
    numbers.replace(columns_ - last.size(), last.size(), last);
    const size_t at = std::min(ColumnOf(peak) - std::min(ColumnOf(peak), mark.size() / 2), columns_ - mark.size());
    // The label of the peak replaces a number that it would overlap.
    if (at < 3) numbers.replace(0, at + 1, at + 1, ' ');
    if (at + mark.size() + last.size() + 2 > columns_) numbers.resize(at), numbers.resize(columns_, ' ');
    numbers.replace(at, mark.size(), mark);
    Add("", "+", axis);
    Add("step", " ", numbers);
  }

  void AddLoops(const std::vector<PlotSpan>& loops) {
    const std::vector<size_t> levels = Levels(loops);
    for (size_t level = 0; level < kMaxLevels; ++level) {
      std::string line;
      size_t width = 0;
      for (size_t i = 0; i < loops.size(); ++i) {
        const PlotSpan& loop = loops[i];
        if (levels[i] != level) continue;
        const size_t first = ColumnOf(loop.first), last = LastColumnOf(loop.last);
        if (first < width) continue;  // it does not fit beside the previous loop
        line.append(first - width, ' ') += Bracket(loop.name, last - first + 1);
        width = last + 1;
      }
      if (!line.empty()) Add(level == 0 ? "loops" : "", " ", line);
    }
  }

  std::string Text() const { return text_; }

 private:
  // The first and the last column that show a step.
  size_t ColumnOf(size_t step) const {
    return values_.size() < columns_ ? (step * columns_ + values_.size() - 1) / values_.size() : LastColumnOf(step);
  }
  size_t LastColumnOf(size_t step) const { return ((step + 1) * columns_ - 1) / values_.size(); }

  int64_t MaxOfColumn(size_t column) const {
    const size_t first = column * values_.size() / columns_;
    const size_t end = std::max(first + 1, (column + 1) * values_.size() / columns_);
    return *std::max_element(values_.begin() + static_cast<ptrdiff_t>(first),
                             values_.begin() + static_cast<ptrdiff_t>(end));
  }

  // "[while.3 × 8------]", shortened to the width.
  static std::string Bracket(const std::string& name, size_t width) {
    if (width < 3) return std::string(width, '|');
    const std::string shown = width < 7 ? std::string() : ElideTo(name, width - 2, ElideMode::kMiddle);
    return StrCat("[", shown, std::string(width - 2 - TextWidth(shown), '-'), "]");
  }

  // The nesting level of each loop. The loops are sorted by last step.
  static std::vector<size_t> Levels(const std::vector<PlotSpan>& loops) {
    std::vector<size_t> levels(loops.size()), enclosing;
    for (size_t i = loops.size(); i-- > 0;) {
      while (!enclosing.empty() && loops[enclosing.back()].first > loops[i].last) enclosing.pop_back();
      levels[i] = enclosing.size();
      enclosing.push_back(i);
    }
    return levels;
  }

  void Add(const std::string& label, const char* border, std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    std::string whole = StrCat(std::string(margin_ - label.size(), ' '), label, " ", border, line);
    whole.erase(whole.find_last_not_of(' ') + 1);
    StrAppend(&text_, whole, "\n");
  }

  std::span<const int64_t> values_;
  int64_t max_;
  std::string top_, text_;
  size_t margin_ = 0, columns_ = 0;
};

}  // namespace

std::vector<PlotPoint> Downsample(std::span<const int64_t> values, size_t columns) {
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

std::string BytesPlot(std::span<const int64_t> values, size_t peak, const std::vector<PlotSpan>& loops, size_t width) {
  if (values.empty()) return "";
  Plot plot(values, width);
  plot.AddCurve();
  plot.AddAxis(std::min(peak, values.size() - 1));
  plot.AddLoops(loops);
  return plot.Text();
}

}  // namespace shoal::internal
