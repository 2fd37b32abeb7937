// What cuBLAS's matrix products have in common: their backend_config, the operands behind the matrices, and what
// becomes of the sums: d = activation(alpha * sums + beta * c + bias), rounded once.
#pragma once

#include <complex>

#include "kernels/linalg/activation.h"
#include "kernels/linalg/dot_general.h"
#include "core/ops/backend_config.h"
#include "execute/interp/custom_calls/custom_call.h"

namespace shoal::internal {

// Lists of dot_dimension_numbers.
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

  // Of a gemm_backend_config, or of what has one.
  explicit GemmConfig(const BackendConfig& whole);

  bool adds_bias() const { return epilogue.starts_with("BIAS"); }
  bool has_aux() const { return epilogue.ends_with("_AUX"); }
  Activation activation() const;
};

// The operands behind the matrices, and what the scales of 8-bit floats come to.
struct GemmExtras {
  const Array* c = nullptr;
  const Array* bias = nullptr;
  int64_t bias_step = 1;  // elements of the result from one of the bias to the next
  bool scaled = false;
  double scale = 1, result_scale = 1;
};

// That the call has `count` arrays at least and gives an array, or a tuple that begins with one.
Status CheckGemmForm(const Call& call, size_t count);
// That the numbers name dimensions of both arrays, each once, and that these have the same sizes.
Status CheckContractionDims(const Instruction& hlo, const Array& lhs, const Array& rhs, const ContractionDims& dims);
// Reads the operands from number `next` on.
Result<GemmExtras> FindGemmExtras(const Call& call, const GemmConfig& config, size_t next, bool scaled);
// The call's value: d, and what a tuple has beside it.
Result<Value> FinishedGemm(const Instruction& hlo, const GemmConfig& config, const GemmExtras& extras, Array sums);

}  // namespace shoal::internal
