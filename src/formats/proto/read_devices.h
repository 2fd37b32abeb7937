// Reads meshes and iota device orders. Private to formats/proto.
#pragma once

#include <vector>

#include "formats/proto/parts.h"

namespace shoal::internal {

// Returns the product of `dims`, all of which must be positive.
Result<int64_t> CountDevices(const std::vector<int64_t>& dims);
// Returns dims<=reshape T(perm) in canonical form; the plain order if `reshape` is empty.
Result<IotaTiles> ReadIota(std::vector<int64_t> dims, std::vector<int64_t> reshape, std::vector<int> perm);
// Checks that `dims` and `reshape` have equal products. XLA does not require this for replica groups.
Status CheckCoversAllDevices(const IotaTiles& iota);
Result<Mesh> ReadMesh(const proto::MeshProto& from);
Result<std::vector<AxisRef>> ReadAxisRefs(const Mesh& mesh,
                                          const google::protobuf::RepeatedPtrField<proto::AxisRefProto>& from);

}  // namespace shoal::internal
