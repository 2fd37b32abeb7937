// LAPACK routines on one matrix at a time: column-major and in place, as LAPACK documents them. T is float, double or
// std::complex of either. Each function returns LAPACK's info: zero on success; kNotFinite if the matrix has an
// infinity or a NaN, for which some routines never return.
#pragma once

#include <complex>

namespace shoal::internal::lapack {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
using Complex = std::complex<Real<T>>;

inline constexpr int kNotFinite = -4;

// a = L * L^H, in the lower half, or U^H * U in the upper.
template <class T>
int Cholesky(bool lower, int n, T* a);
// a = P * L * U; pivots are one-based.
template <class T>
int Lu(int m, int n, T* a, int* pivots);
// a = Q * R: stores R on and above the diagonal, and reflectors below it and in tau.
template <class T>
int Qr(int m, int n, T* a, T* tau);
// QR with column pivoting; the permutation `columns` is one-based.
template <class T>
int PivotedQr(int m, int n, T* a, int* columns, T* tau);
// The first n columns of the product of k reflectors.
template <class T>
int ReflectorProduct(int m, int n, int k, T* a, const T* tau);
// c = Q * c, Q^H * c, c * Q or c * Q^H, where a has the k reflectors of Q and as many rows as Q.
template <class T>
int MultiplyByReflectors(bool left, bool adjoint, int m, int n, int k, const T* a, const T* tau, T* c);
// Eigenvalues of a Hermitian matrix in ascending order; its eigenvectors replace the matrix.
template <class T>
int HermitianEigen(bool vectors, bool lower, int n, T* a, Real<T>* values);
// Eigenvalues, and left and right eigenvectors unless these pointers are null.
template <class T>
int Eigen(int n, T* a, Complex<T>* values, Complex<T>* left, Complex<T>* right);
// a = Z * S * Z^H; the Schur form S replaces a. The vectors Z may be null.
template <class T>
int Schur(int n, T* a, Complex<T>* values, T* vectors);
// a = u * diag(s) * vt. job: 'A' for square u and vt, 'S' for as many vectors as values, 'N' for values alone. Uses
// divide and conquer if `divide`, else QR iterations.
template <class T>
int Svd(bool divide, char job, int m, int n, T* a, Real<T>* s, T* u, T* vt);
// a = Q * H * Q^H with H upper Hessenberg; low and high are one-based.
template <class T>
int Hessenberg(int n, int low, int high, T* a, T* tau);
// a = Q * T * Q^H with T tridiagonal.
template <class T>
int Tridiagonal(bool lower, int n, T* a, Real<T>* diagonal, Real<T>* off_diagonal, T* tau);
// Solves (below, diagonal, above) * x = b; x replaces b. below and above have n - 1 elements. All are overwritten.
template <class T>
int SolveTridiagonal(int n, int columns, T* below, T* diagonal, T* above, T* b);

}  // namespace shoal::internal::lapack
