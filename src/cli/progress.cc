#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "base/strings.h"
#include "collectives/stall.h"
#include "interp/data/outputs.h"

namespace shoal {

bool ProgressLine::Wanted() { return isatty(STDERR_FILENO) != 0; }

double ProgressLine::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProgressLine::Show(std::span<const std::unique_ptr<Device>> devices) {
  if (Seconds() >= 1) Show(ProgressText(Seconds(), devices));
}

void ProgressLine::Show(std::string line) {
  if (Seconds() < 1) return;
  winsize size{};
  const size_t width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
  if (line.size() > width) line.resize(width);
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::Clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

std::string ProgressText(double seconds, std::span<const std::unique_ptr<Device>> devices) {
  int64_t instructions = 0, iterations = 0;
  // Devices that are at the same instruction together, in the order of the first of them.
  std::vector<std::pair<const Instruction*, std::vector<int64_t>>> places;
  for (const auto& device : devices) {
    const Device::Progress& progress = device->progress();
    instructions += progress.instructions.load(std::memory_order_relaxed);
    iterations += progress.iterations.load(std::memory_order_relaxed);
    const Instruction* now = progress.now.load(std::memory_order_relaxed);
    auto place = std::find_if(places.begin(), places.end(), [&](const auto& one) { return one.first == now; });
    if (place == places.end()) place = places.insert(place, {now, {}});
    place->second.push_back(device->id());
  }
  std::string text = StrCat(static_cast<int64_t>(seconds), " s, ", instructions, " instructions");
  if (iterations > 0) StrAppend(&text, ", ", iterations, " iterations");
  const char* separator = "; ";
  for (const auto& [now, ids] : places) {
    if (now != nullptr) StrAppend(&text, separator, DeviceList(ids), " at ", now->name);
    if (now != nullptr) separator = ", ";
  }
  return text;
}

std::string ProgressBar(int64_t done, int64_t all, std::string_view now) {
  constexpr int64_t kWidth = 20;
  const auto full = static_cast<size_t>(all > 0 ? kWidth * done / all : kWidth);
  return StrCat("[", std::string(full, '#'), std::string(kWidth - full, '.'), "] ", done, " of ", all, " files, ", now);
}

}  // namespace shoal
