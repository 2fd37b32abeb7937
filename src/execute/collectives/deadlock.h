// Reports the cause of a deadlock.
#pragma once

#include "execute/collectives/rendezvous.h"

namespace shoal::internal {

// A list of devices as text: "device 3", "devices 0-3,8".
std::string DeviceList(const DeviceGroup& sorted);

class DeadlockReport {
 public:
  explicit DeadlockReport(const CollectiveRuntime& runtime) : runtime_(runtime) {}
  // Returns nullopt if all devices have finished. The caller holds the runtime's mutex, and no device is running.
  std::optional<Diag> Explain() const;

 private:
  // A set of devices that wait at one instruction for the same set of missing devices.
  struct Waiting {
    const Instruction* at = nullptr;
    DeviceGroup missing, devices;
  };

  std::vector<Waiting> AllWaiting() const;
  DeviceGroup MissingFor(const CollectiveRuntime::DeviceState& state) const;
  std::string Describe(const Waiting& waiting) const;
  std::vector<std::string> Differences(const DeviceGroup& devices, bool branches) const;
  std::string Difference(const Instruction& hlo, const std::map<std::optional<int64_t>, DeviceGroup>& by_count,
                         bool branches) const;

  const CollectiveRuntime& runtime_;
};

}  // namespace shoal::internal
