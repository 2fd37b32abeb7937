// The order of elements as the order of unsigned integers, which is quicker to compare and the same for all types.
#pragma once

#include <vector>

#include "kernels/arrays/array.h"

namespace shoal::internal {

// kTotal: -nan < -inf < … < -0 < 0 < … < inf < nan. kNanLast: zeros are equal and nans, all equal, come last.
enum class FloatOrder : uint8_t { kTotal, kNanLast };

// keys[i] < keys[j] exactly if array[i] < array[j]. Complex types have no order.
std::vector<uint64_t> OrderKeys(const Array& array, FloatOrder order);

}  // namespace shoal::internal
