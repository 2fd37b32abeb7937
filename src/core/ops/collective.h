// Ops in which devices take part together.
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

inline constexpr Attr<const ReplicaGroups*> kReplicaGroups{"replica_groups"};
inline constexpr Attr<bool> kConstrainLayout{"constrain_layout"};
inline constexpr Attr<bool> kUseGlobalDeviceIds{"use_global_device_ids"};
inline constexpr Attr<bool> kHasDynamicRoot{"has_dynamic_root"};

// What the ids in replica_groups are.
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
// The mode an instruction's channel_id and use_global_device_ids give; a broken rule if they do not go together.
Result<GroupMode> GroupModeOf(const Instruction& hlo);
// The length of the first of replica_groups, without listing devices; no value where groups are left to the module.
std::optional<int64_t> IdsPerGroup(const Instruction& hlo);
// XLA's newer dumps write an async-start around a collective under the collective's own name:
// ((f32[4]), f32[4]) all-reduce-start(…). Its shape is ((operands…), result, context…); true for such a start.
bool HasAsyncShape(const Instruction& start);
// (operands, result, context…), the operands in a tuple where the shape is that of an async-start.
const Shape* StartShape(const Instruction& start, const Shape* operands, const Shape* result, ShapePool& shapes);

void CostOfAllReduce(const Instruction& hlo, OpCostBuilder& builder);

struct Collective : OpBase {
  static constexpr OpClass kClass = OpClass::kCollective;
};

// all-gather: everybody's operand, one after the other along dimensions[0].
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

// all-reduce: everybody's operands, folded by to_apply.
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

// reduce-scatter: an all-reduce of which each device keeps its part along dimensions[0].
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

// collective-reduce: an all-reduce whose result only the group's root gets.
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

// ragged-all-to-all: slices of operand0 to places in operand1; offsets and sizes in operands 2 to 5.
template <>
struct Op<Opcode::kRaggedAllToAll> : Collective {
  static constexpr std::array kAttrs{IfGiven(kChannelId), Always(kReplicaGroups), Unprinted(kDimensions)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// collective-broadcast: the operand of the first device of each group, or of the one operand1 names.
template <>
struct Op<Opcode::kCollectiveBroadcast> : Collective {
  static constexpr std::array kAttrs{IfGiven(kChannelId), Always(kReplicaGroups), Always(kHasDynamicRoot)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

inline constexpr Attr<IntLists> kSourceTargetPairs{"source_target_pairs"};
inline constexpr Attr<IntLists> kPermuteSliceSizes{"slice_sizes"};

// collective-permute: the operand of the source that names this device as target; zeros if none does.
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

// partition-id, replica-id: which device this is.
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
