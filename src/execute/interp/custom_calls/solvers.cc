// Custom calls for linear equations (lapack_*trsm_ffi, lapack_*gtsv_ffi and similar calls) and matrix updates.
#include <cmath>
#include <limits>

#include "execute/interp/custom_calls/matrix_call.h"
#include "kernels/linalg/lapack.h"
#include "kernels/linalg/triangular.h"

namespace shoal::internal {

// trsm: (a, b) -> the x with op(a) * x = b or x * op(a) = b. In older calls, a third operand scales b.
Result<Value> TriangularSolution(Call& call) {
  SHOAL_TRY(RequireConfig(call, "side"));
  return RunMatrices(call, [&]<class T>(MatrixCall& m) {
    const BackendConfig& config = m.config();
    TriangularEquation equation;
    equation.left = config.Int("side", 'L') == 'L';
    equation.lower = m.Lower();
    equation.transposed = config.Int("trans_x", 'N') != 'N';
    equation.conjugated = config.Int("trans_x", 'N') == 'C';
    equation.unit_diagonal = config.Int("diag", 'N') == 'U';
    equation.n = m.rows();
    const int rows = m.LastOf(1, 1), columns = m.LastOf(1);
    equation.m = equation.left ? columns : rows;
    if (m.columns() != m.rows() || !m.Has(1, m.type(), {rows, columns})) return false;
    if ((equation.left ? rows : columns) != m.rows()) return false;
    Array& result = m.Add(m.type(), {rows, columns});
    result = SolveTriangular(equation, m.operand(0), m.operand(1), call.device.pool());
    if (call.operands.size() < 3) return true;
    if (m.operand(2).type() != m.type() || m.operand(2).count() != 1) return false;
    for (T& x : result.Mutable<T>()) x *= m.operand(2).As<T>()[0];
    return true;
  });
}

namespace {

template <class T>
struct Tridiagonals {
  std::vector<T> below, diagonal, above, columns;

  // Solves for all columns of b. Returns LAPACK's info.
  int Solve(int columns_of_b) {
    const auto n = static_cast<int>(diagonal.size());
    T* first = below.data() + std::min(n, 1);
    return lapack::SolveTridiagonal(n, columns_of_b, first, diagonal.data(), above.data(), columns.data());
  }

