// Maps elements to unsigned integers that have the same order. They are faster to compare and serve all types.
#pragma once

#include <vector>

#include "kernels/arrays/array.h"

namespace shoal::internal {

// kTotal: -nan < -inf < … < -0 < 0 < … < inf < nan. kNanLast: zeros are equal; NaNs are equal and come last.
enum class FloatOrder : uint8_t { kTotal, kNanLast };

// keys[i] < keys[j] if and only if array[i] < array[j]. Complex types have no order.
std::vector<uint64_t> OrderKeys(const Array& array, FloatOrder order);

}  // namespace shoal::internal
