// dynamic-slice and dynamic-update-slice, whose start indices are data.
#include <algorithm>

#include "execute/interp/evaluate.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

// Start of a slice of `sizes`, clamped to `dims`. Its indices are operand `first`, or one operand each from `first` on.
Dims ClampedStart(const Call& call, size_t first, Ints dims, Ints sizes) {
  Dims start;
  const bool in_one_array = call.operands.size() == first + 1 && call.array(first).rank() == 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    const Array& indices = call.array(in_one_array ? first : first + d);
    int64_t index = IntAt(indices, in_one_array ? static_cast<int64_t>(d) : 0);
    if (indices.type() == ElementType::kU64 && index < 0) index = INT64_MAX;  // as u64, out of range in every dimension
    start.push_back(std::clamp<int64_t>(index, 0, std::max<int64_t>(0, dims[d] - sizes[d])));
  }
  return start;
}

int64_t Offset(const Dims& start, const Dims& strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < start.size(); ++d) offset += start[d] * strides[d];
  return offset;
}

}  // namespace

template <>
Result<Value> Evaluate<Opcode::kDynamicSlice>(Call& call) {
  const Array& operand = call.array(0);
  Dims sizes = ToDims(call.hlo[Op<Opcode::kDynamicSlice>::kSizes]);
  for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = std::min(sizes[d], operand.dims()[d]);
  const Dims start = ClampedStart(call, 1, operand.dims(), AsInts(sizes));
  const Dims strides = RowMajorStrides(operand.dims());
  return Value(Gathered(operand, std::move(sizes), {Offset(start, strides), strides}));
}

template <>
Result<Value> Evaluate<Opcode::kDynamicUpdateSlice>(Call& call) {
  const Array& update = call.array(1);
  Dims sizes = ToDims(update.dims());
  for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = std::min(sizes[d], call.array(0).dims()[d]);
  const Dims start = ClampedStart(call, 2, call.array(0).dims(), AsInts(sizes));
  Array out = std::move(call.operands[0].array());  // written in place if there is no other owner
  const Dims strides = RowMajorStrides(out.dims());
  CopyStrided(AsInts(sizes), out.element_bytes(), out.mutable_data(), {Offset(start, strides), strides}, update.data(),
              {0, RowMajorStrides(update.dims())});
  return Value(std::move(out));
}

}  // namespace shoal::internal
