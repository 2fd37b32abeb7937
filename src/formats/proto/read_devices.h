// Meshes and iotas from their messages. Private to proto/.
#pragma once

#include <vector>

#include "formats/proto/parts.h"

namespace shoal::internal {

// The product of `dims`, all of which must be positive.
Result<int64_t> CountDevices(const std::vector<int64_t>& dims);
// dims<=reshape T(perm), in canonical form; without `reshape` the plain order.
Result<IotaTiles> ReadIota(std::vector<int64_t> dims, std::vector<int64_t> reshape, std::vector<int> perm);
// It has as many devices as places. XLA does not ask that of replica groups.
Status CheckCoversAllDevices(const IotaTiles& iota);
Result<Mesh> ReadMesh(const proto::MeshProto& from);
Result<std::vector<AxisRef>> ReadAxisRefs(const Mesh& mesh,
                                          const google::protobuf::RepeatedPtrField<proto::AxisRefProto>& from);

}  // namespace shoal::internal
