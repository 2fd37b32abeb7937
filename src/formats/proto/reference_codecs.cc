// Attributes that point to computations, instructions, channels and devices.
#include "core/base/strings.h"
#include "formats/proto/attr_fields.h"

namespace shoal::internal {
namespace {

// A conditional's computations stand in one list, whatever the attribute is called.
bool IsForm(const AttrDef& def, const Instruction& hlo) {
  return def.not_required_if == nullptr || !def.not_required_if(hlo);
}

GivenResult ReadComputation(const AttrField& field, const AttrSource& source) {
  if (!IsForm(*field.def, source.hlo) || field.position >= std::ssize(source.called)) return DecodedAttr{};
  return DecodedAttr{source.called[static_cast<size_t>(field.position)]};
}

void WriteComputation(const AttrField& field, const AttrValue* value, AttrTarget& target) {
  Computation* const* given = Get<Computation*>(value);
  if (given == nullptr) return;
  Int64s* ids = target.to.mutable_called_computation_ids();
  if (ids->size() <= field.position) ids->Resize(field.position + 1, 0);
  ids->Set(field.position, target.ids.Of(**given));
}

GivenResult ReadComputations(const AttrField& field, const AttrSource& source) {
  if (!IsForm(*field.def, source.hlo)) return DecodedAttr{};
  return DecodedAttr{Computations(source.module.arena.Copy(source.called)), !source.called.empty()};
}

void WriteComputations(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const Computations* given = Get<Computations>(value);
  if (given == nullptr) return;
  for (const Computation* computation : *given) target.to.add_called_computation_ids(target.ids.Of(*computation));
}

GivenResult ReadInstructions(const AttrField&, const AttrSource& source) {
  return DecodedAttr{Instructions(source.module.arena.Copy(source.control_predecessors)),
               !source.control_predecessors.empty()};
}

void WriteInstructions(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const Instructions* given = Get<Instructions>(value);
  if (given == nullptr) return;
  for (const Instruction* before : *given) target.to.add_control_predecessor_ids(target.ids.Of(*before));
}

// XLA takes what is not positive for no channel, but its text keeps it.
GivenResult ReadChannel(const AttrField&, const AttrSource& source) {
  const int64_t channel = source.from.channel_id();
  if (channel <= 0 && source.from.shoal().has_channel_id()) return DecodedAttr{source.from.shoal().channel_id()};
  return DecodedAttr{channel, channel > 0};
}

void WriteChannel(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const int64_t* given = Get<int64_t>(value);
  if (given == nullptr) return;
  if (*given > 0) {
    target.to.set_channel_id(*given);
  } else {
    target.to.mutable_shoal()->set_channel_id(*given);
  }
}

GivenResult ReadPairs(const AttrField&, const AttrSource& source) {
  Module& module = source.module;
  std::vector<Ints> pairs;
  for (const proto::SourceTarget& pair : source.from.source_target_pairs()) {
    const int64_t ends[] = {pair.source(), pair.target()};
    pairs.push_back(module.arena.Copy(ends));
  }
  return DecodedAttr{IntLists(module.arena.Copy(pairs)), !pairs.empty()};
}

void WritePairs(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const IntLists* given = Get<IntLists>(value);
  if (given == nullptr) return;
  for (const Ints& pair : *given) {
    proto::SourceTarget* to = target.to.add_source_target_pairs();
    if (!pair.empty()) to->set_source(pair[0]);
    if (pair.size() > 1) to->set_target(pair[1]);
  }
}

GivenResult ReadGroups(const AttrField&, const AttrSource& source) {
  SHOAL_ASSIGN(groups, ReadReplicaGroups(source.from));
  const ReplicaGroups* kept = source.module.arena.New<ReplicaGroups>(std::move(groups));
  return DecodedAttr{kept, !kept->empty()};
}

void WriteGroups(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const ReplicaGroups* const* given = Get<const ReplicaGroups*>(value);
  if (given == nullptr) {
    target.to.mutable_collective_device_list();
  } else {
    WriteReplicaGroups(**given, &target.to);
  }
}

Result<const Sharding*> KeepSharding(const AttrSource& source, const proto::OpSharding& from) {
  SHOAL_ASSIGN(sharding, ReadSharding(source.module, source.payloads, from));
  return source.module.arena.New<Sharding>(std::move(sharding));
}

GivenResult ReadShardingAttr(const AttrField&, const AttrSource& source) {
  if (!source.from.has_sharding()) return DecodedAttr{};
  SHOAL_ASSIGN(sharding, ReadSharding(source.module, source.payloads, source.from.sharding()));
  // One sharding for all leaves of a tuple becomes as many copies.
  constexpr int64_t kMaxCopies = int64_t{1} << 24;
  const Shape& shape = source.hlo.shape();
  const int64_t devices = std::ssize(sharding.tiles.devices) + 1;
  if (shape.IsTuple() && shape.LeafCount() > kMaxCopies / devices)
    return Fail(StrCat("sharding: ", devices - 1, " devices for each of ", shape.LeafCount(), " arrays are too many"));
  const Sharding* kept = source.module.arena.New<Sharding>(Sharding::ForShape(std::move(sharding), shape));
  return DecodedAttr{kept};
}

void WriteShardingAttr(const AttrField&, const AttrValue* value, AttrTarget& target) {
  if (const Sharding* const* given = Get<const Sharding*>(value)) WriteSharding(**given, target.to.mutable_sharding());
}

// What the text calls entry, where the users are, the message calls exit, and the other way round.
GivenResult ReadDomain(const AttrField&, const AttrSource& source) {
  if (!source.from.has_domain_entry_sharding() || !source.from.has_domain_exit_sharding()) return DecodedAttr{};
  SHOAL_ASSIGN(entry, KeepSharding(source, source.from.domain_exit_sharding()));
  SHOAL_ASSIGN(exit, KeepSharding(source, source.from.domain_entry_sharding()));
  const Domain* domain = source.module.arena.New<Domain>("sharding", entry, exit);
  return DecodedAttr{domain};
}

void WriteDomain(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const Domain* const* given = Get<const Domain*>(value);
  if (given == nullptr) return;
  if ((*given)->entry != nullptr) WriteSharding(*(*given)->entry, target.to.mutable_domain_exit_sharding());
  if ((*given)->exit != nullptr) WriteSharding(*(*given)->exit, target.to.mutable_domain_entry_sharding());
}

GivenResult ReadAliasing(const AttrField&, const AttrSource& source) {
  Module& module = source.module;
  std::vector<OutputOperandAlias> aliases;
  for (const proto::OutputOperandAliasing& alias : source.from.output_operand_aliasing())
    aliases.push_back({CopyInts(module, alias.output_shape_index()), alias.operand_index(),
                       CopyInts(module, alias.operand_shape_index())});
  return DecodedAttr{std::span<const OutputOperandAlias>(module.arena.Copy(aliases)), !aliases.empty()};
}

void WriteAliasing(const AttrField&, const AttrValue* value, AttrTarget& target) {
  const auto* given = Get<std::span<const OutputOperandAlias>>(value);
  if (given == nullptr) return;
  for (const OutputOperandAlias& alias : *given) {
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
