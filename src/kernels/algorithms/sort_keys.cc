#include "kernels/algorithms/sort_keys.h"

#include <bit>
#include <cmath>

#include "kernels/arrays/floats.h"

namespace shoal::internal {
namespace {

// The key of a negative number is the complement of its bits. Other numbers have the sign bit set, so they come later.
template <class Bits, class Float>
uint64_t FloatKey(Float value, FloatOrder order) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  if (order == FloatOrder::kNanLast) {
    if (std::isnan(value)) return UINT64_MAX;
    if (value == 0) value = 0;
  }
  const Bits bits = std::bit_cast<Bits>(value);
  return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : bits | kSign;
}

}  // namespace

std::vector<uint64_t> OrderKeys(const Array& array, FloatOrder order) {
  std::vector<uint64_t> keys(static_cast<size_t>(array.count()));
  if (array.type() == ElementType::kF64) {
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = FloatKey<uint64_t>(array.As<double>()[i], order);
  } else if (IsFloat(array.type())) {
    std::vector<float> decoded(keys.size());
    DecodeFloats(array.type(), array.data(), decoded.data(), array.count());
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = FloatKey<uint32_t>(decoded[i], order);
  } else {
    const uint64_t sign = IsSigned(array.type()) ? uint64_t{1} << 63 : 0;
    for (size_t i = 0; i < keys.size(); ++i)
      keys[i] = static_cast<uint64_t>(IntAt(array, static_cast<int64_t>(i))) ^ sign;
  }
  return keys;
}

}  // namespace shoal::internal
