// Custom calls for eigenvalues and singular values: lapack_*syevd_ffi, cusolver_gesvd_ffi, Eigh and similar calls.
#include <limits>

#include "execute/interp/custom_calls/matrix_call.h"
#include "kernels/linalg/lapack.h"

namespace shoal::internal {
namespace {

template <class T>
void FillNan(std::span<T> values) {
  std::fill(values.begin(), values.end(), T(std::numeric_limits<lapack::Real<T>>::quiet_NaN()));
}

// Adds (eigenvectors, eigenvalues) of Hermitian matrices. Returns LAPACK's info for each matrix.
template <class T>
std::vector<int32_t> AddHermitianEigen(MatrixCall& m, bool vectors, bool lower) {
  const int n = m.rows();
  Array& eigenvectors = m.Add(m.type(), {n, n});
  Array& values = m.Add(m.real_type(), {n});
  std::vector<int32_t> info(static_cast<size_t>(m.batch()));
  m.ForEach([&](int64_t b) {
    int32_t& status = info[static_cast<size_t>(b)];
    std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
    std::span<lapack::Real<T>> w = MutableVectorAt<lapack::Real<T>>(values, b);
    status = lapack::HermitianEigen(vectors, lower, n, a.data(), w.data());
    if (status == lapack::kNotFinite) {
      FillNan(std::span<T>(a));
      FillNan(w);
    }
    StoreMatrix(a, b, eigenvectors);
  });
  return info;
}

void AddInfo(MatrixCall& m, const std::vector<int32_t>& info) {
  std::copy(info.begin(), info.end(), m.Add(kInfoType, {}).Mutable<int32_t>().begin());
}

}  // namespace

// syevd: a -> (eigenvectors, eigenvalues, info)
Result<Value> HermitianEigen(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    if (m.columns() != m.rows()) return false;
    const bool vectors = m.config().Int("mode", 'V') == 'V';
    AddInfo(m, AddHermitianEigen<T>(m, vectors, m.Lower()));
    return true;
  });
}

// Eigh: a -> (eigenvectors, eigenvalues). Reads the upper half of a if backend_config begins with 0, else the lower.
Result<Value> Eigh(Call& call) {
  return RunMatrices(call, [&]<class T>(MatrixCall& m) {
    if (m.columns() != m.rows()) return false;
    AddHermitianEigen<T>(m, true, !call.hlo[kBackendConfig].starts_with('0'));
    return true;
  });
}

// geev of LAPACK: a -> (real parts, imaginary parts, left vectors, right vectors, info). If the matrix is complex, the
// eigenvalues are a single result.
Result<Value> GeneralEigen(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    using Real = lapack::Real<T>;
    using Complex = lapack::Complex<T>;
    const int n = m.rows();
    if (m.columns() != n) return false;
    const bool is_real = m.type() == m.real_type();
    const bool left = m.HasFlag("compute_left") || m.HasFlag("left"), right = m.HasFlag("compute_right") || m.HasFlag("right");
    Array& first = m.Add(m.type(), {n});
    Array* second = is_real ? &m.Add(m.type(), {n}) : nullptr;
    Array& lefts = m.Add(m.complex_type(), {n, n});
    Array& rights = m.Add(m.complex_type(), {n, n});
    std::vector<int32_t> info(static_cast<size_t>(m.batch()));
    m.ForEach([&](int64_t b) {
      int32_t& status = info[static_cast<size_t>(b)];
      std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
      std::vector<Complex> w(static_cast<size_t>(n)), vl(a.size()), vr(a.size());
      status = lapack::Eigen(n, a.data(), w.data(), left ? vl.data() : nullptr, right ? vr.data() : nullptr);
      if (status == lapack::kNotFinite) FillNan(std::span<Complex>(w));
      for (size_t i = 0; i < w.size(); ++i) {
        if constexpr (std::is_same_v<T, Real>) {
          MutableVectorAt<Real>(first, b)[i] = w[i].real();
          MutableVectorAt<Real>(*second, b)[i] = w[i].imag();
        } else {
          MutableVectorAt<T>(first, b)[i] = w[i];
        }
      }
      StoreMatrix(vl, b, lefts);
      StoreMatrix(vr, b, rights);
    });
    AddInfo(m, info);
    return true;
  });
}

