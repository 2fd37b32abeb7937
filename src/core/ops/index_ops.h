// Ops that move elements without computing: result[i] = operand[f(i)].
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

struct IndexMap : OpBase {
  static constexpr OpClass kClass = OpClass::kIndexMap;
};

// bitcast: the same bytes with another shape and layout of the same size.
template <>
struct Op<Opcode::kBitcast> : IndexMap {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static constexpr auto Cost = &NoCost;
};

// bitcast-convert: the same bits as another type; a narrower type adds a minor dimension, a wider type removes it.
template <>
struct Op<Opcode::kBitcastConvert> : IndexMap {
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// broadcast: result[i] = operand[j], j[d] = i[dimensions[d]].
template <>
struct Op<Opcode::kBroadcast> : IndexMap {
  static bool OperandIsScalar(const Instruction& hlo);
  static constexpr std::array kAttrs{NotRequiredIf(Required(kDimensions), OperandIsScalar)};
  static constexpr bool kInfersShape = true;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// concatenate: operands one after the other along dimensions[0].
template <>
struct Op<Opcode::kConcatenate> : IndexMap {
  static constexpr std::array kAttrs{Required(kDimensions)};
  static constexpr bool kInfersShape = true;
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// copy: result = operand, perhaps in another layout or memory space.
template <>
struct Op<Opcode::kCopy> : IndexMap {
  static constexpr bool kInfersShape = true;
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// dynamic-reshape: reshape to sizes that are operands.
template <>
struct Op<Opcode::kDynamicReshape> : IndexMap {
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// dynamic-slice: result[i] = operand[i + s], s[d] = clamp(0, operand(1+d), size(d) - dynamic_slice_sizes[d]).
template <>
struct Op<Opcode::kDynamicSlice> : IndexMap {
  static constexpr Attr<Ints> kSizes{"dynamic_slice_sizes"};
  static constexpr std::array kAttrs{Required(kSizes)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// dynamic-update-slice: operand0 with operand1 written at s, s[d] = clamp(0, operand(2+d), size(d) - update size(d)).
template <>
struct Op<Opcode::kDynamicUpdateSlice> : IndexMap {
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// get-dimension-size: the current size of dimension `dimensions[0]`.
template <>
struct Op<Opcode::kGetDimensionSize> : IndexMap {
  static constexpr std::array kAttrs{Required(kDimensions)};
  static constexpr bool kInfersShape = true;
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// set-dimension-size: operand0, in which only the first operand1 indices of dimension `dimensions[0]` are valid.
template <>
struct Op<Opcode::kSetDimensionSize> : IndexMap {
  static constexpr std::array kAttrs{Required(kDimensions)};
  static constexpr bool kInfersShape = true;
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// iota: result[i] = i[iota_dimension].
template <>
struct Op<Opcode::kIota> : IndexMap {
  static constexpr Attr<int64_t> kIotaDimension{"iota_dimension"};
  static constexpr std::array kAttrs{Required(kIotaDimension)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// pad: operand0 with operand1 before, after and between its elements; negative padding removes elements.
template <>
struct Op<Opcode::kPad> : IndexMap {
  static constexpr Attr<std::span<const PaddingDim>> kPadding{"padding"};
  static constexpr std::array kAttrs{Required(kPadding)};
  static constexpr bool kInfersShape = true;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
inline std::span<const PaddingDim> PaddingOf(const Instruction& pad) { return pad[Op<Opcode::kPad>::kPadding]; }

// reshape: the same elements in row-major order, with other dimensions.
template <>
struct Op<Opcode::kReshape> : IndexMap {
  static constexpr Attr<int64_t> kInferredDimension{"inferred_dimension", -1};
  static constexpr std::array kAttrs{Optional(kInferredDimension)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// reverse: result[i] = operand[j], j[d] = size(d) - 1 - i[d] for d in dimensions.
template <>
struct Op<Opcode::kReverse> : IndexMap {
  static constexpr std::array kAttrs{Required(kDimensions)};
  static constexpr bool kInfersShape = true;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};

// slice: result[i] = operand[start + i * stride].
template <>
struct Op<Opcode::kSlice> : IndexMap {
  static constexpr Attr<std::span<const SliceRange>> kSlice{"slice"};
  static constexpr std::array kAttrs{Required(kSlice)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// transpose: result[i] = operand[j], j[dimensions[d]] = i[d].
template <>
struct Op<Opcode::kTranspose> : IndexMap {
  static constexpr std::array kAttrs{Required(kDimensions)};
  static constexpr bool kInfersShape = true;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

}  // namespace shoal::internal
