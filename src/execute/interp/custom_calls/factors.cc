// Custom calls that factor matrices: lapack_*potrf_ffi, cusolver_getrf_ffi, Qr and similar calls.
#include <numeric>

#include "execute/interp/custom_calls/matrix_call.h"
#include "kernels/linalg/lapack.h"

namespace shoal::internal {
namespace {

// Computes the permutation that results from exchanging row i with row pivots[i], for each i in order.
void Permute(std::span<const int32_t> pivots, std::span<int32_t> permutation) {
  std::iota(permutation.begin(), permutation.end(), 0);
  for (size_t i = 0; i < pivots.size() && i < permutation.size(); ++i) {
    const auto other = static_cast<size_t>(pivots[i]);
    if (other < permutation.size()) std::swap(permutation[i], permutation[other]);
  }
}

}  // namespace

// potrf: a -> (factor, info)
Result<Value> CholeskyFactor(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    const int n = m.rows();
    if (m.columns() != n) return false;
    Array& factor = m.Add(m.type(), {n, n});
    Array& info = m.Add(kInfoType, {});
    m.ForEach([&](int64_t b) {
      std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
      info.Mutable<int32_t>()[static_cast<size_t>(b)] = lapack::Cholesky(m.Lower(), n, a.data());
      StoreMatrix(a, b, factor);
    });
    return true;
  });
}

// getrf: a -> (factors, 1-based pivots, info)
Result<Value> LuFactors(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    Array& factors = m.Add(m.type(), {m.rows(), m.columns()});
    Array& pivots = m.Add(ElementType::kS32, {m.min_dim()});
    Array& info = m.Add(kInfoType, {});
    m.ForEach([&](int64_t b) {
      std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
      info.Mutable<int32_t>()[static_cast<size_t>(b)] =
          lapack::Lu(m.rows(), m.columns(), a.data(), MutableVectorAt<int32_t>(pivots, b).data());
      StoreMatrix(a, b, factors);
    });
    return true;
  });
}

// LuDecomposition: a -> (factors, 0-based pivots, permutation)
Result<Value> LuDecomposition(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    Array& factors = m.Add(m.type(), {m.rows(), m.columns()});
    Array& pivots = m.Add(ElementType::kS32, {m.min_dim()});
    Array& permutation = m.Add(ElementType::kS32, {m.rows()});
    m.ForEach([&](int64_t b) {
      std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
      std::span<int32_t> swaps = MutableVectorAt<int32_t>(pivots, b);
      lapack::Lu(m.rows(), m.columns(), a.data(), swaps.data());
      for (int32_t& swap : swaps) --swap;
      Permute(swaps, MutableVectorAt<int32_t>(permutation, b));
      StoreMatrix(a, b, factors);
    });
    return true;
  });
}

// cu_lu_pivots_to_permutation: 0-based pivots -> permutation. The result's shape determines the number of rows.
Result<Value> PivotsToPermutation(Call& call) {
  const Shape& shape = call.hlo.shape();
  if (call.operands.size() != 1 || !call.operands[0].IsArray())
    return ExecutionError(call.hlo, StrCat("expected one array of pivots, got ", call.operands.size(), " operands"));
  const Array& pivots = call.array(0);
  const bool fits = shape.IsArray() && shape.element_type() == ElementType::kS32 &&
                    pivots.type() == ElementType::kS32 && shape.rank() == pivots.rank() && shape.rank() > 0;
  Array permutation = fits ? Array(ElementType::kS32, shape.dims()) : Array();
  if (!fits || permutation.count() * pivots.dims().back() != pivots.count() * permutation.dims().back())
    return ExecutionError(call.hlo, StrCat("pivots ", ToString(pivots), " do not form permutation ", ToString(shape)));
  for (int64_t b = 0; permutation.count() != 0 && b < permutation.count() / permutation.dims().back(); ++b)
    Permute(VectorAt<int32_t>(pivots, b), MutableVectorAt<int32_t>(permutation, b));
  return Value(std::move(permutation));
}

// geqrf, Qr: a -> (R and reflectors, tau)
Result<Value> QrFactors(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    Array& factors = m.Add(m.type(), {m.rows(), m.columns()});
    Array& tau = m.Add(m.type(), {m.min_dim()});
    m.ForEach([&](int64_t b) {
      std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
      lapack::Qr(m.rows(), m.columns(), a.data(), MutableVectorAt<T>(tau, b).data());
      StoreMatrix(a, b, factors);
    });
    return true;
  });
}

