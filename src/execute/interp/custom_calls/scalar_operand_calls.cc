// LAPACK calls of jaxlib up to 0.4.30. Their parameters are scalar operands before the arrays, and some of their results
// are workspaces.
#include "core/ops/control_flow.h"
#include "core/ops/linear_algebra.h"
#include "execute/interp/custom_calls/old_call.h"

namespace shoal::internal {
namespace {

// The value of a scalar operand: s32, or u8 for a character.
int64_t ScalarOperand(const Call& call, size_t i) { return IntAt(call.array(i), 0); }

bool IsComplexMatrix(const Call& call, size_t i) {
  return i < call.operands.size() && call.operands[i].IsArray() && IsComplex(call.array(i).type());
}

}  // namespace

// potrf: (lower, batch, n, a) -> (factor, info)
Result<Value> ScalarCholesky(Call& call) {
  return RunOnMatrix(call, 3, [&] { return LowerConfig(ScalarOperand(call, 0) != 0); }, {0, 1}, &CholeskyFactor);
}

// getrf: (batch, m, n, a) -> (factors, pivots, info)
Result<Value> ScalarLu(Call& call) {
  return RunOnMatrix(call, 3, [] { return std::string(); }, {0, 1, 2}, &LuFactors);
}

// geqrf: (batch, m, n, lwork, a) -> (factors, tau, info, work)
Result<Value> ScalarQr(Call& call) {
  return RunOnMatrix(call, 4, [] { return std::string(); }, {0, 1}, &QrFactors);
}

// orgqr: (batch, m, n, k, lwork, a, tau) -> (product, info, work)
Result<Value> ScalarReflectorProduct(Call& call) {
  if (!HasOldForm(call, 5) || call.operands.size() != 7) return BadOldCall(call);
  return RunSuccessor(call, {5, "", {5, 6}, {0}, &ReflectorProduct});
}

// gesdd: (full matrices, compute u and v, batch, m, n, lwork, a) -> (undefined, s, u, v^H, info, workspaces…)
Result<Value> ScalarSvd(Call& call) {
  auto config = [&] {
    const char mode = ScalarOperand(call, 1) == 0 ? 'N' : ScalarOperand(call, 0) != 0 ? 'A' : 'S';
    return StrCat("{\"mode\":", static_cast<int>(mode), "}");
  };
  return RunOnMatrix(call, 6, config, {0, 1, 2, 3, 4}, &SvdByDivideAndConquer);
}

// syevd, heevd: (lower, batch, n, a) -> (eigenvectors, eigenvalues, info, workspaces…)
Result<Value> ScalarHermitianEigen(Call& call) {
  return RunOnMatrix(call, 3, [&] { return LowerConfig(ScalarOperand(call, 0) != 0); }, {0, 1, 2}, &HermitianEigen);
}

// geev: (batch, n, 'V' for left vectors, 'V' for right vectors, a) -> (workspaces…, eigenvalues, vectors, info)
Result<Value> ScalarEigen(Call& call) {
  auto config = [&] {
    return StrCat("{\"compute_left\":", ScalarOperand(call, 2), ",\"compute_right\":", ScalarOperand(call, 3), "}");
  };
  std::vector<int> results{kWorkspace, kWorkspace, kWorkspace, 0, 1, 2, 3, 4};
  if (IsComplexMatrix(call, 4)) results = {kWorkspace, kWorkspace, 0, 1, 2, 3};
  return RunOnMatrix(call, 4, config, std::move(results), &GeneralEigen);
}

// gees: (batch, n, 'V' for vectors, sort, a) -> (form, workspace if complex, eigenvalues, vectors, count, info)
Result<Value> ScalarSchur(Call& call) {
  std::vector<int> results{0, 2, 3, 1, 4, 5};
  if (IsComplexMatrix(call, 4)) results = {0, kWorkspace, 2, 1, 3, 4};
  auto config = [&] { return StrCat("{\"mode\":", ScalarOperand(call, 2), "}"); };
  return RunOnMatrix(call, 4, config, std::move(results), &SchurForm);
}

// gehrd: (n, low, high, lda, batch, lwork, a) -> (factors, tau, info, work)
Result<Value> ScalarHessenberg(Call& call) {
  auto config = [&] { return StrCat("{\"low\":", ScalarOperand(call, 1), ",\"high\":", ScalarOperand(call, 2), "}"); };
  return RunOnMatrix(call, 6, config, {0, 1, 2}, &HessenbergFactors);
}

// sytrd: (n, lower, lda, batch, lwork, a) -> (reflectors, diagonal, off-diagonal, tau, info, work)
Result<Value> ScalarTridiagonal(Call& call) {
  auto config = [&] { return LowerConfig(ScalarOperand(call, 1) != 0); };
  return RunOnMatrix(call, 5, config, {0, 1, 2, 3, 4}, &TridiagonalFactors);
}

// trsm: (left, lower, transposition, unit diagonal, m, n, batch, alpha, a, b) -> x
Result<Value> ScalarTriangularSolution(Call& call) {
  const bool is_valid = call.operands.size() == 10 && std::all_of(call.operands.begin(), call.operands.end(),
                                                                  [](const Value& value) { return value.IsArray(); });
  if (!is_valid || call.hlo.shape_->IsTuple()) return BadOldCall(call);
  for (size_t i = 0; i < 7; ++i)
    if (call.array(i).count() != 1 || !IsInteger(call.array(i).type())) return BadOldCall(call);
  const char transpositions[] = {'N', 'T', 'C'};
  const int64_t transposition = std::clamp<int64_t>(ScalarOperand(call, 2), 0, 2);
  const std::string config =
      StrCat("{\"side\":", ScalarOperand(call, 0) != 0 ? int{'L'} : int{'R'},
             ",\"uplo\":", ScalarOperand(call, 1) != 0 ? int{'L'} : int{'U'},
             ",\"trans_x\":", static_cast<int>(transpositions[transposition]),
             ",\"diag\":", ScalarOperand(call, 3) != 0 ? int{'U'} : int{'N'}, "}");
  Instruction successor = call.hlo;
  NamedAttr attrs[] = {{kBackendConfig.id, std::string_view(config)},
                             {Op<Opcode::kCustomCall>::kTarget.id, call.hlo[Op<Opcode::kCustomCall>::kTarget]}};
  successor.attrs = attrs;
  Value operands[] = {std::move(call.operands[8]), std::move(call.operands[9]), std::move(call.operands[7])};
  Call inner{successor, operands, call.device};
  return TriangularSolution(inner);
}

}  // namespace shoal::internal
