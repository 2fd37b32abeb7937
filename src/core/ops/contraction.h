// Contractions: dot, ragged-dot, scaled-dot and convolution.
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

inline constexpr Attr<Ints> kLhsBatchDims{"lhs_batch_dims"};
inline constexpr Attr<Ints> kRhsBatchDims{"rhs_batch_dims"};
inline constexpr Attr<Ints> kLhsContractingDims{"lhs_contracting_dims"};
inline constexpr Attr<Ints> kRhsContractingDims{"rhs_contracting_dims"};

// Element type of a contraction: the declared type if any, else the more precise type of operands 0 and 1.
ElementType ContractionType(const Instruction& hlo);
// True for elements of less than 32 bits: the result then depends on the implementation and the summation order.
bool IsNarrowContraction(const Instruction& hlo);

// The size of the contracting dimensions of a product without batch dimensions, from the element counts of its operands and
// its result: lhs * rhs / result is the square of it, whichever dimensions are contracted.
double ContractedSize(double lhs, double rhs, double result);

struct Contraction : OpBase {
  static constexpr OpClass kClass = OpClass::kContraction;
  static constexpr bool kInfersShape = true;
};

// dot: result[batch, lhs free, rhs free] = sum over the contracting dimensions of lhs * rhs.
template <>
struct Op<Opcode::kDot> : Contraction {
  static constexpr std::array kAttrs{Optional(kLhsBatchDims),     Always(kLhsContractingDims), Optional(kRhsBatchDims),
                                     Always(kRhsContractingDims), kOperandPrecisionDef,        Optional(kAlgorithm)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// ragged-dot: a dot whose groups along lhs_ragged_dims have the sizes in operand2.
template <>
struct Op<Opcode::kRaggedDot> : Contraction {
  static constexpr Attr<Ints> kLhsRaggedDims{"lhs_ragged_dims"};
  static constexpr Attr<Ints> kRhsGroupDims{"rhs_group_dims"};
  static constexpr std::array kAttrs{Optional(kLhsBatchDims),     Always(kLhsContractingDims), Optional(kRhsBatchDims),
                                     Always(kRhsContractingDims), Optional(kLhsRaggedDims),    Optional(kRhsGroupDims),
                                     kOperandPrecisionDef};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// scaled-dot: dot(operand0 * scale operand2, operand1 * scale operand3), with one scale per block.
template <>
struct Op<Opcode::kScaledDot> : Contraction {
  static constexpr std::array kAttrs{Optional(kLhsBatchDims),     Always(kLhsContractingDims), Optional(kRhsBatchDims),
                                     Always(kRhsContractingDims), kOperandPrecisionDef,        Optional(kAlgorithm)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

enum class ConvolutionKind : uint8_t { kUnset, kFprop, kDgrad, kWgrad };
template <>
struct EnumNames<ConvolutionKind> {
  static constexpr std::string_view kNames[] = {"unset", "fprop", "dgrad", "wgrad"};
};

// convolution: result[b, x, o] = sum over window w, feature i of lhs[b, x * stride + w * dilation, i] * rhs[w, i, o].
template <>
struct Op<Opcode::kConvolution> : Contraction {
  static constexpr Attr<ConvolutionKind> kKind{"convolution_kind"};
  static constexpr Attr<const SparsityConfig*> kSparsity{"sparsity_config"};
  static bool HasWindowDims(const Instruction& hlo);
  static constexpr std::array kAttrs{ShownIf(IfGiven(kWindow), HasWindowDims),
                                     Required(kDimLabels),
                                     Optional(kFeatureGroupCount),
                                     Optional(kBatchGroupCount),
                                     Optional(kKind),
                                     kOperandPrecisionDef,
                                     Optional(kAlgorithm),
                                     Optional(kSparsity)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};
inline bool IsSparse(const Instruction& convolution) { return convolution[Op<Opcode::kConvolution>::kSparsity] != nullptr; }

}  // namespace shoal::internal
