// The Fortran symbols of LAPACK that kernels/lapack.cc calls.
#pragma once

#include <complex>
#include <cstddef>

namespace shoal::lapack {

using Int = const int*;
using Char = const char*;
using Len = size_t;  // Fortran passes the length of each string behind all arguments

// Of one type: p is its letter, gqr and mqr what it calls its orthogonal matrices, trd its reduction to a tridiagonal.
#define COMMON_ROUTINES(T, R, p, gqr, mqr, trd)                                                                   \
  void p##potrf_(Char uplo, Int n, T* a, Int lda, int* info, Len);                                                \
  void p##getrf_(Int m, Int n, T* a, Int lda, int* pivots, int* info);                                            \
  void p##geqrf_(Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork, int* info);                             \
  void gqr(Int m, Int n, Int k, T* a, Int lda, const T* tau, T* work, Int lwork, int* info);                      \
  void mqr(Char side, Char trans, Int m, Int n, Int k, const T* a, Int lda, const T* tau, T* c, Int ldc, T* work, \
           Int lwork, int* info, Len, Len);                                                                       \
  void p##gehrd_(Int n, Int low, Int high, T* a, Int lda, T* tau, T* work, Int lwork, int* info);                 \
  void trd(Char uplo, Int n, T* a, Int lda, R* d, R* e, T* tau, T* work, Int lwork, int* info, Len);              \
  void p##gtsv_(Int n, Int columns, T* below, T* diagonal, T* above, T* b, Int ldb, int* info);

#define REAL_ROUTINES(T, p)                                                                                           \
  COMMON_ROUTINES(T, T, p, p##orgqr_, p##ormqr_, p##sytrd_)                                                           \
  void p##geqp3_(Int m, Int n, T* a, Int lda, int* columns, T* tau, T* work, Int lwork, int* info);                   \
  void p##syevd_(Char job, Char uplo, Int n, T* a, Int lda, T* w, T* work, Int lwork, int* iwork, Int liwork,         \
                 int* info, Len, Len);                                                                                \
  void p##geev_(Char left, Char right, Int n, T* a, Int lda, T* re, T* im, T* vl, Int ldl, T* vr, Int ldr, T* work,   \
                Int lwork, int* info, Len, Len);                                                                      \
  void p##gees_(Char job, Char sort, void* select, Int n, T* a, Int lda, int* selected, T* re, T* im, T* vs, Int lds, \
                T* work, Int lwork, int* bwork, int* info, Len, Len);                                                 \
  void p##gesdd_(Char job, Int m, Int n, T* a, Int lda, T* s, T* u, Int ldu, T* vt, Int ldvt, T* work, Int lwork,     \
                 int* iwork, int* info, Len);                                                                         \
  void p##gesvd_(Char job, Char jobv, Int m, Int n, T* a, Int lda, T* s, T* u, Int ldu, T* vt, Int ldvt, T* work,     \
                 Int lwork, int* info, Len, Len);

#define COMPLEX_ROUTINES(T, R, p)                                                                                      \
  COMMON_ROUTINES(T, R, p, p##ungqr_, p##unmqr_, p##hetrd_)                                                            \
  void p##geqp3_(Int m, Int n, T* a, Int lda, int* columns, T* tau, T* work, Int lwork, R* rwork, int* info);          \
  void p##heevd_(Char job, Char uplo, Int n, T* a, Int lda, R* w, T* work, Int lwork, R* rwork, Int lrwork,            \
                 int* iwork, Int liwork, int* info, Len, Len);                                                         \
  void p##geev_(Char left, Char right, Int n, T* a, Int lda, T* w, T* vl, Int ldl, T* vr, Int ldr, T* work, Int lwork, \
                R* rwork, int* info, Len, Len);                                                                        \
  void p##gees_(Char job, Char sort, void* select, Int n, T* a, Int lda, int* selected, T* w, T* vs, Int lds, T* work, \
                Int lwork, R* rwork, int* bwork, int* info, Len, Len);                                                 \
  void p##gesdd_(Char job, Int m, Int n, T* a, Int lda, R* s, T* u, Int ldu, T* vt, Int ldvt, T* work, Int lwork,      \
                 R* rwork, int* iwork, int* info, Len);                                                                \
  void p##gesvd_(Char job, Char jobv, Int m, Int n, T* a, Int lda, R* s, T* u, Int ldu, T* vt, Int ldvt, T* work,      \
                 Int lwork, R* rwork, int* info, Len, Len);

extern "C" {
REAL_ROUTINES(float, s)
REAL_ROUTINES(double, d)
COMPLEX_ROUTINES(std::complex<float>, float, c)
COMPLEX_ROUTINES(std::complex<double>, double, z)
}

#undef COMMON_ROUTINES
#undef REAL_ROUTINES
#undef COMPLEX_ROUTINES

}  // namespace shoal::lapack
