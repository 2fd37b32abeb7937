// Calls of cuSOLVER and cuBLAS, and of AMD's libraries, of jaxlib up to 0.4.38. Their backend_config is a struct of 32-bit
// integers in memory, and their last result is a workspace. Sizes are also in the shapes, so only flags are read.
#include <cstring>

#include "core/ir/common_attrs.h"
#include "execute/interp/custom_calls/old_call.h"

namespace shoal::internal {
namespace {

// Integer number `i` of the struct; zero if it is shorter.
int32_t StructField(const Call& call, size_t i) {
  const std::string_view bytes = call.hlo[kBackendConfig];
  int32_t value = 0;
  if (bytes.size() >= (i + 1) * sizeof value) std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

// Field 1 of the structs of hermitian matrices: cuBLAS and hipBLAS have different numbers for the upper triangle.
std::string FillModeConfig(const Call& call) {
  constexpr int32_t kCublasUpper = 1, kHipblasUpper = 121;
  const int32_t mode = StructField(call, 1);
  return LowerConfig(mode != kCublasUpper && mode != kHipblasUpper);
}

std::string NoConfig() { return ""; }

int64_t SizeOf(const Shape& shape, int64_t from_end) { return shape.rank() < from_end ? 0 : shape.dim(shape.rank() - from_end); }

// "compute_uv", and "full_matrices" if the first of u and v^H is square although the matrix is not.
std::string SvdConfig(bool compute, bool full, bool transposed) {
  const auto text = [](bool value) { return value ? "true" : "false"; };
  return StrCat("{\"compute_uv\":", text(compute), ",\"full_matrices\":", text(full), ",\"transposed\":", text(transposed), "}");
}

bool HasSvdForm(const Call& call) {
  constexpr size_t kResults = 6;  // (undefined, s, u or v^H, v^H or u, info, workspace)
  if (!HasOldForm(call, 0) || call.hlo.shape().elements().size() != kResults || call.array(0).rank() < 2) return false;
  return call.hlo.shape().element(2).IsArray() && call.hlo.shape().element(3).IsArray();
}

}  // namespace

// cholesky of XLA:GPU: a -> (factor, workspace, info). Its configuration is JSON.
Result<Value> StructCholesky(Call& call) {
  return RunOnMatrix(call, 0, [&] { return LowerConfig(ConfigOf(call).Bool("lower")); }, {0, kWorkspace, 1}, &CholeskyFactor);
}

// getrf: a -> (factors, pivots, info, workspace)
Result<Value> StructLu(Call& call) { return RunOnMatrix(call, 0, NoConfig, {0, 1, 2}, &LuFactors); }

// geqrf: a -> (factors, tau, info or workspace, workspace)
Result<Value> StructQr(Call& call) { return RunOnMatrix(call, 0, NoConfig, {0, 1}, &QrFactors); }

// orgqr: (a, tau) -> (product, info, workspace)
Result<Value> StructReflectorProduct(Call& call) {
  if (!HasOldForm(call, 0) || call.operands.size() != 2) return BadOldCall(call);
  return RunSuccessor(call, {0, "", {0, 1}, {0}, &ReflectorProduct});
}

// syevd, syevj: a -> (eigenvectors, eigenvalues, info, workspace)
Result<Value> StructHermitianEigen(Call& call) {
  return RunOnMatrix(call, 0, [&] { return FillModeConfig(call); }, {0, 1, 2}, &HermitianEigen);
}

// sytrd: a -> (reflectors, diagonal, off-diagonal, tau, info, workspace)
Result<Value> StructTridiagonal(Call& call) {
  return RunOnMatrix(call, 0, [&] { return FillModeConfig(call); }, {0, 1, 2, 3, 4}, &TridiagonalFactors);
}

// gesvd: a -> (undefined, s, u, v^H, info, workspace). A wide matrix is transposed, so that v^H comes before u.
Result<Value> StructSvd(Call& call) {
  if (!HasSvdForm(call)) return BadOldCall(call);
  constexpr size_t kJobs = 5;  // characters, after five integers
  const int64_t rows = call.array(0).dim(call.array(0).rank() - 2), columns = call.array(0).dims().back();
  const bool transposed = rows < columns;
  const Shape& u = call.hlo.shape().element(transposed ? 3 : 2);
  const Shape& vt = call.hlo.shape().element(transposed ? 2 : 3);
  const bool compute = (StructField(call, kJobs) & 0xFF) != 'N';
  const bool full = transposed ? SizeOf(vt, 2) == columns : SizeOf(u, 1) == rows;
  return RunOnMatrix(call, 0, [&] { return SvdConfig(compute, full, transposed); }, {0, 1, 2, 3, 4}, &CusolverSvd);
}

// gesvdj: a -> (undefined, s, u, v, info, workspace)
Result<Value> StructSvdWithV(Call& call) {
  if (!HasSvdForm(call)) return BadOldCall(call);
  constexpr size_t kMode = 5;  // 1: with vectors
  const bool full = SizeOf(call.hlo.shape().element(2), 1) == SizeOf(call.hlo.shape().element(2), 2) &&
                    SizeOf(call.hlo.shape().element(3), 1) == SizeOf(call.hlo.shape().element(3), 2);
  return RunOnMatrix(call, 0, [&] { return SvdConfig(StructField(call, kMode) != 0, full, false); }, {0, 1, 2, 3, 4}, &CusolverSvdWithV);
}

// gtsv2: (below, diagonal, above, b) -> (x, workspace)
Result<Value> StructTridiagonalSolution(Call& call) {
  if (!HasOldForm(call, 0) || call.operands.size() != 4) return BadOldCall(call);
  return RunSuccessor(call, {0, "", {0, 1, 2, 3}, {0}, &CusparseTridiagonal});
}

}  // namespace shoal::internal
