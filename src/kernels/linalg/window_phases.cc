#include "kernels/linalg/window_phases.h"

#include <algorithm>
#include <numeric>

namespace shoal::internal {
namespace {

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Drops taps that are outside the base at every position.
void TrimTaps(Phase& phase, int64_t base) {
  const int64_t last = phase.start + (phase.positions - 1) * phase.per_position;
  int64_t begin = 0, end = phase.taps;
  if (phase.per_tap > 0) {
    if (last < 0) begin = std::min(end, -FloorDiv(last, phase.per_tap));
    end = std::clamp(FloorDiv(base - 1 - phase.start, phase.per_tap) + 1, begin, end);
  } else if (last < 0 || phase.start >= base) {
    end = 0;
  }
  phase.first_tap += begin * phase.tap_step;
  phase.start += begin * phase.per_tap;
  phase.taps = end - begin;
}

// Adds a phase, split into parts if the window is much larger than the base: all positions together use every tap, but
// each position uses only as many taps as the base has elements.
void AddPhase(std::vector<Phase>& phases, Phase whole, int64_t base) {
  const bool is_split = whole.taps > 2 * base && whole.taps > 4;
  const int64_t part_size =
      is_split ? std::max<int64_t>(base / std::max<int64_t>(whole.per_position, 1), 1) : whole.positions;
  for (int64_t first = 0; first < whole.positions; first += part_size) {
    Phase phase = whole;
    phase.first_position += first * phase.position_step;
    phase.start += first * phase.per_position;
    phase.positions = std::min(part_size, whole.positions - first);
    TrimTaps(phase, base);
    phases.push_back(phase);
  }
}

}  // namespace

std::vector<Phase> PhasesOf(const SpatialDim& dim) {
  const WindowDim& window = dim.window;
  const int64_t dilation = window.base_dilation;
  const int64_t position_step = dilation / std::gcd(window.stride, dilation);
  const int64_t tap_step = dilation / std::gcd(window.window_dilation, dilation);
  std::vector<Phase> phases;
  for (int64_t position = 0; position < std::min(position_step, dim.output); ++position) {
    Phase phase{.first_position = position, .position_step = position_step, .tap_step = tap_step};
    phase.positions = (dim.output - position + position_step - 1) / position_step;
    phase.per_position = position_step * window.stride / dilation;
    phase.per_tap = tap_step * window.window_dilation / dilation;
    for (int64_t tap = 0; tap < std::min(tap_step, dim.kernel); ++tap) {
      const int64_t at = position * window.stride + tap * window.window_dilation - window.pad_low;
      if (at % dilation != 0) continue;
      phase.first_tap = tap;
      phase.taps = (dim.kernel - tap + tap_step - 1) / tap_step;
      phase.start = at / dilation;
      break;
    }
    AddPhase(phases, phase, dim.input);
  }
  return phases;
}

}  // namespace shoal::internal
