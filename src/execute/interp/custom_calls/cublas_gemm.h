// The common parts of cuBLAS matmuls: the backend_config, the operands after the matrices, and the epilogue d =
// activation(alpha * sums + beta * c + bias), which is rounded once.
#pragma once

#include <complex>

#include "kernels/linalg/activation.h"
#include "kernels/linalg/dot_general.h"
#include "core/ops/backend_config.h"
#include "execute/interp/custom_calls/custom_call.h"

namespace shoal::internal {

// The dimensions in dot_dimension_numbers.
struct DotDimensionNumbers {
  std::vector<int64_t> lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;

  DotDimensionNumbers() = default;
  explicit DotDimensionNumbers(const BackendConfig& config);
  ContractionDims dims() const { return {lhs_batch, rhs_batch, lhs_contracting, rhs_contracting}; }
};

struct GemmConfig {
  std::complex<double> alpha = 1;
  double beta = 0;
  std::string_view epilogue;
  bool amax = false;
  DotDimensionNumbers numbers;

  // `whole` is a gemm_backend_config or contains one.
  explicit GemmConfig(const BackendConfig& whole);

  bool adds_bias() const { return epilogue.starts_with("BIAS"); }
  bool has_aux() const { return epilogue.ends_with("_AUX"); }
  Activation activation() const;
};

// The operands after the matrices, and the combined scales of 8-bit floats.
struct GemmExtras {
  const Array* c = nullptr;
  const Array* bias = nullptr;
  int64_t bias_step = 1;  // number of consecutive result elements that use the same bias element
  bool scaled = false;
  double scale = 1, result_scale = 1;
};

// Checks that the call has at least `count` arrays, and that its (first) result is an array.
Status CheckGemmForm(const Call& call, size_t count);
// Checks that the numbers name dimensions of both arrays, each once, and that paired dimensions have equal sizes.
Status CheckContractionDims(const Instruction& hlo, const Array& lhs, const Array& rhs, const ContractionDims& dims);
// Reads the operands from index `next` to the end.
Result<GemmExtras> FindGemmExtras(const Call& call, const GemmConfig& config, size_t next, bool scaled);
// Returns the call's value: d, followed by the other elements if the result is a tuple.
Result<Value> FinishedGemm(const Instruction& hlo, const GemmConfig& config, const GemmExtras& extras, Array sums);

}  // namespace shoal::internal
