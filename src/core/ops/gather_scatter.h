// gather and scatter: slices at indices that are operands.
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

inline constexpr Attr<int64_t> kIndexVectorDim{"index_vector_dim"};
inline constexpr Attr<bool> kIndicesAreSorted{"indices_are_sorted"};

// gather: result[batch, offset] = operand0[operand1[batch] + offset], starts clamped so that the slice fits.
template <>
struct Op<Opcode::kGather> : OpBase {
  static constexpr OpClass kClass = OpClass::kGatherScatter;
  static constexpr bool kInfersShape = true;
  static constexpr Attr<Ints> kOffsetDims{"offset_dims"};
  static constexpr Attr<Ints> kCollapsedSliceDims{"collapsed_slice_dims"};
  static constexpr Attr<Ints> kStartIndexMap{"start_index_map"};
  static constexpr Attr<Ints> kOperandBatchingDims{"operand_batching_dims"};
  static constexpr Attr<Ints> kStartIndicesBatchingDims{"start_indices_batching_dims"};
  static constexpr Attr<Ints> kSliceSizes{"slice_sizes"};
  static constexpr std::array kAttrs{
      Required(kOffsetDims),          Required(kCollapsedSliceDims),       Required(kStartIndexMap),
      Optional(kOperandBatchingDims), Optional(kStartIndicesBatchingDims), Required(kIndexVectorDim),
      Required(kSliceSizes),          Optional(kIndicesAreSorted)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};
using GatherOp = Op<Opcode::kGather>;

// scatter: to_apply combines the updates with the operands at the indices; out-of-bounds updates are dropped.
template <>
struct Op<Opcode::kScatter> : OpBase {
  static constexpr OpClass kClass = OpClass::kGatherScatter;
  static constexpr bool kInfersShape = true;
  static constexpr Attr<Ints> kUpdateWindowDims{"update_window_dims"};
  static constexpr Attr<Ints> kInsertedWindowDims{"inserted_window_dims"};
  static constexpr Attr<Ints> kScatterDimsToOperandDims{"scatter_dims_to_operand_dims"};
  static constexpr Attr<Ints> kInputBatchingDims{"input_batching_dims"};
  static constexpr Attr<Ints> kScatterIndicesBatchingDims{"scatter_indices_batching_dims"};
  static constexpr Attr<bool> kUniqueIndices{"unique_indices"};
  static constexpr std::array kAttrs{Required(kUpdateWindowDims),
                                     Required(kInsertedWindowDims),
                                     Required(kScatterDimsToOperandDims),
                                     Optional(kInputBatchingDims),
                                     Optional(kScatterIndicesBatchingDims),
                                     Required(kIndexVectorDim),
                                     Optional(kIndicesAreSorted),
                                     Optional(kUniqueIndices),
                                     Required(kToApply)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

}  // namespace shoal::internal
