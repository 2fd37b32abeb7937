// Who takes part in a collective with whom, without listing devices that a text does not list.
#pragma once

#include <unordered_map>

#include "analyze/facts/device_grid.h"

namespace shoal::internal {

// Devices that take part in every collective of a module in the same way.
struct ParticipationClass {
  int64_t first = 0;  // one of them
  int64_t count = 0;
};

class Participation {
 public:
  // The module was verified. Its cost follows what the module writes, not the number of devices.
  Participation(const Module& module, const DeviceGrid& grid);

  // How many devices the device's group has: 0 if it is in none, 2 where there are others.
  int64_t MembersOf(const Instruction& collective, int64_t device) const;
  // Whether a permute sends something to the device.
  bool IsTarget(const Instruction& permute, int64_t device) const;

  std::vector<ParticipationClass> Classes() const;

 private:
  // A number for each id, of which most have `usual`.
  struct Role {
    GroupMode mode = GroupMode::kFlattenedId;
    int64_t usual = 0;
    std::unordered_map<int64_t, int64_t> other;
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
