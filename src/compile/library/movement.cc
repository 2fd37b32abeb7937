// Ops that move boxes of elements: concatenate, pad, dynamic-slice, dynamic-update-slice. Each is a few strided copies,
// which the pool splits among threads.
#include <algorithm>

#include "compile/library/rows.h"
#include "core/ops/index_ops.h"
#include "kernels/arrays/parallel_copy.h"

namespace shoal::internal {
namespace {

Status Concatenate(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const auto along = static_cast<size_t>(hlo[kDimensions][0]);
  std::byte* out = results[0].mutable_data();
  Strided to{0, RowMajorStrides(results[0].dims())};
  for (const Array& operand : operands) {
    ParallelCopy(operand.dims(), operand.element_bytes(), out, to, operand.data(), {0, RowMajorStrides(operand.dims())},
                 pool);
    to.offset += operand.dims()[along] * to.strides[along];
  }
  return {};
}

// The offset of a slice of `sizes`. Its start indices are in operands[first…], one per operand or all in one array, and
// are clamped so that the slice is inside `dims`.
int64_t ClampedOffset(std::span<const Array> operands, size_t first, Ints dims, Ints sizes) {
  const Dims strides = RowMajorStrides(dims);
  const bool in_one_array = operands.size() == first + 1 && operands[first].rank() == 1;
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const Array& indices = operands[in_one_array ? first : first + d];
    int64_t index = IntAt(indices, in_one_array ? static_cast<int64_t>(d) : 0);
    if (indices.type() == ElementType::kU64 && index < 0) index = INT64_MAX;  // beyond every dimension
    offset += std::clamp<int64_t>(index, 0, dims[d] - sizes[d]) * strides[d];
  }
  return offset;
}

Status DynamicSlice(const Instruction&, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const Ints dims = operands[0].dims(), sizes = results[0].dims();
  ParallelCopy(sizes, operands[0].element_bytes(), results[0].mutable_data(), {0, RowMajorStrides(sizes)},
               operands[0].data(), {ClampedOffset(operands, 1, dims, sizes), RowMajorStrides(dims)}, pool);
  return {};
}

// The result already holds the elements of the operand.
Status DynamicUpdateSlice(const Instruction&, std::span<const Array> operands, std::span<Array> results,
                          ThreadPool& pool) {
  const Ints dims = results[0].dims(), sizes = operands[1].dims();
  ParallelCopy(sizes, results[0].element_bytes(), results[0].mutable_data(),
               {ClampedOffset(operands, 2, dims, sizes), RowMajorStrides(dims)}, operands[1].data(),
               {0, RowMajorStrides(sizes)}, pool);
  return {};
}

// Writes each row of a padded array once: low padding, elements of the operand, high padding.
template <class T>
class PaddedRows {
 public:
  PaddedRows(std::span<const PaddingDim> padding, const Array& operand, const Array& value, Array& result)
      : padding_(padding),
        in_dims_(operand.dims()),
        out_dims_(result.dims()),
        in_strides_(RowMajorStrides(operand.dims())),
        in_(operand.As<T>().data()),
        out_(result.Mutable<T>().data()),
        value_(value.As<T>()[0]) {}

  int64_t rows() const { return ElementCount(out_dims_.first(out_dims_.size() - 1)); }

  void Write(int64_t row) const {
    const size_t last = out_dims_.size() - 1;
    T* out = out_ + row * out_dims_[last];
    int64_t rest = row, from = 0;
    for (size_t d = last; d-- > 0;) {
      const int64_t element = ElementAt(d, rest % out_dims_[d]);
      if (element < 0) return void(std::fill_n(out, out_dims_[last], value_));
      from += element * in_strides_[d];
      rest /= out_dims_[d];
    }
    WriteRow(padding_[last], in_ + from, in_dims_[last], out, out_dims_[last]);
  }