namespace {

// Eigenvectors of a real matrix, as cuSOLVER packs them. A conjugate pair of eigenvalues has two columns: the real
// parts and the imaginary parts of the vector of the pair's first eigenvalue.
template <class T>
std::vector<T> Packed(const std::vector<lapack::Complex<T>>& values, const std::vector<lapack::Complex<T>>& vectors) {
  std::vector<T> packed(vectors.size());
  for (size_t i = 0; i < vectors.size(); ++i) {
    if constexpr (std::is_same_v<T, lapack::Real<T>>)
      packed[i] = values[i / values.size()].imag() < 0 ? -vectors[i].imag() : vectors[i].real();
    else
      packed[i] = vectors[i];
  }
  return packed;
}

}  // namespace

// geev of cuSOLVER: a -> (undefined, eigenvalues, left vectors, right vectors, info)
Result<Value> PackedEigen(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    using Complex = lapack::Complex<T>;
    const int n = m.rows();
    if (m.columns() != n) return false;
    m.Add(m.type(), {n, n});
    Array& values = m.Add(m.complex_type(), {n});
    Array& lefts = m.Add(m.type(), {n, n});
    Array& rights = m.Add(m.type(), {n, n});
    std::vector<int32_t> info(static_cast<size_t>(m.batch()));
    m.ForEach([&](int64_t b) {
      int32_t& status = info[static_cast<size_t>(b)];
      std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
      std::vector<Complex> w(static_cast<size_t>(n)), vl(a.size()), vr(a.size());
      status = lapack::Eigen(n, a.data(), w.data(), vl.data(), vr.data());
      if (status == lapack::kNotFinite) FillNan(std::span<Complex>(w));
      std::copy(w.begin(), w.end(), MutableVectorAt<Complex>(values, b).begin());
      StoreMatrix(Packed<T>(w, vl), b, lefts);
      StoreMatrix(Packed<T>(w, vr), b, rights);
    });
    AddInfo(m, info);
    return true;
  });
}

// gees: a -> (Schur form, Schur vectors, real parts and imaginary parts of the eigenvalues, selected count, info). If
// the matrix is complex, the eigenvalues are a single result.
Result<Value> SchurForm(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    using Complex = lapack::Complex<T>;
    const int n = m.rows();
    if (m.columns() != n) return false;
    Array& form = m.Add(m.type(), {n, n});
    Array& vectors = m.Add(m.type(), {n, n});
    Array& first = m.Add(m.type(), {n});
    Array* second = m.type() == m.real_type() ? &m.Add(m.type(), {n}) : nullptr;
    m.Add(ElementType::kS32, {});
    std::vector<int32_t> info(static_cast<size_t>(m.batch()));
    m.ForEach([&](int64_t b) {
      int32_t& status = info[static_cast<size_t>(b)];
      std::vector<T> a = LoadMatrix<T>(m.operand(0), b), z(a.size());
      std::vector<Complex> w(static_cast<size_t>(n));
      status = lapack::Schur(n, a.data(), w.data(), m.HasFlag("mode") ? z.data() : nullptr);
      for (size_t i = 0; i < w.size(); ++i) {
        if constexpr (std::is_same_v<T, Complex>) {
          MutableVectorAt<T>(first, b)[i] = w[i];
        } else {
          MutableVectorAt<T>(first, b)[i] = w[i].real();
          MutableVectorAt<T>(*second, b)[i] = w[i].imag();
        }
      }
      StoreMatrix(a, b, form);
      StoreMatrix(z, b, vectors);
    });
    AddInfo(m, info);
    return true;
  });
}

