#include "kernels/linalg/lapack.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

// The declarations of LAPACK's own C interface, with std::complex as complex numbers.
#define LAPACK_COMPLEX_CUSTOM
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapack.h>

namespace shoal::internal::lapack {
namespace {

template <class T>
constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

// Selects the routine for T among four.
#define BY_PRECISION(single_, double_)            \
  [] {                                            \
    if constexpr (std::is_same_v<Real<T>, float>) \
      return single_;                             \
    else                                          \
      return double_;                             \
  }()
#define ROUTINE(s, d, c, z)      \
  [] {                           \
    if constexpr (kIsComplex<T>) \
      return BY_PRECISION(c, z); \
    else                         \
      return BY_PRECISION(s, d); \
  }()
#define NAMED(name) ROUTINE(s##name, d##name, c##name, z##name)

int Stride(int rows) { return std::max(rows, 1); }

// Queries the size of the workspace that `run(work, lwork)` needs, then runs it with a workspace of that size.
template <class T, class Run>
void WithWorkspace(const Run& run) {
  T needed{};
  run(&needed, -1);
  const int size = std::max(1, static_cast<int>(std::real(needed)) + 1);  // f32 may have rounded it down
  std::vector<T> work(static_cast<size_t>(size));
  run(work.data(), size);
}

template <class T>
bool AllFinite(const T* a, int64_t count) {
  return std::all_of(a, a + count, [](T x) { return std::isfinite(std::real(x)) && std::isfinite(std::imag(x)); });
}

int64_t Area(int m, int n) { return static_cast<int64_t>(m) * n; }

}  // namespace

template <class T>
int Cholesky(bool lower, int n, T* a) {
  int info = 0;
  const int lda = Stride(n);
  NAMED(potrf_)(lower ? "L" : "U", &n, a, &lda, &info, 1);
  return info;
}

template <class T>
int Lu(int m, int n, T* a, int* pivots) {
  int info = 0;
  const int lda = Stride(m);
  NAMED(getrf_)(&m, &n, a, &lda, pivots, &info);
  return info;
}

template <class T>
int Qr(int m, int n, T* a, T* tau) {
  int info = 0;
  const int lda = Stride(m);
  WithWorkspace<T>([&](T* work, int size) { NAMED(geqrf_)(&m, &n, a, &lda, tau, work, &size, &info); });
  return info;
}

template <class T>
int PivotedQr(int m, int n, T* a, int* columns, T* tau) {
  int info = 0;
  const int lda = Stride(m);
  [[maybe_unused]] std::vector<Real<T>> rwork(static_cast<size_t>(2 * Area(1, n)));
  WithWorkspace<T>([&](T* work, int size) {
    if constexpr (kIsComplex<T>)
      NAMED(geqp3_)(&m, &n, a, &lda, columns, tau, work, &size, rwork.data(), &info);
    else
      NAMED(geqp3_)(&m, &n, a, &lda, columns, tau, work, &size, &info);
  });
  return info;
}

template <class T>
int ReflectorProduct(int m, int n, int k, T* a, const T* tau) {
  int info = 0;
  const int lda = Stride(m);
  WithWorkspace<T>([&](T* work, int size) {
    ROUTINE(sorgqr_, dorgqr_, cungqr_, zungqr_)(&m, &n, &k, a, &lda, tau, work, &size, &info);
  });
  return info;
}

template <class T>
int MultiplyByReflectors(bool left, bool adjoint, int m, int n, int k, const T* a, const T* tau, T* c) {
  int info = 0;
  const int lda = Stride(left ? m : n), ldc = Stride(m);
  const char* trans = !adjoint ? "N" : kIsComplex<T> ? "C" : "T";
  WithWorkspace<T>([&](T* work, int size) {
    ROUTINE(sormqr_, dormqr_, cunmqr_, zunmqr_)
    (left ? "L" : "R", trans, &m, &n, &k, a, &lda, tau, c, &ldc, work, &size, &info, 1, 1);
  });
  return info;
}

template <class T>
int HermitianEigen(bool vectors, bool lower, int n, T* a, Real<T>* values) {
  if (n == 1) {  // for any value, finite or not
    values[0] = std::real(a[0]);
    if (vectors) a[0] = T(1);
    return 0;
  }
  if (!AllFinite(a, Area(n, n))) return kNotFinite;
  int info = 0;
  const int lda = Stride(n);
  const char* job = vectors ? "V" : "N";
  const char* uplo = lower ? "L" : "U";
  T work_size{};
  int iwork_size = 0;
  const int query = -1;
  if constexpr (kIsComplex<T>) {
    Real<T> rwork_size = 0;
    auto routine = BY_PRECISION(cheevd_, zheevd_);
    routine(job, uplo, &n, a, &lda, values, &work_size, &query, &rwork_size, &query, &iwork_size, &query, &info, 1, 1);
    const int size = static_cast<int>(work_size.real()) + 1, rsize = static_cast<int>(rwork_size) + 1;
    std::vector<T> work(static_cast<size_t>(size));
    std::vector<Real<T>> rwork(static_cast<size_t>(rsize));
    std::vector<int> iwork(static_cast<size_t>(iwork_size));
    routine(job, uplo, &n, a, &lda, values, work.data(), &size, rwork.data(), &rsize, iwork.data(), &iwork_size, &info,
            1, 1);
  } else {
    auto routine = BY_PRECISION(ssyevd_, dsyevd_);
    routine(job, uplo, &n, a, &lda, values, &work_size, &query, &iwork_size, &query, &info, 1, 1);
    const int size = static_cast<int>(work_size) + 1;
    std::vector<T> work(static_cast<size_t>(size));
    std::vector<int> iwork(static_cast<size_t>(iwork_size));
    routine(job, uplo, &n, a, &lda, values, work.data(), &size, iwork.data(), &iwork_size, &info, 1, 1);
  }
  return info;
}

namespace {

// LAPACK returns the complex eigenvectors of a real matrix as pairs of columns, real and imaginary part. Each pair
// encodes an eigenvector and its conjugate.
template <class T>
void UnpackEigenvectors(int n, const T* im, const std::vector<T>& packed, std::complex<T>* vectors) {
  if (vectors == nullptr) return;
  const auto rows = static_cast<size_t>(n);
  for (size_t j = 0; j < rows; ++j) {
    const bool pair = im[j] != 0 && j + 1 < rows;
    for (size_t i = 0; i < rows; ++i) {
      const T re = packed[j * rows + i];
      vectors[j * rows + i] = pair ? std::complex<T>(re, packed[(j + 1) * rows + i]) : re;
      if (pair) vectors[(j + 1) * rows + i] = std::conj(vectors[j * rows + i]);
    }
    if (pair) ++j;
  }
}

}  // namespace

template <class T>
int Eigen(int n, T* a, Complex<T>* values, Complex<T>* left, Complex<T>* right) {
  if (!AllFinite(a, Area(n, n))) return kNotFinite;
  int info = 0;
  const int lda = Stride(n);
  const char* job_left = left != nullptr ? "V" : "N";
  const char* job_right = right != nullptr ? "V" : "N";
  const auto rows = static_cast<size_t>(n);
  if constexpr (kIsComplex<T>) {
    std::vector<Real<T>> rwork(2 * rows);
    WithWorkspace<T>([&](T* work, int size) {
      NAMED(geev_)
      (job_left, job_right, &n, a, &lda, values, left, &lda, right, &lda, work, &size, rwork.data(), &info, 1, 1);
    });
  } else {
    std::vector<T> re(rows), im(rows), vl(left != nullptr ? rows * rows : 0), vr(right != nullptr ? rows * rows : 0);
    WithWorkspace<T>([&](T* work, int size) {
      NAMED(geev_)
      (job_left, job_right, &n, a, &lda, re.data(), im.data(), vl.data(), &lda, vr.data(), &lda, work, &size, &info, 1,
       1);
    });
    for (size_t i = 0; i < rows; ++i) values[i] = {re[i], im[i]};
    UnpackEigenvectors(n, im.data(), vl, left);
    UnpackEigenvectors(n, im.data(), vr, right);
  }
  return info;
}

template <class T>
int Schur(int n, T* a, Complex<T>* values, T* vectors) {
  if (!AllFinite(a, Area(n, n))) return kNotFinite;
  int info = 0, selected = 0;
  const int lda = Stride(n);
  const char* job = vectors != nullptr ? "V" : "N";
  const auto rows = static_cast<size_t>(n);
  std::vector<int> bwork(rows);
  if constexpr (kIsComplex<T>) {
    std::vector<Real<T>> rwork(rows);
    WithWorkspace<T>([&](T* work, int size) {
      NAMED(gees_)
      (job, "N", nullptr, &n, a, &lda, &selected, values, vectors, &lda, work, &size, rwork.data(), bwork.data(), &info,
       1, 1);
    });
  } else {
    std::vector<T> re(rows), im(rows);
    WithWorkspace<T>([&](T* work, int size) {
      NAMED(gees_)
      (job, "N", nullptr, &n, a, &lda, &selected, re.data(), im.data(), vectors, &lda, work, &size, bwork.data(), &info,
       1, 1);
    });
    for (size_t i = 0; i < rows; ++i) values[i] = {re[i], im[i]};
  }
  return info;
}

template <class T>
int Svd(bool divide, char job, int m, int n, T* a, Real<T>* s, T* u, T* vt) {
  if (!AllFinite(a, Area(m, n))) return kNotFinite;
  int info = 0;
  const int lda = Stride(m), min_size = std::min(m, n), ldvt = Stride(job == 'S' ? min_size : n);
  const int64_t small = min_size, large = std::max(m, n);
  std::vector<int> iwork(static_cast<size_t>(8 * small));
  [[maybe_unused]] std::vector<Real<T>> rwork(static_cast<size_t>(
      kIsComplex<T> ? std::max(5 * small * small + 7 * small, 2 * large * small + 2 * small * small + small) : 0));
  WithWorkspace<T>([&](T* work, int size) {
    if constexpr (kIsComplex<T>) {
      if (divide) NAMED(gesdd_)
      (&job, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, work, &size, rwork.data(), iwork.data(), &info, 1);
      else NAMED(gesvd_)(&job, &job, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, work, &size, rwork.data(), &info, 1, 1);
    } else {
      if (divide)
        NAMED(gesdd_)(&job, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, work, &size, iwork.data(), &info, 1);
      else
        NAMED(gesvd_)(&job, &job, &m, &n, a, &lda, s, u, &lda, vt, &ldvt, work, &size, &info, 1, 1);
    }
  });
  return info;
}

template <class T>
int Hessenberg(int n, int low, int high, T* a, T* tau) {
  int info = 0;
  const int lda = Stride(n);
  WithWorkspace<T>([&](T* work, int size) { NAMED(gehrd_)(&n, &low, &high, a, &lda, tau, work, &size, &info); });
  return info;
}

template <class T>
int Tridiagonal(bool lower, int n, T* a, Real<T>* diagonal, Real<T>* off_diagonal, T* tau) {
  int info = 0;
  const int lda = Stride(n);
  WithWorkspace<T>([&](T* work, int size) {
    ROUTINE(ssytrd_, dsytrd_, chetrd_, zhetrd_)
    (lower ? "L" : "U", &n, a, &lda, diagonal, off_diagonal, tau, work, &size, &info, 1);
  });
  return info;
}

template <class T>
int SolveTridiagonal(int n, int columns, T* below, T* diagonal, T* above, T* b) {
  int info = 0;
  const int ldb = Stride(n);
  NAMED(gtsv_)(&n, &columns, below, diagonal, above, b, &ldb, &info);
  return info;
}

#define INSTANTIATE(T)                                                                  \
  template int Cholesky(bool, int, T*);                                                 \
  template int Lu(int, int, T*, int*);                                                  \
  template int Qr(int, int, T*, T*);                                                    \
  template int PivotedQr(int, int, T*, int*, T*);                                       \
  template int ReflectorProduct(int, int, int, T*, const T*);                           \
  template int MultiplyByReflectors(bool, bool, int, int, int, const T*, const T*, T*); \
  template int HermitianEigen(bool, bool, int, T*, Real<T>*);                           \
  template int Eigen(int, T*, Complex<T>*, Complex<T>*, Complex<T>*);                   \
  template int Schur(int, T*, Complex<T>*, T*);                                         \
  template int Svd(bool, char, int, int, T*, Real<T>*, T*, T*);                         \
  template int Hessenberg(int, int, int, T*, T*);                                       \
  template int Tridiagonal(bool, int, T*, Real<T>*, Real<T>*, T*);                      \
  template int SolveTridiagonal(int, int, T*, T*, T*, T*);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<float>)
INSTANTIATE(std::complex<double>)

}  // namespace shoal::internal::lapack
