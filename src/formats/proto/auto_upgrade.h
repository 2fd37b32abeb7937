// Upgrades messages that older versions of XLA wrote. Private to formats/proto.
#pragma once

#include "hlo.pb.h"

namespace shoal::internal {

// Converts an instruction's message to its current form, as XLA does when it reads one.
void AutoUpgrade(proto::HloInstructionProto& instruction);
// Marks values that AutoUpgrade would take for those of an older version.
void MarkAsCurrent(proto::HloInstructionProto& instruction);

}  // namespace shoal::internal
