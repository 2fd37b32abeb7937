// Reads and writes the messages that instructions and the header have in common. Private to formats/proto.
//
// All data is copied into the module. Errors have no location; the caller adds one.
#pragma once

#include <google/protobuf/repeated_field.h>

#include <span>
#include <string>
#include <string_view>

#include "core/ir/module.h"
#include "hlo.pb.h"

namespace shoal::internal {

// ---- read_shape.cc
Result<const Shape*> ReadShape(Module& module, const proto::ShapeProto& from);

// ---- read_literal.cc
Result<const Literal*> ReadLiteral(Module& module, const proto::LiteralProto& from);
// A literal without values, which prints as {...}.
const Literal* ElidedLiteral(Module& module, const Shape& shape);

// ---- read_sharding.cc
// Strings to which metadata refers by index.
using Payloads = google::protobuf::RepeatedPtrField<std::string>;
Result<Metadata> ReadMetadata(Module& module, const Payloads& payloads, const proto::OpMetadata& from);
Result<Sharding> ReadSharding(Module& module, const Payloads& payloads, const proto::OpSharding& from);
// True if the sharding leaves values to be reduced later. Its proto stores the reduction as an extra metadata entry.
bool IsUnreduced(const Sharding& sharding);
Result<ReplicaGroups> ReadReplicaGroups(const proto::HloInstructionProto& from);

// ---- read_common.cc
OriginalArray ReadOriginalArray(Module& module, const proto::OriginalArrayProto& from);
std::span<const FrontendAttribute> ReadFrontendAttributes(Module& module, const proto::FrontendAttributes& from);

// ---- write_parts.cc, write_literal.cc, write_sharding.cc
void WriteShape(const Shape& shape, proto::ShapeProto* to);
void WriteLiteral(const Literal& literal, proto::LiteralProto* to);
int64_t BytesOf(const Literal& literal);  // size in its message; INT64_MAX on overflow
void WriteMetadata(const Metadata& metadata, proto::OpMetadata* to);
void WriteSharding(const Sharding& sharding, proto::OpSharding* to);
void WriteReplicaGroups(const ReplicaGroups& groups, proto::HloInstructionProto* to);
void WriteOriginalArray(const OriginalArray& array, proto::OriginalArrayProto* to);
void WriteFrontendAttributes(std::span<const FrontendAttribute> attributes, proto::FrontendAttributes* to);

// ---- small conversions
using Int64s = google::protobuf::RepeatedField<int64_t>;

inline Ints CopyInts(Module& module, const Int64s& from) {
  return module.arena.Copy(std::span(from.data(), static_cast<size_t>(from.size())));
}
inline std::vector<int64_t> ToVector(const Int64s& from) { return {from.begin(), from.end()}; }
template <class Range>
void Assign(Int64s* to, const Range& from) {
  to->Assign(std::begin(from), std::end(from));
}
inline void Assign(std::string* to, std::string_view from) { to->assign(from); }

}  // namespace shoal::internal
