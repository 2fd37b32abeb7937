// Attributes that refer to computations, instructions, channels and devices.
#include "core/base/strings.h"
#include "formats/proto/attr_fields.h"

namespace shoal::internal {
namespace {

// True if `hlo` uses this form of the attribute. A conditional stores its computations in one list for all its forms.
bool UsesForm(const AttrDef& def, const Instruction& hlo) {
  return def.not_required_if == nullptr || !def.not_required_if(hlo);
}

DecodeResult ReadComputation(const AttrField& field, const AttrSource& source) {
  if (!UsesForm(*field.def, source.hlo) || field.position >= std::ssize(source.called)) return DecodedAttr{};
  return DecodedAttr{source.called[static_cast<size_t>(field.position)]};
}

void WriteComputation(const AttrField& field, const AttrValue* value, AttrTarget& target) {
  Computation* const* attr = Get<Computation*>(value);
  if (attr == nullptr) return;
  Int64s* ids = target.to.mutable_called_computation_ids();
  if (ids->size() <= field.position) ids->Resize(field.position + 1, 0);
  ids->Set(field.position, target.ids.Of(**attr));
}

DecodeResult ReadComputations(const AttrField& field, const AttrSource& source) {
  if (!UsesForm(*field.def, source.hlo)) return DecodedAttr{};
  return DecodedAttr{Computations(source.module.arena.Copy(source.called)), !source.called.empty()};
}

void WriteComputations(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const Computations* attr = Get<Computations>(value);
  if (attr == nullptr) return;
  for (const Computation* computation : *attr) target.to.add_called_computation_ids(target.ids.Of(*computation));
}

DecodeResult ReadInstructions(const AttrField&, const AttrSource& source) {
  return DecodedAttr{Instructions(source.module.arena.Copy(source.control_predecessors)),
               !source.control_predecessors.empty()};
}

void WriteInstructions(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const Instructions* attr = Get<Instructions>(value);
  if (attr == nullptr) return;
  for (const Instruction* before : *attr) target.to.add_control_predecessor_ids(target.ids.Of(*before));
}

// XLA treats an id that is not positive as no channel, but its text keeps the id.
DecodeResult ReadChannel(const AttrField&, const AttrSource& source) {
  const int64_t channel = source.from.channel_id();
  if (channel <= 0 && source.from.shoal().has_channel_id()) return DecodedAttr{source.from.shoal().channel_id()};
  return DecodedAttr{channel, channel > 0};
}

void WriteChannel(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const int64_t* attr = Get<int64_t>(value);
  if (attr == nullptr) return;
  if (*attr > 0) {
    target.to.set_channel_id(*attr);
  } else {
    target.to.mutable_shoal()->set_channel_id(*attr);
  }
}

DecodeResult ReadPairs(const AttrField&, const AttrSource& source) {
  Module& module = source.module;
  std::vector<Ints> pairs;
  for (const proto::SourceTarget& pair : source.from.source_target_pairs()) {
    const int64_t ends[] = {pair.source(), pair.target()};
    pairs.push_back(module.arena.Copy(ends));
  }
  return DecodedAttr{IntLists(module.arena.Copy(pairs)), !pairs.empty()};
}

void WritePairs(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const IntLists* attr = Get<IntLists>(value);
  if (attr == nullptr) return;
  for (const Ints& pair : *attr) {
    proto::SourceTarget* to = target.to.add_source_target_pairs();
    if (!pair.empty()) to->set_source(pair[0]);
    if (pair.size() > 1) to->set_target(pair[1]);
  }
}

DecodeResult ReadGroups(const AttrField&, const AttrSource& source) {
  SHOAL_ASSIGN(groups, ReadReplicaGroups(source.from));
  const ReplicaGroups* result = source.module.arena.New<ReplicaGroups>(std::move(groups));
  return DecodedAttr{result, !result->empty()};
}

void WriteGroups(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const ReplicaGroups* const* attr = Get<const ReplicaGroups*>(value);
  if (attr == nullptr) {
    target.to.mutable_collective_device_list();
  } else {
    WriteReplicaGroups(**attr, &target.to);
  }
}

Result<const Sharding*> ReadShardingIntoArena(const AttrSource& source, const proto::OpSharding& from) {
  SHOAL_ASSIGN(sharding, ReadSharding(source.module, source.payloads, from));
  return source.module.arena.New<Sharding>(std::move(sharding));
}

DecodeResult ReadShardingAttr(const AttrField&, const AttrSource& source) {
  if (!source.from.has_sharding()) return DecodedAttr{};
  SHOAL_ASSIGN(sharding, ReadSharding(source.module, source.payloads, source.from.sharding()));
  // A sharding for all leaves of a tuple is copied for each leaf.
  constexpr int64_t kMaxCopies = int64_t{1} << 24;
  const Shape& shape = source.hlo.shape();
  const int64_t devices = std::ssize(sharding.tiles.devices) + 1;
  if (shape.IsTuple() && shape.LeafCount() > kMaxCopies / devices)
    return Fail(StrCat("sharding: ", devices - 1, " devices for each of ", shape.LeafCount(), " arrays are too many"));
  const Sharding* result = source.module.arena.New<Sharding>(Sharding::ForShape(std::move(sharding), shape));
  return DecodedAttr{result};
}

void WriteShardingAttr(const AttrField&, const AttrValue* value, AttrTarget& target) {
  if (const Sharding* const* attr = Get<const Sharding*>(value)) WriteSharding(**attr, target.to.mutable_sharding());
}

// Swaps entry and exit: the side of the users is the entry in the text, but the exit in the message.
DecodeResult ReadDomain(const AttrField&, const AttrSource& source) {
  if (!source.from.has_domain_entry_sharding() || !source.from.has_domain_exit_sharding()) return DecodedAttr{};
  SHOAL_ASSIGN(entry, ReadShardingIntoArena(source, source.from.domain_exit_sharding()));
  SHOAL_ASSIGN(exit, ReadShardingIntoArena(source, source.from.domain_entry_sharding()));
  const Domain* domain = source.module.arena.New<Domain>("sharding", entry, exit);
  return DecodedAttr{domain};
}

void WriteDomain(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const Domain* const* attr = Get<const Domain*>(value);
  if (attr == nullptr) return;
  if ((*attr)->entry != nullptr) WriteSharding(*(*attr)->entry, target.to.mutable_domain_exit_sharding());
  if ((*attr)->exit != nullptr) WriteSharding(*(*attr)->exit, target.to.mutable_domain_entry_sharding());
}

DecodeResult ReadAliasing(const AttrField&, const AttrSource& source) {
  Module& module = source.module;
  std::vector<OutputOperandAlias> aliases;
  for (const proto::OutputOperandAliasing& alias : source.from.output_operand_aliasing())
    aliases.push_back({CopyInts(module, alias.output_shape_index()), alias.operand_index(),
                       CopyInts(module, alias.operand_shape_index())});
  return DecodedAttr{std::span<const OutputOperandAlias>(module.arena.Copy(aliases)), !aliases.empty()};
}

void WriteAliasing(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const auto* attr = Get<std::span<const OutputOperandAlias>>(value);
  if (attr == nullptr) return;
  for (const OutputOperandAlias& alias : *attr) {
    proto::OutputOperandAliasing* to = target.to.add_output_operand_aliasing();
    Assign(to->mutable_output_shape_index(), alias.output_index);
    to->set_operand_index(alias.operand);
    Assign(to->mutable_operand_shape_index(), alias.operand_index);
  }
}

}  // namespace

const AttrCodec kComputationCodec{ReadComputation, WriteComputation};
const AttrCodec kComputationsCodec{ReadComputations, WriteComputations};
const AttrCodec kInstructionsCodec{ReadInstructions, WriteInstructions};
const AttrCodec kChannelCodec{ReadChannel, WriteChannel};
const AttrCodec kPairsCodec{ReadPairs, WritePairs};
const AttrCodec kReplicaGroupsCodec{ReadGroups, WriteGroups};
const AttrCodec kShardingCodec{ReadShardingAttr, WriteShardingAttr};
const AttrCodec kDomainCodec{ReadDomain, WriteDomain};
const AttrCodec kAliasingCodec{ReadAliasing, WriteAliasing};

}  // namespace shoal::internal