// geqp3: (a, columns) -> (R and reflectors, 1-based columns, tau)
Result<Value> PivotedQrFactors(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    if (!m.Has(1, ElementType::kS32, {m.columns()})) return false;
    Array& factors = m.Add(m.type(), {m.rows(), m.columns()});
    Array& columns = m.Add(ElementType::kS32, {m.columns()});
    Array& tau = m.Add(m.type(), {m.min_dim()});
    m.ForEach([&](int64_t b) {
      std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
      std::span<const int32_t> fixed = VectorAt<int32_t>(m.operand(1), b);
      std::span<int32_t> order = MutableVectorAt<int32_t>(columns, b);
      std::copy(fixed.begin(), fixed.end(), order.begin());
      lapack::PivotedQr(m.rows(), m.columns(), a.data(), order.data(), MutableVectorAt<T>(tau, b).data());
      StoreMatrix(a, b, factors);
    });
    return true;
  });
}

// orgqr, ProductOfElementaryHouseholderReflectors: (reflectors, tau) -> the first columns of the reflectors' product
Result<Value> ReflectorProduct(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    const int k = m.LastOf(1);
    if (!m.Has(1, m.type(), {k}) || k > m.columns() || m.columns() > m.rows()) return false;
    Array& product = m.Add(m.type(), {m.rows(), m.columns()});
    m.ForEach([&](int64_t b) {
      std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
      lapack::ReflectorProduct(m.rows(), m.columns(), k, a.data(), VectorAt<T>(m.operand(1), b).data());
      StoreMatrix(a, b, product);
    });
    return true;
  });
}

// ormqr: (reflectors, tau, c) -> c multiplied, on either side, by the reflectors' Q or the adjoint of Q
Result<Value> ReflectorMultiply(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    const bool left = m.config().Bool("left"), adjoint = m.config().Bool("transpose");
    const int k = m.LastOf(1), rows = m.LastOf(2, 1), columns = m.LastOf(2);
    if (!m.Has(1, m.type(), {k}) || k > m.min_dim() || !m.Has(2, m.type(), {rows, columns})) return false;
    if (m.rows() != (left ? rows : columns)) return false;
    Array& product = m.Add(m.type(), {rows, columns});
    m.ForEach([&](int64_t b) {
      const std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
      std::vector<T> c = LoadMatrix<T>(m.operand(2), b);
      lapack::MultiplyByReflectors(left, adjoint, rows, columns, k, a.data(), VectorAt<T>(m.operand(1), b).data(),
                                   c.data());
      StoreMatrix(c, b, product);
    });
    return true;
  });
}

// gehrd: a -> (Hessenberg form and reflectors, tau, info)
Result<Value> HessenbergFactors(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    const int n = m.rows();
    const int64_t low = m.config().Int("low", 1), high = m.config().Int("high", n);
    if (m.columns() != n || n < 1 || low < 1 || high > n || low > high) return false;
    Array& factors = m.Add(m.type(), {n, n});
    Array& tau = m.Add(m.type(), {n - 1});
    Array& info = m.Add(kInfoType, {});
    m.ForEach([&](int64_t b) {
      std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
      info.Mutable<int32_t>()[static_cast<size_t>(b)] = lapack::Hessenberg(
          n, static_cast<int>(low), static_cast<int>(high), a.data(), MutableVectorAt<T>(tau, b).data());
      StoreMatrix(a, b, factors);
    });
    return true;
  });
}

// sytrd: a -> (reflectors, diagonal, off-diagonal, tau, info)
Result<Value> TridiagonalFactors(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    using Real = lapack::Real<T>;
    const int n = m.rows();
    if (m.columns() != n || n < 1) return false;
    Array& factors = m.Add(m.type(), {n, n});
    Array& diagonal = m.Add(m.real_type(), {n});
    Array& off_diagonal = m.Add(m.real_type(), {n - 1});
    Array& tau = m.Add(m.type(), {n - 1});
    Array& info = m.Add(kInfoType, {});
    m.ForEach([&](int64_t b) {
      std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
      info.Mutable<int32_t>()[static_cast<size_t>(b)] =
          lapack::Tridiagonal(m.Lower(), n, a.data(), MutableVectorAt<Real>(diagonal, b).data(),
                              MutableVectorAt<Real>(off_diagonal, b).data(), MutableVectorAt<T>(tau, b).data());
      StoreMatrix(a, b, factors);
    });
    return true;
  });
}

}  // namespace shoal::internal
