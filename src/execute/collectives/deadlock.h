// Why no device of a run can go on.
#pragma once

#include "execute/collectives/rendezvous.h"

namespace shoal::internal {

// Devices as people write them: "device 3", "devices 0-3,8".
std::string DeviceList(const DeviceGroup& sorted);

class DeadlockReport {
 public:
  explicit DeadlockReport(const CollectiveRuntime& world) : world_(world) {}
  // Nothing if all devices have finished. The world's mutex is held, and no device runs.
  std::optional<Diag> Explain() const;

 private:
  // Devices that wait at one instruction for the same others.
  struct Waiting {
    const Instruction* at = nullptr;
    DeviceGroup missing, devices;
  };

  std::vector<Waiting> AllWaiting() const;
  DeviceGroup MissingFor(const CollectiveRuntime::DeviceState& state) const;
  std::string Describe(const Waiting& waiting) const;
  std::vector<std::string> Differences(const DeviceGroup& devices, bool branches) const;
  std::string Difference(const Instruction& hlo, const std::map<std::optional<int64_t>, DeviceGroup>& took,
                         bool branches) const;

  const CollectiveRuntime& world_;
};

}  // namespace shoal::internal
