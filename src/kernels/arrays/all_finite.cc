#include "kernels/arrays/all_finite.h"

#include <atomic>

namespace shoal::internal {
namespace {

// All bits of the exponent are set in NaN and infinities only.
template <class Bits>
bool HaveExponentsBelow(Bits mask, const Array& array, ThreadPool& pool) {
  constexpr int64_t kBlock = 1 << 16;
  const auto* values = reinterpret_cast<const Bits*>(array.data());
  std::atomic<bool> finite{true};
  ForBlocks(pool, array.count(), kBlock, [&](int64_t begin, int64_t end) {
    if (!finite.load(std::memory_order_relaxed)) return;
    Bits found = 0;
    for (int64_t i = begin; i < end; ++i) found |= static_cast<Bits>((values[i] & mask) == mask);
    if (found != 0) finite.store(false, std::memory_order_relaxed);
  });
  return finite.load();
}

}  // namespace

bool AreAllFinite(const Array& array, ThreadPool& pool) {
  switch (array.type()) {
    case ElementType::kF64: return HaveExponentsBelow<uint64_t>(0x7FF0'0000'0000'0000, array, pool);
    case ElementType::kF32: return HaveExponentsBelow<uint32_t>(0x7F80'0000, array, pool);
    case ElementType::kBf16: return HaveExponentsBelow<uint16_t>(0x7F80, array, pool);
    case ElementType::kF16: return HaveExponentsBelow<uint16_t>(0x7C00, array, pool);
    default: return !IsFloat(array.type()) && !IsComplex(array.type());
  }
}

}  // namespace shoal::internal
