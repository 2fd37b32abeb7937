// The ragged-dot of cuBLASLt. Operands: (lhs, rhs, group sizes, optional c, optional bias).
#include <algorithm>

#include "execute/interp/custom_calls/cublas_gemm.h"

namespace shoal::internal {
namespace {

struct GroupedGemmConfig {
  GemmConfig gemm;
  DotDimensionNumbers numbers;
  std::vector<int64_t> lhs_ragged, rhs_group;

  explicit GroupedGemmConfig(const BackendConfig& config) : gemm(config) {
    const BackendConfig ragged = config.Object("ragged_dot_dimension_numbers");
    numbers = DotDimensionNumbers(ragged.Object("dot_dimension_numbers"));
    lhs_ragged = ragged.Ints("lhs_ragged_dimensions");
    rhs_group = ragged.Ints("rhs_group_dimensions");
  }

  RaggedDims dims() const { return {numbers.dims(), lhs_ragged[0], rhs_group}; }
};

// If the ragged dimension is a free dimension, rhs has one matrix per group. Otherwise all groups share rhs.
bool GroupsFitRhs(const Array& rhs, const RaggedDims& dims, int64_t groups) {
  const ContractionDims& dot = dims.product;
  if (Contains(dot.lhs_batch, dims.lhs_ragged) || Contains(dot.lhs_contracting, dims.lhs_ragged))
    return dims.rhs_group.empty();
  return dims.rhs_group.size() == 1 && AllWithin(dims.rhs_group, 0, rhs.rank()) &&
         !Contains(dot.rhs_batch, dims.rhs_group[0]) && !Contains(dot.rhs_contracting, dims.rhs_group[0]) &&
         rhs.dim(dims.rhs_group[0]) == groups;
}

// Checks the rules of ragged-dot, because custom calls are not verified.
Status CheckRagged(const Call& call, const GroupedGemmConfig& config) {
  const Array& lhs = call.array(0);
  const Array& rhs = call.array(1);
  const Array& sizes = call.array(2);
  SHOAL_TRY(CheckContractionDims(call.hlo, lhs, rhs, config.numbers.dims()));
  if (config.lhs_ragged.size() != 1 || !AllWithin(config.lhs_ragged, 0, lhs.rank()))
    return ExecutionError(call.hlo, StrCat("lhs_ragged_dimensions must name one dimension of ", ToString(lhs)));
  const RaggedDims dims = config.dims();
  Dims outer = OuterDims(lhs, dims);
  for (int64_t& dim : outer) dim = lhs.dim(dim);
  if (!IsInteger(sizes.type()) || sizes.rank() == 0 ||
      (sizes.rank() > 1 &&
       !std::equal(outer.begin(), outer.end(), sizes.dims().begin(), std::prev(sizes.dims().end()))))
    return ExecutionError(call.hlo, StrCat("group sizes must be integers: one row for all, or one for each index in ",
                                           ToString(AsInts(outer)), ", got ", ToString(sizes)));
  if (!GroupsFitRhs(rhs, dims, sizes.dims().back()))
    return ExecutionError(call.hlo,
                   StrCat("invalid rhs_group_dimensions for ", ToString(rhs), " and ", sizes.dims().back(), " groups"));
  return {};
}

}  // namespace

Result<Value> CublasGroupedMatmul(Call& call) {
  SHOAL_TRY(CheckGemmForm(call, 3));
  const GroupedGemmConfig config(ConfigOf(call).Object("grouped_gemm_backend_config"));
  SHOAL_TRY(CheckRagged(call, config));
  SHOAL_ASSIGN(extras, FindGemmExtras(call, config.gemm, 3, /*scaled=*/false));
  const Array& lhs = call.array(0);
  const Array& rhs = call.array(1);
  const ElementType type = SumType(lhs.type(), rhs.type(), FirstElement(call.hlo.shape()).element_type());
  Array sums = RaggedDotGeneral(lhs, rhs, call.array(2), config.dims(), type);
  return FinishedGemm(call.hlo, config.gemm, extras, std::move(sums));
}

}  // namespace shoal::internal
