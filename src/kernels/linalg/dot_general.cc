#include "kernels/linalg/dot_general.h"

#include <algorithm>
#include <optional>

#include "kernels/arrays/floats.h"
#include "kernels/arrays/strided.h"
#include "kernels/elementwise/element_loops.h"
#include "kernels/linalg/gemm.h"
#include "kernels/linalg/rounding_gemm.h"

namespace shoal::internal {
namespace {

// An operand as a batch of matrices. The array is not copied if BLAS can read it in place.
struct DotOperand {
  Array array;
  Dims batch_sizes, batch_strides;
  int64_t free = 1, contracting = 1;  // sizes
  int64_t free_stride = 1, contracting_stride = 1;
};

Dims FreeDims(const Array& array, Ints batch, Ints contracting) {
  Dims free;
  for (int64_t d = 0; d < array.rank(); ++d)
    if (!Contains(batch, d) && !Contains(contracting, d)) free.push_back(d);
  return free;
}

int64_t SizeOf(const Array& array, Ints dims) {
  int64_t size = 1;
  for (int64_t d : dims) size *= array.dim(d);
  return size;
}

// The stride of the dimensions merged into one; nothing if they are not contiguous in memory.
std::optional<int64_t> MergedStride(const Array& array, Ints dims) {
  const Dims strides = RowMajorStrides(array.dims());
  std::optional<int64_t> stride;
  int64_t size = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (array.dim(dims[i]) == 1) continue;
    const int64_t next = strides[static_cast<size_t>(dims[i])];
    if (stride && next != *stride * size) return std::nullopt;
    if (!stride) stride = next;
    size *= array.dim(dims[i]);
  }
  return stride.value_or(1);
}

DotOperand MakeOperand(const Array& array, Ints batch, Ints contracting) {
  const Dims free = FreeDims(array, batch, contracting);
  DotOperand operand;
  operand.array = array;
  operand.free = SizeOf(array, AsInts(free));
  operand.contracting = SizeOf(array, contracting);
  const Dims strides = RowMajorStrides(array.dims());
  for (int64_t d : batch) {
    operand.batch_sizes.push_back(array.dim(d));
    operand.batch_strides.push_back(strides[static_cast<size_t>(d)]);
  }
  const auto free_stride = MergedStride(array, AsInts(free)), contracting_stride = MergedStride(array, contracting);
  if (free_stride && contracting_stride &&
      (*free_stride == 1 || *contracting_stride == 1 || operand.free == 1 || operand.contracting == 1)) {
    operand.free_stride = *free_stride;
    operand.contracting_stride = *contracting_stride;
    return operand;
  }
  Dims order = ToDims(batch);
  order.insert(order.end(), free.begin(), free.end());
  order.insert(order.end(), contracting.begin(), contracting.end());
  operand.array = Transposed(array, AsInts(order));
  const Dims packed = RowMajorStrides(operand.array.dims());
  operand.batch_strides.assign(packed.begin(), packed.begin() + static_cast<ptrdiff_t>(batch.size()));
  operand.free_stride = operand.contracting;
  return operand;
}

// Calls f(lhs offset, rhs offset) for every index of the batch, in order.
template <class F>
void ForEachBatch(const DotOperand& lhs, const DotOperand& rhs, F f) {
  const int64_t count = ElementCount(AsInts(lhs.batch_sizes));
  Dims index(lhs.batch_sizes.size(), 0);
  int64_t lhs_offset = 0, rhs_offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    f(lhs_offset, rhs_offset);
    for (size_t d = index.size(); d-- > 0;) {
      lhs_offset += lhs.batch_strides[d];
      rhs_offset += rhs.batch_strides[d];
      if (++index[d] < lhs.batch_sizes[d]) break;
      index[d] = 0;
      lhs_offset -= lhs.batch_strides[d] * lhs.batch_sizes[d];
      rhs_offset -= rhs.batch_strides[d] * lhs.batch_sizes[d];
    }
  }
}

template <class T>
void Multiply(const DotOperand& lhs, const DotOperand& rhs, std::byte* out) {
  T* c = reinterpret_cast<T*>(out);
  const T* a = reinterpret_cast<const T*>(lhs.array.data());
  const T* b = reinterpret_cast<const T*>(rhs.array.data());
  ForEachBatch(lhs, rhs, [&](int64_t lhs_offset, int64_t rhs_offset) {
    Gemm<T>(lhs.free, rhs.free, lhs.contracting, {a + lhs_offset, lhs.free_stride, lhs.contracting_stride},
            {b + rhs_offset, rhs.contracting_stride, rhs.free_stride}, c, rhs.free, false);
    c += lhs.free * rhs.free;
  });
}

