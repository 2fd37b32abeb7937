#include "core/ops/collective.h"

#include <algorithm>

#include "core/ops/callee.h"
#include "core/ops/dims.h"

namespace shoal::internal {

// Rule C1 of every op with the attribute use_global_device_ids. For other ops, a channel_id means groups of partitions.
Result<GroupMode> GroupModeOf(const Instruction& hlo) {
  const bool has_channel = hlo.has(kChannelId);
  if (!has_channel && hlo[kUseGlobalDeviceIds])
    return Broken(hlo, "C1", "use_global_device_ids=true requires a channel_id, got none");
  if (!has_channel) return GroupMode::kCrossReplica;
  if (FindAttr(hlo.opcode, kUseGlobalDeviceIds.id) == nullptr) return GroupMode::kCrossPartition;
  return hlo[kUseGlobalDeviceIds] ? GroupMode::kFlattenedId : GroupMode::kCrossReplicaAndPartition;
}

std::optional<int64_t> IdsPerGroup(const Instruction& hlo) {
  const ReplicaGroups* groups = hlo[kReplicaGroups];
  if (groups == nullptr || groups->empty()) return std::nullopt;
  if (const auto* lists = std::get_if<ReplicaGroups::Lists>(&groups->rep)) return static_cast<int64_t>(lists->ends[0]);
  if (const auto* iota = std::get_if<IotaTiles>(&groups->rep))
    return iota->dims.size() == 2 ? std::optional(iota->dims[1]) : std::nullopt;
  const auto& axes = std::get<ReplicaGroups::MeshAxes>(groups->rep);
  int64_t size = 1;
  for (const AxisRef& axis : axes.axes)
    if (__builtin_mul_overflow(size, axis.Size(axes.mesh), &size)) return std::nullopt;
  return size;
}

bool HasAsyncShape(const Instruction& start) {
  std::span<const Shape* const> parts = start.shape().elements();
  if (!start.shape().IsTuple() || parts.size() < 2 || !parts[0]->IsTuple()) return false;
  auto is_operand = [](const Shape* part, const Instruction* operand) { return Compatible(*part, operand->shape()); };
  return std::equal(parts[0]->elements().begin(), parts[0]->elements().end(), start.operands.begin(),
                    start.operands.end(), is_operand);
}

const Shape* StartShape(const Instruction& start, const Shape* operands, const Shape* result, ShapePool& shapes) {
  if (HasAsyncShape(start)) operands = shapes.Tuple(OperandShapes(start));
  std::vector<const Shape*> parts{operands, result};
  std::span<const Shape* const> declared = start.shape().elements();
  if (declared.size() > 2) parts.insert(parts.end(), declared.begin() + 2, declared.end());
  return shapes.Tuple(parts);
}

namespace {

// Checks that there is at least one operand, and that all operands are arrays with the dimension dimensions[0].
Status CheckSharded(const Instruction& hlo, std::string_view dimension_rule, std::string_view count_rule,
                    std::string_view range_rule) {
  SHOAL_TRY(OneDimension(hlo, dimension_rule));
  if (hlo.operand_count() == 0) return Broken(hlo, count_rule, "takes at least one operand, got 0");
  SHOAL_TRY(OperandsAreArrays(hlo));
  for (const Instruction* operand : hlo.operands)
    SHOAL_TRY(DimsWithin(hlo, range_rule, kDimensions, operand->shape().rank()));
  return {};
}

// The first array of a result that has one array per operand, with dimension `dim`; null for any other result.
const Shape* FirstResult(const Shape& result, size_t operands, int64_t dim) {
  const Shape* first = &result;
  if (operands > 1) {
    if (!result.IsTuple() || result.elements().size() != operands) return nullptr;
    first = &result.element(0);
  }
  return first->IsArray() && dim < first->rank() ? first : nullptr;
}

// Number of shards of size `part` in a dimension of size `whole`. It must be the group size, unless the group size is
// 1, as in modules that do not state the number of devices. With cross_replica_and_partition it is a multiple of the
// group size: a group includes all partitions, whose number only the module knows.
Result<int64_t> ShardCount(const Instruction& hlo, int64_t whole, int64_t part, std::string_view rule) {
  SHOAL_ASSIGN(mode, GroupModeOf(hlo));
  const int64_t ids = IdsPerGroup(hlo).value_or(1);
  if (whole == kUnboundedSize || part == kUnboundedSize) return std::max<int64_t>(ids, 1);
  const int64_t ratio = part == 0 ? ids : whole / part + (whole % part != 0 ? 1 : 0);
  const bool fits =
      mode == GroupMode::kCrossReplicaAndPartition ? ids > 0 && ratio % ids == 0 : ids == 1 || ratio == ids;
  if (ratio > 0 && fits) return ratio;
  return Broken(
      hlo, rule,
      StrCat("dimension ", hlo[kDimensions][0], " must be ", ids,
             " times as large in the full array as in a shard, for groups of ", ids, ", got ", whole, " and ", part));
}

// `shape` with another size in one dimension.
const Shape* Resized(const Shape& shape, int64_t dim, int64_t size, bool dynamic, ShapePool& shapes) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[static_cast<size_t>(dim)] = size;
  const auto flags = std::make_unique<bool[]>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) flags[i] = shape.is_dynamic(static_cast<int64_t>(i));
  flags[static_cast<size_t>(dim)] = dynamic;
  return shapes.Array(shape.element_type(), dims, flags.get(), shape.layout());
}

