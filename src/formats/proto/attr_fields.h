// Where each attribute of an op lives in the op's message, and how it gets there and back. Private to proto/.
//
// An attribute's kind says how its value is stored, its home says in which field. Both are tables (attr_fields.cc),
// so that nothing here names an op.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/ops/op.h"
#include "formats/proto/parts.h"

namespace shoal::internal {

// What an attribute is read from.
struct AttrSource {
  Module& module;
  const proto::HloInstructionProto& from;
  const Instruction& hlo;  // opcode, shape and operands are known
  std::span<Computation* const> called;
  std::span<Instruction* const> control_predecessors;
  const Payloads& payloads;
  bool of_executable = false;  // the module is a compiled program's
};

// Numbers of computations; an instruction's is its computation's and its own position.
struct Ids {
  absl::flat_hash_map<const Computation*, int64_t> computations;
  // Where instructions were written, if they run in another order.
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

// A value, and whether the message says so or it is what silence means; no value if silence means nothing.
struct DecodedAttr {
  std::optional<AttrValue> value;
  bool said = true;
};
using GivenResult = Result<DecodedAttr>;

struct AttrField;

// How a kind of value is stored. `write` gets null for an attribute that the instruction does not have but whose
// absence has to be written.
struct AttrCodec {
  GivenResult (*read)(const AttrField& field, const AttrSource& source);
  void (*write)(const AttrField& field, const AttrValue* value, AttrTarget& target);
};

// The value an instruction has, if it has one of that type.
template <class T>
const T* Get(const AttrValue* value) {
  return value == nullptr ? nullptr : std::get_if<T>(value);
}

struct AttrField {
  const AttrDef* def = nullptr;
  const AttrCodec* codec = nullptr;
  std::vector<const google::protobuf::FieldDescriptor*> path;  // from the instruction's message to the field
  int position = 0;                                            // of a computation among those called
};

// The op's own attributes, then those it shares with all.
std::span<const AttrField> FieldsOf(Opcode opcode);

// Whether a value that was read is kept on the instruction: always if it is printed always, else if it says something.
bool IsNonDefault(const AttrDef& def, const DecodedAttr& given);

// ---- plain_codecs.cc: one number, text or list in the field at the end of `path`
extern const AttrCodec kBoolCodec, kIntCodec, kFloatCodec, kStringCodec, kEnumCodec, kEnumListCodec, kIntsCodec,
    kBoolsCodec;
// ---- link_codecs.cc: what points to computations, instructions, channels, devices
extern const AttrCodec kComputationCodec, kComputationsCodec, kInstructionsCodec, kChannelCodec, kPairsCodec,
    kReplicaGroupsCodec, kShardingCodec, kDomainCodec, kAliasingCodec;
// ---- message_codecs.cc: values that are a message of their own
extern const AttrCodec kWindowCodec, kConvDimsCodec, kSliceCodec, kPaddingCodec, kShapeCodec, kShapesCodec,
    kLiteralCodec, kSliceSizesCodec, kSparsityCodec, kResultAccuracyCodec;
// ---- note_codecs.cc: what the compiler notes down beside the program
extern const AttrCodec kMetadataCodec, kFrontendAttributesCodec, kStatisticsCodec, kOriginalValueCodec,
    kBackendConfigCodec;

}  // namespace shoal::internal
