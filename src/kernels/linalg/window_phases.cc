#include "kernels/linalg/window_phases.h"

#include <algorithm>
#include <numeric>

namespace shoal::internal {
namespace {

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Leaves out taps that are beside the base at every place.
void TrimTaps(Phase& phase, int64_t base) {
  const int64_t last = phase.start + (phase.places - 1) * phase.per_place;
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

// Adds a phase, in pieces where the window is much larger than the base: all places together see every tap, but each of
// them only as many as the base has elements.
void AddPhase(std::vector<Phase>& phases, Phase whole, int64_t base) {
  const bool in_pieces = whole.taps > 2 * base && whole.taps > 4;
  const int64_t piece = in_pieces ? std::max<int64_t>(base / std::max<int64_t>(whole.per_place, 1), 1) : whole.places;
  for (int64_t first = 0; first < whole.places; first += piece) {
    Phase phase = whole;
    phase.first_place += first * phase.place_step;
    phase.start += first * phase.per_place;
    phase.places = std::min(piece, whole.places - first);
    TrimTaps(phase, base);
    phases.push_back(phase);
  }
}

}  // namespace

std::vector<Phase> PhasesOf(const SpatialDim& dim) {
  const WindowDim& window = dim.window;
  const int64_t holes = window.base_dilation;
  const int64_t place_step = holes / std::gcd(window.stride, holes);
  const int64_t tap_step = holes / std::gcd(window.window_dilation, holes);
  std::vector<Phase> phases;
  for (int64_t place = 0; place < std::min(place_step, dim.output); ++place) {
    Phase phase{.first_place = place, .place_step = place_step, .tap_step = tap_step};
    phase.places = (dim.output - place + place_step - 1) / place_step;
    phase.per_place = place_step * window.stride / holes;
    phase.per_tap = tap_step * window.window_dilation / holes;
    for (int64_t tap = 0; tap < std::min(tap_step, dim.kernel); ++tap) {
      const int64_t at = place * window.stride + tap * window.window_dilation - window.pad_low;
      if (at % holes != 0) continue;
      phase.first_tap = tap;
      phase.taps = (dim.kernel - tap + tap_step - 1) / tap_step;
      phase.start = at / holes;
      break;
    }
    AddPhase(phases, phase, dim.input);
  }
  return phases;
}

}  // namespace shoal::internal