// The result of all-gather, given the declared one.
ShapeResult InferGathered(const Instruction& hlo, const Shape& declared, ShapePool& shapes) {
  const int64_t dim = hlo[kDimensions][0];
  const Shape* first = FirstResult(declared, hlo.operand_count(), dim);
  if (first == nullptr)
    return Broken(hlo, "C5",
                  StrCat("the result must have an array with dimension ", dim, " per operand, got ", Str(hlo.shape())));
  SHOAL_ASSIGN(shards, ShardCount(hlo, first->dim(dim), hlo.operand_shape(0).dim(dim), "C6"));
  std::vector<const Shape*> gathered;
  for (const Instruction* operand : hlo.operands) {
    int64_t size = operand->shape().dim(dim);
    const bool unbounded = size == kUnboundedSize;
    if (!unbounded && __builtin_mul_overflow(size, shards, &size))
      return Broken(hlo, "C6", StrCat("dimension ", dim, " is too large for 64 bits"));
    gathered.push_back(Resized(operand->shape(), dim, size, unbounded, shapes));
  }
  return OneOrTuple(gathered, shapes);
}

// The element of (operand, result, …) that all-gather-done and collective-permute-done return.
ShapeResult SecondElement(const Instruction& hlo) {
  SHOAL_TRY(OperandCount(hlo, 1));
  const Shape& started = hlo.operand_shape(0);
  if (!started.IsTuple() || started.elements().size() < 2)
    return Broken(hlo, "C1", StrCat("operand must be a tuple of operand and result, got ", Str(started)));
  return &started.element(1);
}

ShapeResult InferAllReduce(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(GroupModeOf(hlo));
  SHOAL_TRY(OperandsAreArrays(hlo));
  return OneOrTuple(OperandShapes(hlo), shapes);
}

// The operands without the ids of the roots, which are the last operand if has_dynamic_root=true.
Result<std::vector<const Shape*>> DataOperands(const Instruction& hlo, std::string_view count_rule,
                                               std::string_view root_rule) {
  const size_t needed = hlo[kHasDynamicRoot] ? 2 : 1;
  if (hlo.operand_count() < needed)
    return Broken(hlo, count_rule, StrCat("takes at least ", Count(needed, "operand"), ", got ", hlo.operand_count()));
  SHOAL_TRY(OperandsAreArrays(hlo));
  std::vector<const Shape*> data = OperandShapes(hlo);
  if (!hlo[kHasDynamicRoot]) return data;
  const Shape& roots = *data.back();
  data.pop_back();
  if (roots.element_type() != ElementType::kS32 || roots.rank() != 1 ||
      roots.dim(0) != static_cast<int64_t>(data.size()))
    return Broken(hlo, root_rule,
                  StrCat("the last operand must be s32[", data.size(), "], one root per operand, got ", Str(roots)));
  return data;
}

Status CheckIdShape(const Instruction& hlo) {
  if (hlo.shape_ == nullptr || (hlo.shape().IsScalar() && hlo.shape().element_type() == ElementType::kU32)) return {};
  return Broken(hlo, "C1", StrCat("must be u32[], got ", Str(hlo.shape())));
}

}  // namespace

Status AllGatherAttrs::Normalize(Instruction& hlo, Module&) { return OneDimension(hlo, "C2"); }

ShapeResult Op<Opcode::kAllGather>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(GroupModeOf(hlo));
  SHOAL_TRY(CheckSharded(hlo, "C2", "C3", "C4"));
  return InferGathered(hlo, hlo.shape(), shapes);
}

