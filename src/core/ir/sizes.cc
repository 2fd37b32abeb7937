#include "core/ir/sizes.h"

#include <algorithm>

namespace shoal::internal {

int64_t SaturatingProduct(Ints factors) {
  if (std::find(factors.begin(), factors.end(), 0) != factors.end()) return 0;
  int64_t product = 1;
  for (int64_t factor : factors) product = SaturatingMul(product, factor);
  return product;
}

int64_t ElementCountOf(const Shape& shape) { return shape.ElementCount().value_or(kSizeOverflow); }

int64_t HostBytesOf(const Shape& shape) {
  if (shape.IsArray()) return SaturatingMul(ElementCountOf(shape), StorageBytes(shape.element_type()));
  int64_t bytes = 0;
  for (const Shape* element : shape.elements()) bytes = SaturatingAdd(bytes, HostBytesOf(*element));
  return bytes;
}

}  // namespace shoal::internal
