// Classes of devices with equal behaviour. Devices of one program may differ in pipeline stage, or in branches that
// depend on the device id. One device represents each class.
#pragma once

#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "analyze/facts/logical_collective.h"

namespace shoal::internal {

struct DeviceClass {
  std::vector<int64_t> devices;                              // the first represents the class; empty: every device
  absl::flat_hash_map<const Instruction*, size_t> branches;  // taken in conditionals that depend on the device id
  std::string name;                                          // "every device", "devices 0-3, 8"
};

struct DeviceClasses {
  std::vector<DeviceClass> all;  // at least one, sorted by first device
  std::vector<uint32_t> of;      // index in `all` by device; empty if there is one class
  std::vector<std::string> notes;

  bool is_uniform() const { return all.size() == 1; }
};

// Devices of one class take the same branches, and send and receive in the same partial transfers.
DeviceClasses DeviceClassesOf(const Module& module, const CallGraph& calls, const ModuleCollectives& collectives,
                              const DeviceGrid& grid);

// For each class, the classes that it waits for before it can start a collective: those with devices in its groups, and
// those that send to it.
class ClassDependencies {
 public:
  explicit ClassDependencies(const DeviceClasses& classes) : classes_(classes) {}
  const std::vector<uint32_t>& ClassesWaitedFor(const Participants& participants, size_t c);
  // True if a device of the class participates.
  bool Participates(const Participants& participants, size_t c);
  bool Sends(const Participants& participants, size_t c) { return RowOf(participants).sends[c]; }

 private:
  struct Row {
    std::vector<std::vector<uint32_t>> waits_for;  // by class
    std::vector<bool> participates, sends;
  };
  const Row& RowOf(const Participants& participants);

  const DeviceClasses& classes_;
  std::map<const Participants*, Row> rows_;
};

}  // namespace shoal::internal
