// Groups devices by their roles in collectives, without enumerating devices that the module does not list.
#pragma once

#include <unordered_map>

#include "analyze/facts/device_grid.h"

namespace shoal::internal {

// Devices with equal roles in every collective of a module.
struct ParticipationClass {
  int64_t first = 0;  // a representative device
  int64_t count = 0;
};

class Participation {
 public:
  // `module` must be verified. The running time depends on the size of the module, not on the number of devices.
  Participation(const Module& module, const DeviceGrid& grid);

  // Size of the device's group, capped at 2. Returns 0 if the device is not in a group.
  int64_t MembersOf(const Instruction& collective, int64_t device) const;
  bool IsTarget(const Instruction& permute, int64_t device) const;

  std::vector<ParticipationClass> Classes() const;

 private:
  // The role of each id in a collective: `default_value`, except for the ids in `exceptions`.
  struct Role {
    GroupMode mode = GroupMode::kFlattenedId;
    int64_t default_value = 0;
    std::unordered_map<int64_t, int64_t> exceptions;
  };
  Role GroupRole(const Instruction& hlo) const;
  Role PairRole(const Instruction& hlo) const;
  int64_t RoleOf(const Instruction& hlo, int64_t device) const;
  int64_t IdOf(GroupMode mode, int64_t device) const;

  const DeviceGrid grid_;
  std::vector<const Instruction*> collectives_;
  std::unordered_map<const Instruction*, Role> roles_;
};

}  // namespace shoal::internal
