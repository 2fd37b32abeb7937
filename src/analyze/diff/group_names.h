// Names the groups of a module's collectives by the axes of its mesh.
#pragma once

#include <string>

#include "analyze/facts/device_mesh.h"

namespace shoal::internal {

class GroupNames {
 public:
  explicit GroupNames(const Module& module);
  // "data=8", "model=4, ring"; empty if `hlo` is not a collective.
  std::string Of(const Instruction& hlo);

 private:
  ParticipantTable table_;
};

}  // namespace shoal::internal
