#include "kernels/arrays/slice_offsets.h"

#include <algorithm>

namespace shoal::internal {

static bool AreOffsetsOfOneSlice(const Value& offsets, int64_t rank) {
  if (!offsets.IsTuple() || std::ssize(offsets.elements()) != rank) return false;
  return std::ranges::all_of(offsets.elements(), [](const Value& start) {
    return start.IsArray() && start.array().count() == 1 && IsInteger(start.array().type());
  });
}

bool AreSliceOffsets(const Value& offsets, int64_t rank) {
  if (!offsets.IsTuple()) return false;
  const std::vector<Value>& elements = offsets.elements();
  if (elements.empty() || !elements[0].IsTuple()) return AreOffsetsOfOneSlice(offsets, rank);
  return std::ranges::all_of(elements, [&](const Value& slice) { return AreOffsetsOfOneSlice(slice, rank); });
}

Strided SliceBox(const Array& array, Ints sizes, const Value& offsets, int64_t slice) {
  const Value* starts = &offsets;
  if (!offsets.elements().empty() && offsets.element(0).IsTuple())
    starts = &offsets.element(std::min(slice, std::ssize(offsets.elements()) - 1));
  Strided box{0, RowMajorStrides(array.dims())};
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t start = IntAt(starts->element(static_cast<int64_t>(d)).array(), 0);
    box.offset += std::clamp<int64_t>(start, 0, array.dims()[d] - sizes[d]) * box.strides[d];
  }
  return box;
}

}  // namespace shoal::internal