ShapeResult Op<Opcode::kAllGatherStart>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(GroupModeOf(hlo));
  SHOAL_TRY(CheckSharded(hlo, "C2", "C3", "C4"));
  if (!HasAsyncShape(hlo) && (!hlo.shape().IsTuple() || hlo.shape().elements().size() != 2))
    return Broken(hlo, "C7", StrCat("must be a tuple of operand and result, got ", Str(hlo.shape())));
  SHOAL_ASSIGN(gathered, InferGathered(hlo, hlo.shape().element(1), shapes));
  return StartShape(hlo, OneOrTuple(OperandShapes(hlo), shapes), gathered, shapes);
}

ShapeResult Op<Opcode::kAllGatherDone>::Infer(const Instruction& hlo, ShapePool&) { return SecondElement(hlo); }

Status AllReduceAttrs::Normalize(Instruction& hlo, Module&) {
  if (!hlo.has(kMode)) SHOAL_TRY(GroupModeOf(hlo));
  return {};
}

ShapeResult Op<Opcode::kAllReduce>::Infer(const Instruction& hlo, ShapePool& shapes) {
  if (hlo.has(kChannelId) && hlo[kChannelId] <= 0)
    return Broken(hlo, "C2", StrCat("channel_id must be positive, got ", hlo[kChannelId]));
  return InferAllReduce(hlo, shapes);
}

// Unlike all-gather-start, all-reduce-start usually returns only the result.
ShapeResult Op<Opcode::kAllReduceStart>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_ASSIGN(reduced, InferAllReduce(hlo, shapes));
  return HasAsyncShape(hlo) ? StartShape(hlo, nullptr, reduced, shapes) : reduced;
}

ShapeResult Op<Opcode::kAllReduceDone>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(OperandCount(hlo, 1));
  const Instruction& start = *hlo.operands[0];
  return HasAsyncShape(start) ? &start.shape().element(1) : &start.shape();
}

Status Op<Opcode::kReduceScatter>::Normalize(Instruction& hlo, Module&) {
  if (!hlo.has(kMode)) SHOAL_TRY(GroupModeOf(hlo));
  return OneDimension(hlo, "C2");
}

ShapeResult Op<Opcode::kReduceScatter>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(GroupModeOf(hlo));
  SHOAL_TRY(CheckSharded(hlo, "C2", "C3", "C4"));
  const int64_t dim = hlo[kDimensions][0];
  const Shape* first = FirstResult(hlo.shape(), hlo.operand_count(), dim);
  if (first == nullptr)
    return Broken(hlo, "C5",
                  StrCat("the result must have an array with dimension ", dim, " per operand, got ", Str(hlo.shape())));
  SHOAL_ASSIGN(shards, ShardCount(hlo, hlo.operand_shape(0).dim(dim), first->dim(dim), "C6"));
  std::vector<const Shape*> scattered;
  for (const Instruction* operand : hlo.operands) {
    const int64_t size = operand->shape().dim(dim);
    const bool unbounded = size == kUnboundedSize;
    if (!unbounded && size % shards != 0)
      return Broken(
          hlo, "C7",
          StrCat("dimension ", dim, " of operands must be a multiple of ", shards, ", got ", Str(operand->shape())));
    scattered.push_back(
        Resized(operand->shape(), dim, unbounded ? size : size / shards, operand->shape().is_dynamic(dim), shapes));
  }
  return OneOrTuple(scattered, shapes);
}

ShapeResult Op<Opcode::kCollectiveReduce>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(GroupModeOf(hlo));
  SHOAL_ASSIGN(data, DataOperands(hlo, "C2", "C3"));
  return OneOrTuple(data, shapes);
}

ShapeResult Op<Opcode::kCollectiveBroadcast>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_ASSIGN(data, DataOperands(hlo, "C1", "C2"));
  return hlo[kHasDynamicRoot] ? OneOrTuple(data, shapes) : data[0];
}

ShapeResult Op<Opcode::kCollectivePermuteDone>::Infer(const Instruction& hlo, ShapePool&) { return SecondElement(hlo); }

Status Op<Opcode::kPartitionId>::Normalize(Instruction& hlo, Module&) { return CheckIdShape(hlo); }

ShapeResult Op<Opcode::kPartitionId>::Infer(const Instruction&, ShapePool& shapes) {
  return shapes.Scalar(ElementType::kU32);
}

Status Op<Opcode::kReplicaId>::Normalize(Instruction& hlo, Module&) { return CheckIdShape(hlo); }

ShapeResult Op<Opcode::kReplicaId>::Infer(const Instruction&, ShapePool& shapes) {
  return shapes.Scalar(ElementType::kU32);
}

}  // namespace shoal::internal