namespace {

enum class SvdForm { kLapack, kTransposable, kWithV };

// a -> (undefined, singular values, u, v^H, info). kTransposable may return v^H before u. kWithV returns v, not v^H.
template <class T>
bool AddSvd(MatrixCall& m, bool divide, char job, SvdForm form) {
  using Real = lapack::Real<T>;
  const int rows = m.rows(), columns = m.columns(), k = m.min_dim();
  const int u_columns = job == 'A' ? rows : k, vt_rows = job == 'A' ? columns : k;
  m.Add(m.type(), {rows, columns});
  Array& values = m.Add(m.real_type(), {k});
  const bool swapped = form == SvdForm::kTransposable && m.config().Bool("transposed");
  Array* results[2] = {nullptr, nullptr};
  for (int i = 0; i < 2; ++i) {
    const bool is_u = (i == 0) != swapped;
    if (job == 'N')
      m.AddUndefined();
    else if (is_u)
      results[0] = &m.Add(m.type(), {rows, u_columns});
    else if (form == SvdForm::kWithV)
      results[1] = &m.Add(m.type(), {columns, vt_rows});
    else
      results[1] = &m.Add(m.type(), {vt_rows, columns});
  }
  std::vector<int32_t> info(static_cast<size_t>(m.batch()));
  m.ForEach([&](int64_t b) {
    int32_t& status = info[static_cast<size_t>(b)];
    std::vector<T> a = LoadMatrix<T>(m.operand(0), b);
    std::vector<T> left(static_cast<size_t>(rows) * static_cast<size_t>(u_columns));
    std::vector<T> right(static_cast<size_t>(vt_rows) * static_cast<size_t>(columns));
    std::span<Real> s = MutableVectorAt<Real>(values, b);
    status = lapack::Svd(divide, job, rows, columns, a.data(), s.data(), left.data(), right.data());
    if (status == lapack::kNotFinite) FillNan(s);
    if (job == 'N') return;
    StoreMatrix(left, b, *results[0]);
    if (form != SvdForm::kWithV) {
      StoreMatrix(right, b, *results[1]);
      return;
    }
    // v^H in column-major order is the conjugate of v in row-major order.
    std::span<T> v = results[1]->template Mutable<T>().subspan(static_cast<size_t>(b) * right.size(), right.size());
    for (size_t i = 0; i < right.size(); ++i) {
      if constexpr (std::is_same_v<T, Real>)
        v[i] = right[i];
      else
        v[i] = std::conj(right[i]);
    }
  });
  AddInfo(m, info);
  return true;
}

char CusolverJob(const MatrixCall& m) {
  if (!m.config().Bool("compute_uv")) return 'N';
  return m.config().Bool("full_matrices") ? 'A' : 'S';
}

template <bool divide>
Result<Value> LapackSvd(Call& call) {
  SHOAL_TRY(RequireConfig(call, "mode"));
  return RunMatrices(call, []<class T>(MatrixCall& m) {
    const auto job = static_cast<char>(m.config().Int("mode"));
    return (job == 'A' || job == 'S' || job == 'N') && AddSvd<T>(m, divide, job, SvdForm::kLapack);
  });
}

}  // namespace

Result<Value> SvdByDivideAndConquer(Call& call) { return LapackSvd<true>(call); }
Result<Value> SvdByQr(Call& call) { return LapackSvd<false>(call); }

Result<Value> CusolverSvd(Call& call) {
  return RunMatrices(call,
                     []<class T>(MatrixCall& m) { return AddSvd<T>(m, true, CusolverJob(m), SvdForm::kTransposable); });
}

Result<Value> CusolverSvdWithV(Call& call) {
  return RunMatrices(call, []<class T>(MatrixCall& m) { return AddSvd<T>(m, true, CusolverJob(m), SvdForm::kWithV); });
}

}  // namespace shoal::internal
