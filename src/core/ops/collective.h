// Collectives: ops that a group of devices executes together.
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

inline constexpr Attr<const ReplicaGroups*> kReplicaGroups{"replica_groups"};
inline constexpr Attr<bool> kConstrainLayout{"constrain_layout"};
inline constexpr Attr<bool> kUseGlobalDeviceIds{"use_global_device_ids"};
inline constexpr Attr<bool> kHasDynamicRoot{"has_dynamic_root"};

// Meaning of the ids in replica_groups.
enum class GroupMode : uint8_t {
  kCrossReplica,              // replicas; each partition by itself
  kCrossPartition,            // partitions; each replica by itself
  kCrossReplicaAndPartition,  // replicas, with all their partitions
  kFlattenedId,               // replica * num_partitions + partition
};
template <>
struct EnumNames<GroupMode> {
  static constexpr std::string_view kNames[] = {"cross_replica", "cross_partition", "cross_replica_and_partition",
                                                "flattened_id"};
};
inline constexpr Attr<GroupMode> kMode{"mode"};
// The mode that an instruction's channel_id and use_global_device_ids select; a broken rule if they are inconsistent.
Result<GroupMode> GroupModeOf(const Instruction& hlo);
// Size of the first replica group, without listing devices; no value if the groups depend on the module.
std::optional<int64_t> IdsPerGroup(const Instruction& hlo);
// True for an async-start around a collective, which newer versions of XLA write under the collective's name:
// ((f32[4]), f32[4]) all-reduce-start(…). Its shape is ((operands…), result, context…).
bool HasAsyncShape(const Instruction& start);
// The shape (operands, result, context…), with the operands in a nested tuple if HasAsyncShape(start).
const Shape* StartShape(const Instruction& start, const Shape* operands, const Shape* result, ShapePool& shapes);

void CostOfAllReduce(const Instruction& hlo, OpCostBuilder& builder);

struct Collective : OpBase {
  static constexpr OpClass kClass = OpClass::kCollective;
};

// all-gather: the operands of all members, concatenated along dimensions[0].
struct AllGatherAttrs : Collective {
  static constexpr std::array kAttrs{IfGiven(kChannelId), Always(kReplicaGroups), Optional(kConstrainLayout),
                                     Required(kDimensions), Optional(kUseGlobalDeviceIds)};
  static Status Normalize(Instruction& hlo, Module& module);
};
template <>
struct Op<Opcode::kAllGather> : AllGatherAttrs {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
template <>
struct Op<Opcode::kAllGatherStart> : AllGatherAttrs {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
template <>
struct Op<Opcode::kAllGatherDone> : Collective {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// all-reduce: the operands of all members, reduced by to_apply.
struct AllReduceAttrs : Collective {
  static constexpr std::array kAttrs{IfGiven(kChannelId),           Always(kReplicaGroups), Optional(kConstrainLayout),
                                     Optional(kUseGlobalDeviceIds), Required(kToApply),     Unprinted(kMode)};
  static Status Normalize(Instruction& hlo, Module& module);
};
template <>
struct Op<Opcode::kAllReduce> : AllReduceAttrs {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static constexpr auto Cost = &CostOfAllReduce;
};
template <>
struct Op<Opcode::kAllReduceStart> : AllReduceAttrs {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static constexpr auto Cost = &CostOfAllReduce;
};
template <>
struct Op<Opcode::kAllReduceDone> : Collective {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// reduce-scatter: an all-reduce whose result is split along dimensions[0]; each device keeps its part.
template <>
struct Op<Opcode::kReduceScatter> : Collective {
  static constexpr std::array kAttrs{IfGiven(kChannelId),
                                     Always(kReplicaGroups),
                                     Optional(kConstrainLayout),
                                     Optional(kUseGlobalDeviceIds),
                                     Required(kDimensions),
                                     Required(kToApply),
                                     Unprinted(kMode)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// collective-reduce: a reduction over all members; only the root of the group receives the result.
template <>
struct Op<Opcode::kCollectiveReduce> : Collective {
  static constexpr std::array kAttrs{IfGiven(kChannelId),           Always(kReplicaGroups),  Optional(kConstrainLayout),
                                     Optional(kUseGlobalDeviceIds), Always(kHasDynamicRoot), Required(kToApply)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// all-to-all: part number i of each device goes to device i of the group.
template <>
struct Op<Opcode::kAllToAll> : Collective {
  static constexpr std::array kAttrs{IfGiven(kChannelId), Always(kReplicaGroups), Optional(kConstrainLayout),
                                     IfGiven(kDimensions)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// ragged-all-to-all: sends slices of operand0 into operand1 of other members; operands 2 to 5 are offsets and sizes.
template <>
struct Op<Opcode::kRaggedAllToAll> : Collective {
  static constexpr std::array kAttrs{IfGiven(kChannelId), Always(kReplicaGroups), Unprinted(kDimensions)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// collective-broadcast: the operand of the first device of each group, or of the device that operand1 names.
template <>
struct Op<Opcode::kCollectiveBroadcast> : Collective {
  static constexpr std::array kAttrs{IfGiven(kChannelId), Always(kReplicaGroups), Always(kHasDynamicRoot)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

inline constexpr Attr<IntLists> kSourceTargetPairs{"source_target_pairs"};
inline constexpr Attr<IntLists> kPermuteSliceSizes{"slice_sizes"};

// collective-permute: the operand of the source whose target is this device; zeros if there is no such source.
struct CollectivePermuteAttrs : Collective {
  static constexpr std::array kAttrs{IfGiven(kChannelId), Required(kSourceTargetPairs), Optional(kPermuteSliceSizes)};
  static Status Normalize(Instruction& hlo, Module& module);
};
template <>
struct Op<Opcode::kCollectivePermute> : CollectivePermuteAttrs {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
template <>
struct Op<Opcode::kCollectivePermuteStart> : CollectivePermuteAttrs {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
template <>
struct Op<Opcode::kCollectivePermuteDone> : Collective {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// partition-id, replica-id: the partition or replica number of the executing device.
template <>
struct Op<Opcode::kPartitionId> : Collective {
  static constexpr bool kInfersShape = true;
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
template <>
struct Op<Opcode::kReplicaId> : Collective {
  static constexpr bool kInfersShape = true;
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

}  // namespace shoal::internal
