#include "kernels/linalg/attention_heads.h"

#include "kernels/arrays/strided.h"

namespace shoal::internal {

Array RepeatHeads(const Array& array, int64_t dim, int64_t heads) {
  Dims sizes = ToDims(array.dims()), repeated = ToDims(array.dims());
  Strided from{0, RowMajorStrides(array.dims())};
  sizes.insert(sizes.begin() + dim + 1, heads / array.dim(dim));
  from.strides.insert(from.strides.begin() + dim + 1, 0);
  repeated[static_cast<size_t>(dim)] = heads;
  return Gathered(array, std::move(sizes), from).WithDims(std::move(repeated));
}

Array SumHeads(const Array& gradient, int64_t heads) {
  if (gradient.rank() < 2 || heads == 0 || gradient.dim(1) == heads || gradient.dim(1) % heads != 0) return gradient;
  const int64_t group = gradient.dim(1) / heads;
  Dims sizes = ToDims(gradient.dims());
  sizes[1] = heads;
  Array sums = Array::Zeros(ElementType::kF32, AsInts(sizes));
  if (sums.count() == 0) return sums;
  const int64_t head_size = sums.count() / (sums.dim(0) * heads);
  const float* in = gradient.As<float>().data();
  float* out = sums.Mutable<float>().data();
  for (int64_t head = 0; head < sums.dim(0) * heads; ++head, out += head_size)
    for (int64_t i = 0; i < group; ++i)
      for (int64_t j = 0; j < head_size; ++j) out[j] += *in++;
  return sums;
}

}  // namespace shoal::internal
