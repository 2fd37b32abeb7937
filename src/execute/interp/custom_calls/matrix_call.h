// A custom call on the matrices in the last two dimensions of its operands: what LAPACK, cuSOLVER and XLA's own
// decompositions have in common. LAPACK's matrices are column-major.
#pragma once

#include <algorithm>
#include <complex>
#include <initializer_list>

#include "core/ops/backend_config.h"
#include "execute/interp/custom_calls/custom_call.h"
#include "kernels/arrays/transpose_square.h"

namespace shoal::internal {

// Of LAPACK's info: what came of a factorization.
inline constexpr ElementType kInfo = ElementType::kS32;

class MatrixCall {
 public:
  // The matrices are those of operand `main`.
  explicit MatrixCall(Call& call, size_t main = 0);

  // Its operand holds matrices that LAPACK could take: of its types, with sizes that are ints.
  bool ok() const { return ok_; }
  const BackendConfig& config() const { return config_; }
  int64_t batch() const { return batch_; }  // how many matrices
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int least() const { return std::min(rows_, columns_); }
  ElementType type() const { return call_.array(main_).type(); }
  ElementType real_type() const;
  ElementType complex_type() const;
  const Array& operand(size_t i) const { return call_.array(i); }

  // Size of operand i's last dimension, or of one before; zero if it has none.
  int LastOf(size_t i, int before = 0) const;
  // Whether operand i has this type, and these dimensions behind those of the batch.
  bool Has(size_t i, ElementType type, std::initializer_list<int64_t> dims) const;
  // Adds a result of zeros with these dimensions behind those of the batch.
  Array& Add(ElementType type, std::initializer_list<int64_t> dims);
  // Adds zeros of the shape that is declared for this result: what the call leaves undefined.
  void AddUndefined();

  // What the call says with uplo = 76 ('L') or lower = true.
  bool Lower() const { return config_.has("uplo") ? config_.Int("uplo") == 'L' : config_.Bool("lower", true); }
  // Whether it says key = 86 ('V') or key = true.
  bool HasFlag(std::string_view key) const { return config_.Int(key) == 'V' || config_.Bool(key); }

  // The results, if they are what the instruction declares.
  Result<Value> Finish();
  // What is wrong with a call whose operands cannot be understood.
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

// Matrix `b` of an array's last two dimensions, column-major, and back.
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

// Vector `b` of an array's last dimension.
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

// run.operator()<T>(matrices) for the T of their elements; it adds the results and says whether the operands made
// sense.
template <class Run>
Result<Value> RunMatrices(Call& call, const Run& run, size_t main = 0) {
  MatrixCall matrices(call, main);
  if (!matrices.ok()) return matrices.ShapeError();
  bool done = false;
  if (matrices.type() == ElementType::kF32) done = run.template operator()<float>(matrices);
  if (matrices.type() == ElementType::kF64) done = run.template operator()<double>(matrices);
  if (matrices.type() == ElementType::kC64) done = run.template operator()<std::complex<float>>(matrices);
  if (matrices.type() == ElementType::kC128) done = run.template operator()<std::complex<double>>(matrices);
  if (!done) return matrices.ShapeError();
  return matrices.Finish();
}

}  // namespace shoal::internal
