// cholesky and triangular-solve on the matrices in the last two dimensions.
#include "kernels/linalg/triangular.h"
#include "core/ops/backend_config.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "kernels/arrays/doubles.h"
#include "kernels/arrays/strided.h"
#include "core/ops/linear_algebra.h"

namespace shoal::internal {
namespace {

Array MatricesTransposed(const Array& array) {
  Dims order;
  for (int64_t d = 0; d < array.rank(); ++d) order.push_back(d);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return Transposed(array, AsInts(order));
}

template <class Number>
Array CholeskyOf(const Array& array) {
  std::vector<Number> numbers = ToNumbers<Number>(array);
  const int64_t n = array.dims().back();
  for (int64_t at = 0; at < array.count(); at += n * n) Cholesky(numbers.data() + at, n);
  return FromNumbers(array.type(), array.dims(), numbers);
}

// Fills in the equation's sizes from operands 0 and 1, then solves the equation for them.
Result<Value> Solution(Call& call, TriangularEquation equation) {
  const Array& a = call.array(0);
  const Array& b = call.array(1);
  const int64_t rank = a.rank();
  const bool are_matrices = rank >= 2 && b.rank() == rank && a.type() == b.type();
  if (are_matrices) {
    equation.n = a.dim(rank - 1);
    equation.m = b.dim(equation.left ? rank - 1 : rank - 2);
  }
  if (!are_matrices || a.dim(rank - 2) != equation.n || b.dim(equation.left ? rank - 2 : rank - 1) != equation.n ||
      a.count() * equation.m != b.count() * equation.n)
    return ExecutionError(call.hlo, StrCat("operands must be matrices of matching types and sizes, got ",
                                           ToString(a), " and ", ToString(b)));
  return Value(SolveTriangular(equation, a, b, call.device.pool()));
}

}  // namespace

// cholesky: the triangular L with L * L^H = operand. If lower=false: L transposed, from the operand's upper half.
template <>
Result<Value> Evaluate<Opcode::kCholesky>(Call& call) {
  const Array& operand = call.array(0);
  const int64_t rank = operand.rank();
  if (operand.dim(rank - 1) != operand.dim(rank - 2))
    return ExecutionError(call.hlo, StrCat("operand must be square in its last dimensions, got ", ToString(operand)));
  const bool lower = call.hlo[kLower];
  const Array& a = lower ? operand : MatricesTransposed(operand);
  Array factor = IsComplex(a.type()) ? CholeskyOf<std::complex<double>>(a) : CholeskyOf<double>(a);
  return Value(lower ? std::move(factor) : MatricesTransposed(factor));
}

// triangular-solve: the x that satisfies op(operand 0) * x = operand 1, or x * op(operand 0) = operand 1.
template <>
Result<Value> Evaluate<Opcode::kTriangularSolve>(Call& call) {
  using Solve = Op<Opcode::kTriangularSolve>;
  const TransposeA transpose = call.hlo[Solve::kTransposeA];
  TriangularEquation equation;
  equation.left = call.hlo[Solve::kLeftSide];
  equation.lower = call.hlo[kLower];
  equation.unit_diagonal = call.hlo[Solve::kUnitDiagonal];
  equation.transposed = transpose != TransposeA::kNoTranspose;
  equation.conjugated = transpose == TransposeA::kAdjoint;
  return Solution(call, equation);
}

// The triangular solve of cuBLAS. Its second result is scratch memory.
Result<Value> CublasTriangularSolve(Call& call) {
  const BackendConfig config = ConfigOf(call);
  const std::string_view transpose = config.Text("transpose_a");
  TriangularEquation equation;
  equation.left = config.Bool("left_side");
  equation.lower = config.Bool("lower");
  equation.unit_diagonal = config.Bool("unit_diagonal");
  equation.transposed = transpose == "TRANSPOSE" || transpose == "ADJOINT";
  equation.conjugated = transpose == "ADJOINT";
  if (call.operands.size() < 2 || !call.operands[0].IsArray() || !call.operands[1].IsArray())
    return ExecutionError(call.hlo, "expected two array operands");
  SHOAL_ASSIGN(solution, Solution(call, equation));
  if (!call.hlo.shape().IsTuple()) return solution;
  std::vector<Value> results{std::move(solution)};
  const auto declared = call.hlo.shape().elements();
  for (size_t i = 1; i < declared.size(); ++i) results.push_back(ZeroValue(*declared[i]));
  Value value = Value::Tuple(std::move(results));
  if (!Fits(value, call.hlo.shape()))
    return ExecutionError(call.hlo, StrCat("cannot produce the declared shape ", ToString(call.hlo.shape())));
  return value;
}

}  // namespace shoal::internal