 private:
  // The index in the operand of element `index` of the result in dimension `d`; -1 in the padding.
  int64_t ElementAt(size_t d, int64_t index) const {
    const int64_t at = index - padding_[d].low, step = padding_[d].interior + 1;
    return at < 0 || at % step != 0 || at / step >= in_dims_[d] ? -1 : at / step;
  }

  void WriteRow(const PaddingDim& padding, const T* in, int64_t in_size, T* out, int64_t out_size) const {
    const int64_t step = padding.interior + 1, low = padding.low;
    const int64_t first = low >= 0 ? 0 : (-low + step - 1) / step;
    const int64_t available = out_size - low;
    const int64_t end = std::max(first, available <= 0 ? 0 : std::min(in_size, (available + step - 1) / step));
    if (step == 1) {
      const int64_t begin = std::clamp<int64_t>(low, 0, out_size);
      T* after = std::copy(in + first, in + end, std::fill_n(out, begin, value_));
      std::fill(after, out + out_size, value_);
      return;
    }
    std::fill_n(out, out_size, value_);
    for (int64_t i = first; i < end; ++i) out[low + i * step] = in[i];
  }

  std::span<const PaddingDim> padding_;
  Ints in_dims_, out_dims_;
  Dims in_strides_;
  const T* in_;
  T* out_;
  T value_;
};

template <class T>
void PadAs(const Instruction& hlo, std::span<const Array> operands, Array& result, ThreadPool& pool) {
  const PaddedRows<T> padded(PaddingOf(hlo), operands[0], operands[1], result);
  const int64_t size = std::max<int64_t>(1, result.dims().back());
  ForBlocks(pool, padded.rows(), std::max<int64_t>(1, (1 << 15) / size), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) padded.Write(row);
  });
}

Status Pad(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  switch (operands[0].element_bytes()) {
    case 1:
      PadAs<uint8_t>(hlo, operands, results[0], pool);
      break;
    case 2:
      PadAs<uint16_t>(hlo, operands, results[0], pool);
      break;
    case 4:
      PadAs<uint32_t>(hlo, operands, results[0], pool);
      break;
    default:
      PadAs<uint64_t>(hlo, operands, results[0], pool);
  }
  return {};
}

bool IsOneType(const Instruction& hlo, size_t operands) {
  for (size_t i = 0; i < operands; ++i)
    if (hlo.operand_shape(i).element_type() != hlo.shape().element_type()) return false;
  return !hlo.shape().has_dynamic() && hlo.shape().ElementCount().value_or(0) > 0;
}

}  // namespace

LibraryFunction ConcatenateFunction(const Instruction& hlo) {
  return IsOneType(hlo, hlo.operand_count()) ? &Concatenate : nullptr;
}

LibraryFunction PadFunction(const Instruction& hlo) {
  if (!IsOneType(hlo, 2) || hlo.shape().rank() == 0 || hlo.operand_shape(1).rank() != 0) return nullptr;
  if (hlo.operand_shape(0).ElementCount().value_or(0) <= 0) return nullptr;
  constexpr int64_t kMax = int64_t{1} << 40;  // with larger padding, offsets could overflow
  for (const PaddingDim& dim : PaddingOf(hlo))
    if (std::max(dim.low, dim.high) > kMax || std::min(dim.low, dim.high) < -kMax || dim.interior > kMax) return nullptr;
  return StorageBytes(hlo.shape().element_type()) <= 8 ? &Pad : nullptr;
}

LibraryFunction DynamicSliceFunction(const Instruction& hlo) {
  return IsOneType(hlo, 1) && hlo.shape().rank() > 0 ? &DynamicSlice : nullptr;
}

LibraryFunction DynamicUpdateSliceFunction(const Instruction& hlo) {
  if (!IsOneType(hlo, 2) || hlo.shape().rank() == 0 || hlo.operand_shape(1).ElementCount().value_or(0) <= 0) return nullptr;
  return &DynamicUpdateSlice;
}

}  // namespace shoal::internal
