// Ops that run other computations: call, conditional, while, fusion, custom-call.
#pragma once

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

struct ControlFlow : OpBase {
  static constexpr OpClass kClass = OpClass::kControlFlow;
};

// call: to_apply(operands…).
template <>
struct Op<Opcode::kCall> : ControlFlow {
  static constexpr CallKind kCallKind = CallKind::kOnce;
  static constexpr Attr<bool> kIsComposite{"is_composite"};
  static constexpr std::array kAttrs{Required(kToApply), Optional(kIsComposite)};
  static constexpr bool kInfersShape = true;
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// conditional: applies the branch that operand0 selects to the operand of that branch.
template <>
struct Op<Opcode::kConditional> : ControlFlow {
  static constexpr CallKind kCallKind = CallKind::kBranch;
  static constexpr Attr<Computation*> kTrueComputation{"true_computation"};
  static constexpr Attr<Computation*> kFalseComputation{"false_computation"};
  static constexpr Attr<Computations> kBranchComputations{"branch_computations"};
  static bool HasPredicate(const Instruction& hlo);
  static bool HasIndex(const Instruction& hlo) { return !HasPredicate(hlo); }
  static constexpr std::array kAttrs{NotRequiredIf(Required(kTrueComputation), HasIndex),
                                     NotRequiredIf(Required(kFalseComputation), HasIndex),
                                     NotRequiredIf(Required(kBranchComputations), HasPredicate)};
  static constexpr bool kInfersShape = true;
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

// while: starts with x = operand0 and repeats x = body(x) while condition(x) is true.
template <>
struct Op<Opcode::kWhile> : ControlFlow {
  static constexpr CallKind kCallKind = CallKind::kLoop;
  static constexpr Attr<Computation*> kCondition{"condition"};
  static constexpr Attr<Computation*> kBody{"body"};
  static constexpr std::array kAttrs{Required(kCondition), Required(kBody)};
  static constexpr bool kInfersShape = true;
  // Puts `body` before `condition`, the order in which XLA traverses called computations.
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

enum class FusionKind : uint8_t { kLoop, kInput, kOutput, kCustom };
template <>
struct EnumNames<FusionKind> {
  static constexpr std::string_view kNames[] = {"kLoop", "kInput", "kOutput", "kCustom"};
};

// fusion: calls(operands…), compiled as one kernel.
template <>
struct Op<Opcode::kFusion> : ControlFlow {
  static constexpr CallKind kCallKind = CallKind::kOnce;
  static constexpr Attr<FusionKind> kKind{"kind"};
  static constexpr std::array kAttrs{Required(kKind), Optional(kOutputToOperandAliasing), Required(kCalls)};
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

enum class CustomCallSchedule : uint8_t { kNone, kLatest, kEarliest };
template <>
struct EnumNames<CustomCallSchedule> {
  static constexpr std::string_view kNames[] = {"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"};
};
enum class CustomCallApi : uint8_t { kUnspecified, kOriginal, kStatusReturning, kStatusReturningUnified, kTypedFfi };
template <>
struct EnumNames<CustomCallApi> {
  static constexpr std::string_view kNames[] = {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",
                                                "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
                                                "API_VERSION_TYPED_FFI"};
};
enum class PaddingType : uint8_t { kInvalid, kValid, kSame };
template <>
struct EnumNames<PaddingType> {
  static constexpr std::string_view kNames[] = {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"};
};

// custom-call: calls custom_call_target, a function of a library or a backend.
template <>
struct Op<Opcode::kCustomCall> : OpBase {
  static constexpr OpClass kClass = OpClass::kOpaque;
  static constexpr CallKind kCallKind = CallKind::kOnce;
  static constexpr Attr<std::string_view> kTarget{"custom_call_target"};
  static constexpr Attr<PaddingType> kPaddingType{"padding_type"};
  static constexpr Attr<std::span<const Shape* const>> kOperandLayouts{"operand_layout_constraints"};
  static constexpr Attr<bool> kHasSideEffect{"custom_call_has_side_effect"};
  static constexpr Attr<CustomCallSchedule> kSchedule{"schedule"};
  static constexpr Attr<CustomCallApi> kApiVersion{"api_version", CustomCallApi::kOriginal};
  static constexpr Attr<Computations> kCalledComputations{"called_computations"};
  static constexpr std::array kAttrs{IfGiven(kWindow),
                                     IfGiven(kDimLabels),
                                     Optional(kFeatureGroupCount),
                                     Optional(kBatchGroupCount),
                                     kOperandPrecisionDef,
                                     Optional(kPaddingType),
                                     Required(kTarget),
                                     IfGiven(kOperandLayouts),
                                     Optional(kHasSideEffect),
                                     IfGiven(kLiteral),
                                     Optional(kOutputToOperandAliasing),
                                     Optional(kSchedule),
                                     Optional(kApiVersion),
                                     Optional(kCalledComputations),
                                     Unprinted(kToApply)};
  static Status Normalize(Instruction& hlo, Module& module);
  static ShapeResult Infer(const Instruction& hlo, ShapePool& shapes);
  static void Cost(const Instruction& hlo, OpCostBuilder& builder);
};

}  // namespace shoal::internal
