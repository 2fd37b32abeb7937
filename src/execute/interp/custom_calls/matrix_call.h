// A custom call on the matrices in the last two dimensions of its operands. LAPACK, cuSOLVER and XLA's own
// decompositions share this code. LAPACK's matrices are column-major.
#pragma once

#include <algorithm>
#include <complex>
#include <initializer_list>

#include "core/base/thread_pool.h"
#include "core/ops/backend_config.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "execute/interp/device.h"
#include "kernels/arrays/transpose_square.h"

namespace shoal::internal {

// LAPACK's info: the status of a factorization.
inline constexpr ElementType kInfoType = ElementType::kS32;

class MatrixCall {
 public:
  // Operand number `main` contains the matrices.
  explicit MatrixCall(Call& call, size_t main = 0);

  // True if the operand contains matrices of a type that LAPACK supports, with sizes that fit in an int.
  bool ok() const { return ok_; }
  const BackendConfig& config() const { return config_; }
  int64_t batch() const { return batch_; }  // number of matrices
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int min_dim() const { return std::min(rows_, columns_); }
  ElementType type() const { return call_.array(main_).type(); }
  ElementType real_type() const;
  ElementType complex_type() const;
  const Array& operand(size_t i) const { return call_.array(i); }

  // The size of operand i's last dimension, or of the dimension `before` positions earlier; zero if there is none.
  int LastOf(size_t i, int before = 0) const;
  // True if operand i has this type, and its dimensions after the batch dimensions are `dims`.
  bool Has(size_t i, ElementType type, std::initializer_list<int64_t> dims) const;
  // Adds a zero-filled result whose dimensions after the batch dimensions are `dims`.
  Array& Add(ElementType type, std::initializer_list<int64_t> dims);
  // Calls run(b) for each matrix, on the pool. The results must have been added.
  template <class Run>
  void ForEach(const Run& run) {
    constexpr int64_t kTask = int64_t{1} << 15;  // multiplications
    const int64_t work = std::max<int64_t>(1, int64_t{rows_} * columns_ * min_dim());
    ForBlocks(call_.device.pool(), batch_, std::max<int64_t>(1, kTask / work), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) run(b);
    });
  }
  // Adds zeros of the declared shape, for a result that the call leaves undefined.
  void AddUndefined();

  // True if the call's configuration has uplo = 76 ('L') or lower = true.
  bool Lower() const { return config_.has("uplo") ? config_.Int("uplo") == 'L' : config_.Bool("lower", true); }
  // True if the call's configuration has key = 86 ('V') or key = true.
  bool HasFlag(std::string_view key) const { return config_.Int(key) == 'V' || config_.Bool(key); }

  // Returns the results. Fails if they do not match the declared shape.
  Result<Value> Finish();
  // The error for a call with unsupported operands or results.
  Diag ShapeError() const;

 private:
  Call& call_;
  size_t main_;
  BackendConfig config_;
  bool ok_ = false;
  Dims batch_dims_;
  int64_t batch_ = 1;
  int rows_ = 0, columns_ = 0;
  std::vector<Array> results_;
};

// An error if the call's configuration lacks a key that every compiler writes: the dump omits configurations.
inline Status RequireConfig(const Call& call, std::string_view key) {
  if (ConfigOf(call).has(key)) return {};
  return ExecutionError(call.hlo, StrCat("backend_config lacks \"", key, "\"; if the dump omits configurations, use the module's protobuf"));
}

// Converts matrix `b` in the last two dimensions of an array to column-major order, or back.
template <class T>
std::vector<T> LoadMatrix(const Array& array, int64_t b) {
  const int64_t rows = array.dim(array.rank() - 2), columns = array.dim(array.rank() - 1);
  std::vector<T> matrix(static_cast<size_t>(rows * columns));
  TransposeMatrix(array.As<T>().data() + b * rows * columns, rows, columns, matrix.data());
  return matrix;
}

template <class T>
void StoreMatrix(const std::vector<T>& matrix, int64_t b, Array& array) {
  const int64_t rows = array.dim(array.rank() - 2), columns = array.dim(array.rank() - 1);
  TransposeMatrix(matrix.data(), columns, rows, array.Mutable<T>().data() + b * rows * columns);
}

// Vector `b` in the last dimension of an array.
template <class T>
std::span<const T> VectorAt(const Array& array, int64_t b) {
  const auto size = static_cast<size_t>(array.dims().back());
  return array.As<T>().subspan(static_cast<size_t>(b) * size, size);
}
template <class T>
std::span<T> MutableVectorAt(Array& array, int64_t b) {
  const auto size = static_cast<size_t>(array.dims().back());
  return array.Mutable<T>().subspan(static_cast<size_t>(b) * size, size);
}

// Calls run.operator()<T>(matrices), where T is the element type. `run` adds the results, or returns false on error.
template <class Run>
Result<Value> RunMatrices(Call& call, const Run& run, size_t main = 0) {
  MatrixCall matrices(call, main);
  if (!matrices.ok()) return matrices.ShapeError();
  bool is_valid = false;
  if (matrices.type() == ElementType::kF32) is_valid = run.template operator()<float>(matrices);
  if (matrices.type() == ElementType::kF64) is_valid = run.template operator()<double>(matrices);
  if (matrices.type() == ElementType::kC64) is_valid = run.template operator()<std::complex<float>>(matrices);
  if (matrices.type() == ElementType::kC128) is_valid = run.template operator()<std::complex<double>>(matrices);
  if (!is_valid) return matrices.ShapeError();
  return matrices.Finish();
}

}  // namespace shoal::internal
