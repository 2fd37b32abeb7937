// Ops that run a small computation over many elements: reduce, reduce-window, sort, scan, map.
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

struct Reduction : OpBase {
  static constexpr OpClass kClass = OpClass::kReduction;
  static constexpr bool kInfersShape = true;
};

// map: result[i] = to_apply(operand0[i], operand1[i], …).
template <>
struct Op<Opcode::kMap> : Reduction {
  static constexpr std::array kAttrs{Always(kDimensions), Required(kToApply)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// reduce: reduces the first half of the operands over `dimensions`; the second half are the initial values.
template <>
struct Op<Opcode::kReduce> : Reduction {
  static constexpr std::array kAttrs{Required(kDimensions), Required(kToApply)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

bool HasWindow(const Instruction& hlo);

// reduce-window: result[i] = the reduction of the window at i * stride.
template <>
struct Op<Opcode::kReduceWindow> : Reduction {
  static constexpr std::array kAttrs{ShownIf(IfGiven(kWindow), HasWindow), Required(kToApply)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// select-and-scatter: `select` picks an index in each window of operand0; `scatter` combines operand1's element there.
template <>
struct Op<Opcode::kSelectAndScatter> : Reduction {
  static constexpr Attr<Computation*> kSelect{"select"};
  static constexpr Attr<Computation*> kScatter{"scatter"};
  static constexpr std::array kAttrs{ShownIf(IfGiven(kWindow), HasWindow), Required(kSelect), Required(kScatter)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};
using SelectAndScatterOp = Op<Opcode::kSelectAndScatter>;

// sort: sorts all operands together along dimensions[0], in the order that to_apply defines.
template <>
struct Op<Opcode::kSort> : Reduction {
  static constexpr std::array kAttrs{Required(kDimensions), Optional(kIsStable), Required(kToApply)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// topk: the k largest (or smallest) elements of the last dimension, and their indices.
template <>
struct Op<Opcode::kTopK> : Reduction {
  static constexpr Attr<int64_t> kK{"k"};
  static constexpr Attr<bool> kLargest{"largest", true};
  static constexpr Attr<bool> kStable{"is_stable", true};
  static constexpr std::array kAttrs{Required(kK), Always(kLargest), Always(kStable)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
};
inline bool TakesLargest(const Instruction& topk) { return topk[Op<Opcode::kTopK>::kLargest]; }

// scan: (outputs[t], carries) = to_apply(inputs[t], carries) along dimensions[0].
template <>
struct Op<Opcode::kScan> : Reduction {
  static constexpr Attr<int64_t> kNumCarries{"num_carries"};
  static constexpr Attr<bool> kIsReverse{"is_reverse"};
  static constexpr Attr<bool> kIsAssociative{"is_associative"};
  static constexpr std::array kAttrs{Required(kDimensions), Required(kNumCarries), Optional(kIsReverse),
                                     Always(kIsAssociative), Required(kToApply)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

}  // namespace shoal::internal