// A block of an operand's matrix as f32: in place if the operand is f32, else decoded into `scratch`.
MatrixView<float> DecodedBlock(const DotOperand& operand, int64_t offset, int64_t free, int64_t free_count,
                               int64_t contracting, int64_t contracting_count, std::vector<float>& scratch) {
  const int64_t start = offset + free * operand.free_stride + contracting * operand.contracting_stride;
  const std::byte* data = operand.array.data() + start * operand.array.element_bytes();
  if (operand.array.type() == ElementType::kF32)
    return {reinterpret_cast<const float*>(data), operand.free_stride, operand.contracting_stride};
  scratch.resize(static_cast<size_t>(free_count * contracting_count));
  // Rows of the block run along the dimension that is contiguous in memory.
  const bool along_contracting = operand.contracting_stride == 1 || operand.free == 1;
  const int64_t rows = along_contracting ? free_count : contracting_count;
  const int64_t length = along_contracting ? contracting_count : free_count;
  const int64_t row_stride = along_contracting ? operand.free_stride : operand.contracting_stride;
  const int64_t stride = along_contracting ? operand.contracting_stride : operand.free_stride;
  for (int64_t r = 0; r < rows; ++r) {
    float* row = scratch.data() + r * length;
    const std::byte* from = data + r * row_stride * operand.array.element_bytes();
    if (stride == 1) {
      DecodeFloats(operand.array.type(), from, row, length);
    } else {
      for (int64_t i = 0; i < length; ++i)
        DecodeFloats(operand.array.type(), from + i * stride * operand.array.element_bytes(), row + i, 1);
    }
  }
  return along_contracting ? MatrixView<float>{scratch.data(), length, 1}
                           : MatrixView<float>{scratch.data(), 1, length};
}

// Decodes floats narrower than f32 block by block, to avoid a wide copy of a whole operand.
void MultiplyDecoded(const DotOperand& lhs, const DotOperand& rhs, std::byte* out) {
  constexpr int64_t kRows = 1024, kColumns = 4096, kDepth = 512;
  auto* c = reinterpret_cast<float*>(out);
  std::vector<float> a_scratch, b_scratch;
  ForEachBatch(lhs, rhs, [&](int64_t lhs_offset, int64_t rhs_offset) {
    if (lhs.contracting == 0) std::fill_n(c, lhs.free * rhs.free, 0.0f);
    for (int64_t j = 0; j < rhs.free; j += kColumns) {
      const int64_t columns = std::min(kColumns, rhs.free - j);
      for (int64_t p = 0; p < lhs.contracting; p += kDepth) {
        const int64_t depth = std::min(kDepth, lhs.contracting - p);
        const MatrixView<float> b = DecodedBlock(rhs, rhs_offset, j, columns, p, depth, b_scratch);
        for (int64_t i = 0; i < lhs.free; i += kRows) {
          const int64_t rows = std::min(kRows, lhs.free - i);
          const MatrixView<float> a = DecodedBlock(lhs, lhs_offset, i, rows, p, depth, a_scratch);
          Gemm<float>(rows, columns, depth, a, {b.data, b.column, b.row}, c + i * rhs.free + j, rhs.free, p != 0);
        }
      }
    }
    c += lhs.free * rhs.free;
  });
}

void MultiplyAs(ElementType type, const DotOperand& lhs, const DotOperand& rhs, std::byte* out) {
  switch (type) {
    case ElementType::kF32:
      return lhs.array.type() == type && rhs.array.type() == type ? Multiply<float>(lhs, rhs, out)
                                                                  : MultiplyDecoded(lhs, rhs, out);
    case ElementType::kF64:
      return Multiply<double>(lhs, rhs, out);
    case ElementType::kC64:
      return Multiply<std::complex<float>>(lhs, rhs, out);
    case ElementType::kC128:
      return Multiply<std::complex<double>>(lhs, rhs, out);
    case ElementType::kPred:
      return Multiply<bool>(lhs, rhs, out);
    default:
      break;
  }
  switch (StorageBytes(type)) {
    case 1:
      return Multiply<uint8_t>(lhs, rhs, out);
    case 2:
      return Multiply<uint16_t>(lhs, rhs, out);
    case 4:
      return Multiply<uint32_t>(lhs, rhs, out);
    default:
      return Multiply<uint64_t>(lhs, rhs, out);
  }
}

// Multiplies matrices of bf16, rounding every product and every sum.
void MultiplyRoundingEachStep(const DotOperand& lhs, const DotOperand& rhs, uint16_t* out) {
  const uint16_t* a = lhs.array.As<uint16_t>().data();
  const uint16_t* b = rhs.array.As<uint16_t>().data();
  ForEachBatch(lhs, rhs, [&](int64_t lhs_offset, int64_t rhs_offset) {
    GemmRoundingEachStep(lhs.free, rhs.free, lhs.contracting, {a + lhs_offset, lhs.free_stride, lhs.contracting_stride},
                         {b + rhs_offset, rhs.contracting_stride, rhs.free_stride}, out);
    out += lhs.free * rhs.free;
  });
}

bool IsByteFloat(ElementType type) { return IsFloat(type) && BitWidth(type) <= 8; }

