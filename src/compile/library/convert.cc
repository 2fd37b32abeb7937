// Converts whole arrays on the thread pool: for types without fused loops, and to widen operands of contractions.
#include <array>
#include <numeric>

#include "compile/library/rows.h"
#include "kernels/arrays/floats.h"
#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {

static bool IsByteFloat(ElementType type) { return IsFloat(type) && BitWidth(type) <= 8; }

// One-byte floats have 256 values. Converts each of them once into a table.
template <class T>
static void ConvertByTable(const ElementLoop& kernel, const Array& from, std::byte* out, ThreadPool& pool) {
  std::array<uint8_t, 256> bytes;
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  std::array<T, 256> table;
  const auto* in = reinterpret_cast<const std::byte*>(bytes.data());
  kernel.Run(reinterpret_cast<std::byte*>(table.data()), &in, 256);
  ForBlocks(pool, from.count(), 1 << 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) reinterpret_cast<T*>(out)[i] = table[std::to_integer<uint8_t>(from.data()[i])];
  });
}

void ConvertOnPool(const Array& from, Array& to, ThreadPool& pool) {
  const ElementLoop kernel = ElementLoopForConvert(from.type(), to.type());
  if (IsByteFloat(from.type()) && from.count() > 256) {
    if (to.element_bytes() == 4) return ConvertByTable<uint32_t>(kernel, from, to.mutable_data(), pool);
    if (to.element_bytes() == 2) return ConvertByTable<uint16_t>(kernel, from, to.mutable_data(), pool);
    if (to.element_bytes() == 1) return ConvertByTable<uint8_t>(kernel, from, to.mutable_data(), pool);
  }
  std::byte* out = to.mutable_data();
  ForBlocks(pool, from.count(), 1 << 14, [&](int64_t begin, int64_t end) {
    const std::byte* in = from.data() + begin * from.element_bytes();
    kernel.Run(out + begin * to.element_bytes(), &in, end - begin);
  });
}

Array Widened(const Array& array, ThreadPool& pool, ElementType type) {
  if (array.type() == type) return array;
  Array wide(type, array.dims());
  ConvertOnPool(array, wide, pool);
  return wide;
}

static Status Convert(const Instruction&, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  ConvertOnPool(operands[0], results[0], pool);
  return {};
}

LibraryFunction ConvertFunction(const Instruction& hlo) {
  const ElementType from = hlo.operand_shape(0).element_type(), to = hlo.shape().element_type();
  if (!IsByteFloat(from) && !IsByteFloat(to)) return nullptr;
  if (hlo.shape().has_dynamic() || hlo.operand_shape(0).has_dynamic()) return nullptr;
  return &Convert;
}

}  // namespace shoal::internal
