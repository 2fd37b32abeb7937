// Names the groups of a module's collectives by the axes of its mesh.
#pragma once

#include <string>

#include "analyze/facts/device_mesh.h"

namespace shoal::internal {

class GroupNames {
 public:
  explicit GroupNames(const Module& module);
  // Returns a name such as "data=8" or "model=4, ring", or an empty string if `hlo` has no device groups.
  std::string Of(const Instruction& hlo);

 private:
  ParticipantTable table_;
};

}  // namespace shoal::internal
