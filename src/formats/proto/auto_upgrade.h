// What older versions of XLA wrote differently. Private to proto/.
#pragma once

#include "hlo.pb.h"

namespace shoal::internal {

// Brings an instruction's message into today's form, as XLA does when it reads one.
void AutoUpgrade(proto::HloInstructionProto& instruction);

}  // namespace shoal::internal
