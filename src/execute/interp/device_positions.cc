#include "execute/interp/device_positions.h"

#include <algorithm>

#include "core/base/strings.h"
#include "execute/collectives/deadlock.h"

namespace shoal::internal {

double InstructionsDone(std::span<const std::unique_ptr<Device>> devices) {
  double instructions = 0;
  for (const auto& device : devices)
    instructions += static_cast<double>(device->progress().instructions.load(std::memory_order_relaxed));
  return instructions;
}

std::string FormatDevicePositions(std::span<const std::unique_ptr<Device>> devices) {
  int64_t iterations = 0;
  // Groups of devices at the same instruction, in the order of their first device.
  std::vector<std::pair<const Instruction*, std::vector<int64_t>>> groups;
  for (const auto& device : devices) {
    const Device::Progress& progress = device->progress();
    iterations += progress.iterations.load(std::memory_order_relaxed);
    const Instruction* now = progress.now.load(std::memory_order_relaxed);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& other) { return other.first == now; });
    if (group == groups.end()) group = groups.insert(group, {now, {}});
    group->second.push_back(device->id());
  }
  std::string text = StrCat(static_cast<int64_t>(InstructionsDone(devices)), " instructions");
  if (iterations > 0) StrAppend(&text, ", ", iterations, " iterations");
  const char* separator = "; ";
  for (const auto& [now, ids] : groups) {
    if (now == nullptr) continue;
    StrAppend(&text, separator, DeviceList(ids), " at ", now->name);
    separator = ", ";
  }
  return text;
}

}  // namespace shoal::internal
