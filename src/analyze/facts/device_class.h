// Groups devices with equal behaviour into classes. The first device of each class represents the class. Devices that
// run the same program may still differ in their pipeline stage, or in branches that depend on the device id.
#pragma once

#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "analyze/facts/logical_collective.h"

namespace shoal::internal {

struct DeviceClass {
  std::vector<int64_t> devices;                              // empty means all devices
  absl::flat_hash_map<const Instruction*, size_t> branches;  // branch taken in each conditional that depends on ids
  std::string name;                                          // "every device", "devices 0-3, 8"
};

struct DeviceClasses {
  std::vector<DeviceClass> all;  // one or more classes, sorted by first device
  std::vector<uint32_t> of;      // index in `all` of each device's class; empty if there is only one class
  std::vector<std::string> notes;

  bool is_uniform() const { return all.size() == 1; }
};

// Devices of one class take the same branches, and send or receive in the same permutes, sends and recvs.
DeviceClasses DeviceClassesOf(const Module& module, const CallGraph& calls, const ModuleCollectives& collectives,
                              const DeviceGrid& grid);

// Finds the classes that a class must wait for in a collective: the classes with devices in the same groups, and the
// classes that send to this class.
class ClassDependencies {
 public:
  explicit ClassDependencies(const DeviceClasses& classes) : classes_(classes) {}
  const std::vector<uint32_t>& ClassesWaitedFor(const Participants& participants, size_t c);
  // True if a device of class `c` participates in the collective.
  bool Participates(const Participants& participants, size_t c);
  bool Sends(const Participants& participants, size_t c) { return RowOf(participants).sends[c]; }

 private:
  struct Row {
    std::vector<std::vector<uint32_t>> waits_for;  // for each class, the classes to wait for
    std::vector<bool> participates, sends;
  };
  const Row& RowOf(const Participants& participants);

  const DeviceClasses& classes_;
  std::map<const Participants*, Row> rows_;
};

}  // namespace shoal::internal
