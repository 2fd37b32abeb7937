// Reads the values that a snapshot recorded. Private to formats/proto.
#pragma once

#include <string_view>

#include "core/base/diags.h"
#include "formats/proto/read.h"
#include "hlo.pb.h"

namespace shoal::internal {

void ReadSnapshotValues(const proto::HloSnapshot& from, ProtoInput& input, Diags& diags);
// The arguments of all partitions, in order. `values` follow the message in the file, if it has only their sizes.
void ReadPartitionInputs(const proto::HloUnoptimizedSnapshot& from, std::string_view values, ProtoInput& input, Diags& diags);

}  // namespace shoal::internal
