// Devices of one program that do different things: stages of a pipeline, branches that depend on the device's id. Devices
// that do the same are a class, and one of them stands for all.
#pragma once

#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "analyze/facts/logical_collective.h"

namespace shoal::internal {

struct DeviceClass {
  std::vector<int64_t> devices;                                // of which the first stands for all; empty: every device
  absl::flat_hash_map<const Instruction*, size_t> branches;   // that its devices take, of conditionals that ask who they are
  std::string name;                                            // "every device", "devices 0-3, 8"
};

struct DeviceClasses {
  std::vector<DeviceClass> all;  // at least one, by their first device
  std::vector<uint32_t> of;      // of each device; empty where all are alike
  std::vector<std::string> notes;

  bool alike() const { return all.size() == 1; }
};

// Classes by the branches that devices take, and by whether they send or receive where not everybody does.
DeviceClasses DeviceClassesOf(const Module& module, const CallGraph& calls, const ModuleCollectives& collectives,
                              const DeviceGrid& grid);

// For whom of the classes a member of `participants` in class `c` waits before its part can begin: those in its groups, and those
// that send to it.
class ClassMeetings {
 public:
  explicit ClassMeetings(const DeviceClasses& classes) : classes_(classes) {}
  const std::vector<uint32_t>& ClassesWaitedFor(const Participants& participants, size_t c);
  // Whether a device of the class takes part.
  bool TakesPart(const Participants& participants, size_t c);
  bool Sends(const Participants& participants, size_t c) { return RowOf(participants).sends[c]; }

 private:
  struct Row {
    std::vector<std::vector<uint32_t>> awaited;  // by class
    std::vector<bool> takes_part, sends;
  };
  const Row& RowOf(const Participants& participants);

  const DeviceClasses& classes_;
  std::map<const Participants*, Row> rows_;
};

}  // namespace shoal::internal
