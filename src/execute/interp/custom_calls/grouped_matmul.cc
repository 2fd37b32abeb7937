// A ragged-dot as cuBLASLt has it: (lhs, rhs, group sizes, c, bias), of which the last two may be missing.
#include <algorithm>

#include "core/ops/dims.h"
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

// A free ragged dimension has a matrix of the rhs for each group, other kinds share the rhs.
bool GroupsFitRhs(const Array& rhs, const RaggedDims& dims, int64_t groups) {
  const ContractionDims& of = dims.product;
  if (Contains(of.lhs_batch, dims.lhs_ragged) || Contains(of.lhs_contracting, dims.lhs_ragged))
    return dims.rhs_group.empty();
  return dims.rhs_group.size() == 1 && AllWithin(dims.rhs_group, 0, rhs.rank()) &&
         !Contains(of.rhs_batch, dims.rhs_group[0]) && !Contains(of.rhs_contracting, dims.rhs_group[0]) &&
         rhs.dim(dims.rhs_group[0]) == groups;
}

// The rules of ragged-dot, which nobody has checked here.
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
    return ExecutionError(call.hlo, StrCat("group sizes must be integers, one row for all or one for each of ",
                                    ToString(AsInts(outer)), ", got ", ToString(sizes)));
  if (!GroupsFitRhs(rhs, dims, sizes.dims().back()))
    return ExecutionError(call.hlo,
                   StrCat("rhs_group_dimensions do not fit ", ToString(rhs), " and ", sizes.dims().back(), " groups"));
  return {};
}

}  // namespace

Result<Value> CublasGroupedMatmul(Call& call) {
  SHOAL_TRY(CheckGemmForm(call, 3));
  const GroupedGemmConfig config(BackendConfig::Of(call.hlo).Object("grouped_gemm_backend_config"));
  SHOAL_TRY(CheckRagged(call, config));
  SHOAL_ASSIGN(extras, FindGemmExtras(call, config.gemm, 3, /*scaled=*/false));
  const Array& lhs = call.array(0);
  const Array& rhs = call.array(1);
  const ElementType type = SumType(lhs.type(), rhs.type(), FirstResult(call.hlo).element_type());
  Array sums = RaggedDotGeneral(lhs, rhs, call.array(2), config.dims(), type);
  return FinishedGemm(call.hlo, config.gemm, extras, std::move(sums));
}

}  // namespace shoal::internal
