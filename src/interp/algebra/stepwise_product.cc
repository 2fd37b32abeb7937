#include "interp/algebra/product.h"
#include "kernels/floats.h"
#include "kernels/strided.h"

namespace shoal {
namespace {

// The operand as [batch…, free…, contracting…].
struct Rows {
  Array array;
  Dims batch, free;  // sizes
  int64_t count = 1, length = 1;
};

Rows RowsOf(const Array& operand, Ints batch, Ints contracting) {
  Rows rows;
  std::vector<bool> is_free(static_cast<size_t>(operand.rank()), true);
  for (int64_t d : batch) {
    is_free[static_cast<size_t>(d)] = false;
    rows.batch.push_back(operand.dim(d));
  }
  for (int64_t d : contracting) {
    is_free[static_cast<size_t>(d)] = false;
    rows.length *= operand.dim(d);
  }
  Dims order = ToDims(batch);
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (!is_free[static_cast<size_t>(d)]) continue;
    order.push_back(d);
    rows.free.push_back(operand.dim(d));
  }
  rows.count = ElementCount(AsInts(rows.free));
  order.insert(order.end(), contracting.begin(), contracting.end());
  rows.array = Transposed(operand, AsInts(order));
  return rows;
}

uint16_t StepwiseSum(const uint16_t* a, const uint16_t* b, int64_t n) {
  uint16_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum = ToBf16(FromBf16(sum) + FromBf16(ToBf16(FromBf16(a[i]) * FromBf16(b[i]))));
  return sum;
}

}  // namespace

Array StepwiseProduct(const Array& lhs, const Array& rhs, const ProductDims& dims) {
  const Rows a = RowsOf(lhs, dims.lhs_batch, dims.lhs_contracting);
  const Rows b = RowsOf(rhs, dims.rhs_batch, dims.rhs_contracting);
  Dims sizes = a.batch;
  sizes.insert(sizes.end(), a.free.begin(), a.free.end());
  sizes.insert(sizes.end(), b.free.begin(), b.free.end());
  Array result(ElementType::kBf16, std::move(sizes));
  auto* out = reinterpret_cast<uint16_t*>(result.mutable_data());
  const auto* left = reinterpret_cast<const uint16_t*>(a.array.data());
  const auto* right = reinterpret_cast<const uint16_t*>(b.array.data());
  for (int64_t batch = 0; batch < ElementCount(AsInts(a.batch)); ++batch)
    for (int64_t i = 0; i < a.count; ++i)
      for (int64_t j = 0; j < b.count; ++j)
        *out++ =
            StepwiseSum(left + (batch * a.count + i) * a.length, right + (batch * b.count + j) * b.length, a.length);
  return result;
}

}  // namespace shoal
