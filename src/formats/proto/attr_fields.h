// Maps attributes to the fields of an instruction's message, for reading and writing. Private to formats/proto.
//
// The attribute's kind selects its codec, and a table of locations selects its field (both in attr_fields.cc), so that
// no code here depends on the op.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/ops/op.h"
#include "formats/proto/parts.h"

namespace shoal::internal {

// The input for reading an attribute.
struct AttrSource {
  Module& module;
  const proto::HloInstructionProto& from;
  const Instruction& hlo;  // opcode, shape and operands are set
  std::span<Computation* const> called;
  std::span<Instruction* const> control_predecessors;
  const Payloads& payloads;
  bool from_executable = false;  // the module is from a compiled executable
};

// Ids of computations and instructions. An instruction's id combines its computation's id and its own position.
struct Ids {
  absl::flat_hash_map<const Computation*, int64_t> computations;
  // Positions of instructions in the text, if they are scheduled in another order.
  absl::flat_hash_map<const Instruction*, uint32_t> written;

  int64_t Of(const Computation& computation) const { return computations.at(&computation); }
  int64_t Of(const Instruction& hlo) const {
    auto found = written.find(&hlo);
    return Of(*hlo.parent) << 32 | (found == written.end() ? hlo.index : found->second);
  }
};

struct AttrTarget {
  const Instruction& hlo;
  const Ids& ids;
  proto::HloInstructionProto& to;
};

// A value read from a message. It is empty if the field is absent and its absence does not imply a value.
struct DecodedAttr {
  std::optional<AttrValue> value;
  bool is_set = true;  // false if the value is implied by the absence of the field
};
using DecodeResult = Result<DecodedAttr>;

struct AttrField;

// Reads and writes one kind of value. `write` gets null if the instruction does not have the attribute but the absence
// must be written.
struct AttrCodec {
  DecodeResult (*read)(const AttrField& field, const AttrSource& source);
  void (*write)(const AttrField& field, const AttrValue* value, AttrTarget& target);
};

// Returns the value as a T, or null if there is none or it has another type.
template <class T>
const T* Get(const AttrValue* value) {
  return value == nullptr ? nullptr : std::get_if<T>(value);
}

struct AttrField {
  const AttrDef* def = nullptr;
  const AttrCodec* codec = nullptr;
  std::vector<const google::protobuf::FieldDescriptor*> path;  // from the instruction's message to the field
  int position = 0;                                            // index in the list of called computations
};

// The op's own attributes, then those common to all ops.
std::span<const AttrField> FieldsOf(Opcode opcode);

// True if the instruction must store the value, because it is always printed or is not the default.
bool IsNonDefault(const AttrDef& def, const DecodedAttr& decoded);

// ---- plain_codecs.cc: one number, string or list in the field at the end of `path`
extern const AttrCodec kBoolCodec, kIntCodec, kFloatCodec, kStringCodec, kEnumCodec, kEnumListCodec, kIntsCodec,
    kBoolsCodec;
// ---- reference_codecs.cc: references to computations, instructions, channels, devices
extern const AttrCodec kComputationCodec, kComputationsCodec, kInstructionsCodec, kChannelCodec, kPairsCodec,
    kReplicaGroupsCodec, kShardingCodec, kDomainCodec, kAliasingCodec;
// ---- message_codecs.cc: values stored as a separate message
extern const AttrCodec kWindowCodec, kConvDimsCodec, kSliceCodec, kPaddingCodec, kShapeCodec, kShapesCodec,
    kLiteralCodec, kSliceSizesCodec, kSparsityCodec, kResultAccuracyCodec;
// ---- metadata_codecs.cc: data that the compiler adds to the program
extern const AttrCodec kMetadataCodec, kFrontendAttributesCodec, kStatisticsCodec, kOriginalValueCodec,
    kBackendConfigCodec;

}  // namespace shoal::internal
