#include "formats/stablehlo/dot_algorithms.h"

#include <algorithm>

#include "core/base/strings.h"
#include "formats/stablehlo/element_names.h"

namespace shoal::internal {
namespace {

struct DotAlgorithmRow {
  std::string_view type, sum;
  int64_t operations;
  DotAlgorithm algorithm;
};
constexpr DotAlgorithmRow kDotAlgorithms[] = {{"f16", "f16", 1, DotAlgorithm::kF16F16F16},
                                              {"f16", "f32", 1, DotAlgorithm::kF16F16F32},
                                              {"bf16", "bf16", 1, DotAlgorithm::kBf16Bf16Bf16},
                                              {"bf16", "f32", 1, DotAlgorithm::kBf16Bf16F32},
                                              {"bf16", "f32", 3, DotAlgorithm::kBf16Bf16F32X3},
                                              {"bf16", "f32", 6, DotAlgorithm::kBf16Bf16F32X6},
                                              {"bf16", "f32", 9, DotAlgorithm::kBf16Bf16F32X9},
                                              {"tf32", "f32", 1, DotAlgorithm::kTf32Tf32F32},
                                              {"tf32", "f32", 3, DotAlgorithm::kTf32Tf32F32X3},
                                              {"f32", "f32", 1, DotAlgorithm::kF32F32F32},
                                              {"f64", "f64", 1, DotAlgorithm::kF64F64F64}};

}  // namespace

DotAlgorithm DotAlgorithmOf(std::string_view lhs, std::string_view rhs, std::string_view sum, int64_t operations,
                            bool imprecise) {
  if (lhs.starts_with("f8") && rhs.starts_with("f8") && sum == "f32")
    return imprecise ? DotAlgorithm::kAnyF8AnyF8F32FastAccum : DotAlgorithm::kAnyF8AnyF8F32;
  for (const DotAlgorithmRow& row : kDotAlgorithms)
    if (lhs == row.type && rhs == row.type && sum == row.sum && operations == row.operations) return row.algorithm;
  return DotAlgorithm::kUnset;
}

std::string DotAlgorithmText(DotAlgorithm algorithm, ElementType lhs, ElementType rhs) {
  std::string lhs_type = MlirNameOf(lhs), rhs_type = MlirNameOf(rhs), sum = "f32";
  int64_t operations = 1;
  const bool is_f8 = algorithm == DotAlgorithm::kAnyF8AnyF8F32 || algorithm == DotAlgorithm::kAnyF8AnyF8F32FastAccum;
  if (is_f8 && (!lhs_type.starts_with("f8") || !rhs_type.starts_with("f8"))) return {};
  if (!is_f8) {
    const auto* row = std::find_if(std::begin(kDotAlgorithms), std::end(kDotAlgorithms),
                                   [&](const DotAlgorithmRow& each) { return each.algorithm == algorithm; });
    if (row == std::end(kDotAlgorithms)) return {};
    lhs_type = rhs_type = row->type;
    sum = row->sum;
    operations = row->operations;
  }
  return StrCat("#stablehlo.dot_algorithm<lhs_precision_type = ", lhs_type, ", rhs_precision_type = ", rhs_type,
                ", accumulation_type = ", sum, ", lhs_component_count = 1, rhs_component_count = 1",
                ", num_primitive_operations = ", operations, ", allow_imprecise_accumulation = ",
                algorithm == DotAlgorithm::kAnyF8AnyF8F32FastAccum ? "true" : "false", ">");
}

}  // namespace shoal::internal