// The operand in the type of the sum. Narrow floats are not converted here but decoded block by block.
Array Prepared(const Array& array, ElementType sum, ElementType result) {
  // XLA considers any 8-bit float narrower than a different 8-bit float.
  if (IsByteFloat(array.type()) && IsByteFloat(result) && BitWidth(array.type()) == BitWidth(result) && array.type() != result)
    return Converted(array, result);
  if (array.type() == sum || (sum == ElementType::kF32 && IsNarrowFloat(array.type()))) return array;
  return Converted(array, sum);
}

// XLA converts to 8-bit floats through f16, which affects ties.
Array Rounded(const Array& sums, ElementType result) {
  if (sums.type() == result) return sums;
  const bool through_f16 = IsByteFloat(result) && sums.type() == ElementType::kF32;
  return Converted(through_f16 ? Converted(sums, ElementType::kF16) : sums, result);
}

// Paired dimensions have equal sizes unless one of them is dynamic. Elements that one operand lacks count as zero, so
// the other operand is trimmed to the smaller size.
Array Trimmed(const Array& array, Ints dims, const Array& other, Ints other_dims) {
  Dims sizes = ToDims(array.dims());
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t& size = sizes[static_cast<size_t>(dims[i])];
    size = std::min(size, other.dim(other_dims[i]));
  }
  if (std::equal(sizes.begin(), sizes.end(), array.dims().begin())) return array;
  return Gathered(array, std::move(sizes), {0, RowMajorStrides(array.dims())});
}

// The contracting dimensions in the order of the lhs, so that they may be merged there.
struct Pairs {
  Dims lhs, rhs;
};
Pairs SortedPairs(Ints lhs, Ints rhs) {
  absl::InlinedVector<std::pair<int64_t, int64_t>, 6> pairs;
  for (size_t i = 0; i < lhs.size(); ++i) pairs.emplace_back(lhs[i], rhs[i]);
  std::sort(pairs.begin(), pairs.end());
  Pairs sorted;
  for (const auto& [left, right] : pairs) {
    sorted.lhs.push_back(left);
    sorted.rhs.push_back(right);
  }
  return sorted;
}

// [batch, lhs free, rhs free]
Dims ResultDims(const Array& lhs, const Array& rhs, const ContractionDims& dims) {
  Dims sizes;
  for (int64_t d : dims.lhs_batch) sizes.push_back(lhs.dim(d));
  for (int64_t d : FreeDims(lhs, dims.lhs_batch, dims.lhs_contracting)) sizes.push_back(lhs.dim(d));
  for (int64_t d : FreeDims(rhs, dims.rhs_batch, dims.rhs_contracting)) sizes.push_back(rhs.dim(d));
  return sizes;
}

}  // namespace

ElementType SumType(ElementType lhs, ElementType rhs, ElementType result) {
  const ElementType all[] = {lhs, rhs, result};
  auto any = [&](auto is) { return std::any_of(std::begin(all), std::end(all), is); };
  const bool wide = any([](ElementType t) { return t == ElementType::kF64 || t == ElementType::kC128; });
  if (any(IsComplex)) return wide ? ElementType::kC128 : ElementType::kC64;
  if (any(IsFloat)) return wide ? ElementType::kF64 : ElementType::kF32;
  const ElementType type = result != ElementType::kPred ? result : lhs != ElementType::kPred ? lhs : rhs;
  if (BitWidth(type) >= 8 || type == ElementType::kPred) return type;
  return IsSigned(type) ? ElementType::kS8 : ElementType::kU8;
}

Array DotGeneral(const Array& lhs, const Array& rhs, const ContractionDims& dims, ElementType result) {
  const ElementType sum = SumType(lhs.type(), rhs.type(), result);
  const auto [lhs_contracting, rhs_contracting] = SortedPairs(dims.lhs_contracting, dims.rhs_contracting);
  Array a = Trimmed(lhs, AsInts(lhs_contracting), rhs, AsInts(rhs_contracting));
  Array b = Trimmed(rhs, AsInts(rhs_contracting), lhs, AsInts(lhs_contracting));
  a = Trimmed(a, dims.lhs_batch, b, dims.rhs_batch);
  b = Trimmed(b, dims.rhs_batch, a, dims.lhs_batch);
  Array out(sum, ResultDims(a, b, dims));
  MultiplyAs(sum, MakeOperand(Prepared(a, sum, result), dims.lhs_batch, AsInts(lhs_contracting)),
             MakeOperand(Prepared(b, sum, result), dims.rhs_batch, AsInts(rhs_contracting)), out.mutable_data());
  return Rounded(out, result);
}

Array DotRoundingEachStep(const Array& lhs, const Array& rhs, const ContractionDims& dims) {
  Array out(ElementType::kBf16, ResultDims(lhs, rhs, dims));
  MultiplyRoundingEachStep(MakeOperand(lhs, dims.lhs_batch, dims.lhs_contracting),
                           MakeOperand(rhs, dims.rhs_batch, dims.rhs_contracting), out.Mutable<uint16_t>().data());
  return out;
}

}  // namespace shoal::internal
