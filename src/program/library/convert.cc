// convert of whole arrays, on the pool: what no fused loop computes with, and what products and convolutions want widened.
#include "kernels/elementwise/element_loops.h"
#include "kernels/floats.h"
#include "program/library/rows.h"

namespace shoal {

void ConvertOnPool(const Array& from, Array& to, ThreadPool& pool) {
  const Kernel kernel = ConvertKernel(from.type(), to.type());
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
  auto is_byte_float = [](ElementType type) { return IsFloat(type) && BitWidth(type) <= 8; };
  if (!is_byte_float(from) && !is_byte_float(to)) return nullptr;
  if (hlo.shape().has_dynamic() || hlo.operand_shape(0).has_dynamic()) return nullptr;
  return &Convert;
}

}  // namespace shoal
