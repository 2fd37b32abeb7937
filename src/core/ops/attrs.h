// Attribute keys that several ops share. The key of a single op is declared beside that op.
#pragma once

#include "core/ops/op.h"

namespace shoal::internal {

inline constexpr Attr<Ints> kDimensions{"dimensions"};
inline constexpr Attr<Computation*> kToApply{"to_apply"};
inline constexpr Attr<Computation*> kCalls{"calls"};
inline constexpr Attr<const Window*> kWindow{"window"};
inline constexpr Attr<const ConvDims*> kDimLabels{"dim_labels"};
inline constexpr Attr<int64_t> kFeatureGroupCount{"feature_group_count", 1};
inline constexpr Attr<int64_t> kBatchGroupCount{"batch_group_count", 1};
inline constexpr Attr<int64_t> kChannelId{"channel_id"};
inline constexpr Attr<std::span<const OutputOperandAlias>> kOutputToOperandAliasing{"output_to_operand_aliasing"};
inline constexpr Attr<bool> kIsStable{"is_stable"};
inline constexpr Attr<const Literal*> kLiteral{"literal"};

// operand_precision={high,highest}; the default is not printed.
enum class Precision : uint8_t { kDefault, kHigh, kHighest };
template <>
struct EnumNames<Precision> {
  static constexpr std::string_view kNames[] = {"default", "high", "highest"};
};
inline constexpr Attr<EnumList> kOperandPrecision{"operand_precision"};
inline constexpr AttrDef kOperandPrecisionDef = OneOf(Optional(kOperandPrecision), EnumNames<Precision>::kNames);

// Values of the attribute algorithm= of dot and convolution.
enum class DotAlgorithm : uint8_t {
  kUnset,
  kAnyF8AnyF8F32,
  kAnyF8AnyF8F32FastAccum,
  kF16F16F16,
  kF16F16F32,
  kBf16Bf16Bf16,
  kBf16Bf16F32,
  kBf16Bf16F32X3,
  kBf16Bf16F32X6,
  kTf32Tf32F32,
  kTf32Tf32F32X3,
  kF32F32F32,
  kF64F64F64,
  kBf16Bf16F32X9,
};
template <>
struct EnumNames<DotAlgorithm> {
  static constexpr std::string_view kNames[] = {"unset",
                                                "dot_any_f8_any_f8_f32",
                                                "dot_any_f8_any_f8_f32_fast_accum",
                                                "dot_f16_f16_f16",
                                                "dot_f16_f16_f32",
                                                "dot_bf16_bf16_bf16",
                                                "dot_bf16_bf16_f32",
                                                "dot_bf16_bf16_f32_x3",
                                                "dot_bf16_bf16_f32_x6",
                                                "dot_tf32_tf32_f32",
                                                "dot_tf32_tf32_f32_x3",
                                                "dot_f32_f32_f32",
                                                "dot_f64_f64_f64",
                                                "dot_bf16_bf16_f32_x9"};
};
inline constexpr Attr<DotAlgorithm> kAlgorithm{"algorithm"};

}  // namespace shoal::internal
