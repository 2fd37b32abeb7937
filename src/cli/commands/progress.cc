#include "cli/commands/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "cli/commands/interrupt.h"
#include "cli/commands/output.h"
#include "core/base/strings.h"
#include "execute/collectives/deadlock.h"
#include "execute/data/outputs.h"

namespace shoal::internal {
namespace {

// ", 3 min left", once there is enough to judge by.
std::string TimeLeft(double seconds, double share) {
  if (seconds < 2 || share < 0.01 || share >= 1) return "";
  const double left = seconds * (1 - share) / share;
  if (left < 120) return StrCat(", ", std::llround(left), " s left");
  if (left < 7200) return StrCat(", ", std::llround(left / 60), " min left");
  return StrCat(", ", std::llround(left / 3600), " h left");
}

}  // namespace

double ProgressLine::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProgressLine::Show(double done, double all, const std::string& what) {
  const double seconds = Seconds(), share = all > 0 ? std::min(done / all, 0.999) : 0;
  if (shown_at_ > 0 && seconds < shown_at_ + 0.1) return;
  shown_at_ = seconds;
  std::string line = StrCat(doing_, ": ", static_cast<int64_t>(seconds), " s");
  if (all > 0) StrAppend(&line, ", ", static_cast<int64_t>(share * 100), " %", TimeLeft(seconds, share));
  StrAppend(&line, ", ", what);
  SetActivity(line);
  if (seconds < 1 || isatty(STDERR_FILENO) == 0) return;
  winsize size{};
  const size_t width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
  if (line.size() > width) line.resize(width);
  PrintInPlace(line);
  shown_ = true;
}

void ProgressLine::Clear() {
  if (shown_) PrintInPlace("");
  shown_ = false;
}

double StepsDone(std::span<const std::unique_ptr<Device>> devices) {
  double steps = 0;
  for (const auto& device : devices)
    steps += static_cast<double>(device->progress().instructions.load(std::memory_order_relaxed));
  return steps;
}

std::string FormatDevicePositions(std::span<const std::unique_ptr<Device>> devices) {
  int64_t iterations = 0;
  // Devices that are at the same instruction together, in the order of the first of them.
  std::vector<std::pair<const Instruction*, std::vector<int64_t>>> places;
  for (const auto& device : devices) {
    const Device::Progress& progress = device->progress();
    iterations += progress.iterations.load(std::memory_order_relaxed);
    const Instruction* now = progress.now.load(std::memory_order_relaxed);
    auto place = std::find_if(places.begin(), places.end(), [&](const auto& one) { return one.first == now; });
    if (place == places.end()) place = places.insert(place, {now, {}});
    place->second.push_back(device->id());
  }
  std::string text = StrCat(static_cast<int64_t>(StepsDone(devices)), " instructions");
  if (iterations > 0) StrAppend(&text, ", ", iterations, " iterations");
  const char* separator = "; ";
  for (const auto& [now, ids] : places) {
    if (now == nullptr) continue;
    StrAppend(&text, separator, DeviceList(ids), " at ", now->name);
    separator = ", ";
  }
  return text;
}

}  // namespace shoal::internal
