#include "kernels/algorithms/topk.h"

#include <algorithm>
#include <numeric>

#include "kernels/algorithms/sort_keys.h"
#include "kernels/arrays/indexed.h"

namespace shoal::internal {

TopKParts TopK(const Array& operand, int64_t k, bool largest) {
  Dims dims = ToDims(operand.dims());
  const int64_t row = dims.back();
  dims.back() = k;
  TopKParts parts{Array(operand.type(), dims), Array(ElementType::kS32, dims)};
  if (parts.values.count() == 0) return parts;

  std::vector<uint64_t> keys = OrderKeys(operand, FloatOrder::kTotal);
  if (largest)
    for (uint64_t& key : keys) key = ~key;
  std::vector<int64_t> order(static_cast<size_t>(row));
  for (int64_t r = 0; r * row < operand.count(); ++r) {
    const uint64_t* row_keys = keys.data() + r * row;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [row_keys](int64_t a, int64_t b) {
      return row_keys[a] != row_keys[b] ? row_keys[a] < row_keys[b] : a < b;
    });
    const int width = operand.element_bytes();
    GatherElements(width, parts.values.mutable_data() + r * k * width, operand.data() + r * row * width, order.data(), k);
    std::copy_n(order.begin(), k, parts.indices.Mutable<int32_t>().begin() + r * k);
  }
  return parts;
}

}  // namespace shoal::internal