  // Adds a small number to the diagonal element at which the elimination reached a zero pivot.
  void Perturb(int row) {
    lapack::Real<T> largest = std::numeric_limits<lapack::Real<T>>::min();
    for (const std::vector<T>* part : {&below, &diagonal, &above})
      for (const T& x : *part) largest = std::max(largest, std::abs(x));
    diagonal[static_cast<size_t>(row)] += largest * std::numeric_limits<lapack::Real<T>>::epsilon();
  }
};

enum class TridiagonalForm { kFactored, kPlain, kPerturbed };

// (below, diagonal, above, b) -> x. Each diagonal has as many elements as b has rows; the first of `below` and the last
// of `above` are unused. With kFactored, the results are the undefined diagonals, x and info. kPerturbed also solves
// singular equations, after a small perturbation.
Result<Value> SolveTridiagonals(Call& call, TridiagonalForm form) {
  auto solve = [&]<class T>(MatrixCall& m) {
    const int n = m.rows();
    for (size_t i = 0; i < 3; ++i) {
      if (!m.Has(i, m.type(), {n})) return false;
      if (form == TridiagonalForm::kFactored) m.AddUndefined();
    }
    Array& x = m.Add(m.type(), {n, m.columns()});
    std::vector<int32_t> info(static_cast<size_t>(m.batch()));
    m.ForEach([&](int64_t b) {
      int32_t& status = info[static_cast<size_t>(b)];
      auto vector = [&](size_t i) {
        std::span<const T> diagonal = VectorAt<T>(m.operand(i), b);
        return std::vector<T>(diagonal.begin(), diagonal.end());
      };
      Tridiagonals<T> original{vector(0), vector(1), vector(2), LoadMatrix<T>(m.operand(3), b)};
      Tridiagonals<T> solved = original;
      status = solved.Solve(m.columns());
      for (int tries = 0; form == TridiagonalForm::kPerturbed && status > 0 && tries < n; ++tries) {
        original.Perturb(status - 1);
        solved = original;
        status = solved.Solve(m.columns());
      }
      StoreMatrix(solved.columns, b, x);
    });
    if (form == TridiagonalForm::kFactored)
      std::copy(info.begin(), info.end(), m.Add(ElementType::kS32, {}).Mutable<int32_t>().begin());
    return true;
  };
  return RunMatrices(call, solve, 3);
}

}  // namespace

// gtsv: (below, diagonal, above, b) -> (undefined, undefined, undefined, x, info)
Result<Value> TridiagonalSolution(Call& call) { return SolveTridiagonals(call, TridiagonalForm::kFactored); }

// gtsv2 of cuSPARSE: (below, diagonal, above, b) -> x
Result<Value> CusparseTridiagonal(Call& call) { return SolveTridiagonals(call, TridiagonalForm::kPlain); }

// tridiagonal_solve_perturbed: (below, diagonal, above, b) -> x, even if the matrix is singular
Result<Value> PerturbedTridiagonal(Call& call) { return SolveTridiagonals(call, TridiagonalForm::kPerturbed); }

// syrk: (a, c, alpha, beta) -> alpha * a * a^T + beta * c, with a^T * a instead if `transpose`
Result<Value> SymmetricRankUpdate(Call& call) {
  return RunMatrices(call, [&]<class T>(MatrixCall& m) {
    const bool transpose = m.config().Bool("transpose");
    const int n = transpose ? m.columns() : m.rows(), inner = transpose ? m.rows() : m.columns();
    if (call.operands.size() != 4 || !m.Has(1, m.type(), {n, n})) return false;
    for (size_t i : {2, 3})
      if (m.operand(i).count() != 1 || m.operand(i).type() != m.type()) return false;
    const T alpha = m.operand(2).As<T>()[0], beta = m.operand(3).As<T>()[0];
    std::span<T> c = m.Add(m.type(), {n, n}).Mutable<T>();
    m.ForEach([&](int64_t b) {
      const T* a = m.operand(0).As<T>().data() + b * n * inner;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          T sum{};
          for (int64_t k = 0; k < inner; ++k)
            sum += transpose ? a[k * n + i] * a[k * n + j] : a[i * inner + k] * a[j * inner + k];
          const auto at = static_cast<size_t>((b * n + i) * n + j);
          c[at] = alpha * sum + beta * m.operand(1).As<T>()[at];
        }
      }
    });
    return true;
  });
}

// cholesky_update: (r, w) -> (the upper triangular R with R^T * R = r^T * r + w * w^T, undefined)
Result<Value> CholeskyUpdate(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    if constexpr (std::is_floating_point_v<T>) {
      const int n = m.rows();
      if (m.columns() != n || m.batch() != 1 || !m.Has(1, m.type(), {n})) return false;
      Array& result = m.Add(m.type(), {n, n});
      result = m.operand(0);
      std::span<T> r = result.Mutable<T>();
      std::vector<T> w(m.operand(1).As<T>().begin(), m.operand(1).As<T>().end());
      // For each row of r, one Givens rotation zeroes the next element of w.
      for (size_t k = 0; k < w.size(); ++k) {
        std::span<T> row = r.subspan(k * w.size(), w.size());
        const T length = std::hypot(row[k], w[k]);
        const T c = w[k] == 0 ? T(1) : row[k] / length, s = w[k] == 0 ? T(0) : w[k] / length;
        for (size_t j = 0; j < w.size(); ++j) {
          const T x = row[j], y = w[j];
          row[j] = c * x + s * y;
          w[j] = c * y - s * x;
        }
      }
      m.AddUndefined();
      return true;
    }
    return false;
  });
}

}  // namespace shoal::internal
