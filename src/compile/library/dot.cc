// Implements dot with GEMMs. The matrices are read directly from the operands if dimensions of the same kind can be
// merged. Narrow floats are widened first.
#include <algorithm>
#include <optional>

#include "compile/library/rows.h"
#include "core/ops/contraction.h"
#include "kernels/arrays/parallel_copy.h"
#include "kernels/linalg/panel_gemm.h"
#include "kernels/linalg/parallel_gemm.h"

namespace shoal::internal {
namespace {

// An operand as matrices: [batch…], free, contracting.
struct Side {
  std::vector<int64_t> batch_sizes, batch_strides;
  int64_t free = 1, contracting = 1, free_stride = 1, contracting_stride = 1;
  // Not empty if the operand must first be copied with its dimensions in this order, so that two strides describe it.
  Dims order;
};

// bf16 represents all values of the type exactly and without denormals.
bool FitsInBf16(ElementType type) { return IsFloat(type) && BitWidth(type) <= 8 && type != ElementType::kF8e8m0fnu; }
bool IsNarrow(ElementType type) { return type == ElementType::kBf16 || type == ElementType::kF16; }

bool Has(Ints dims, int64_t dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

// The stride of the dimensions merged into one; nothing if they are not contiguous.
std::optional<int64_t> MergedStride(const Shape& shape, const std::vector<int64_t>& dims) {
  const Dims strides = RowMajorStrides(shape.dims());
  std::optional<int64_t> stride;
  int64_t size = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (shape.dim(dims[i]) == 1) continue;
    const int64_t next = strides[static_cast<size_t>(dims[i])];
    if (stride && next != *stride * size) return std::nullopt;
    if (!stride) stride = next;
    size *= shape.dim(dims[i]);
  }
  return stride.value_or(1);
}

Side SideOf(const Shape& shape, Ints batch, const std::vector<int64_t>& contracting) {
  Side side;
  std::vector<int64_t> free;
  const Dims strides = RowMajorStrides(shape.dims());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const bool is_contracting = Has(contracting, d);
    if (is_contracting) side.contracting *= shape.dim(d);
    if (Has(batch, d) || is_contracting) continue;
    free.push_back(d);
    side.free *= shape.dim(d);
  }
  for (int64_t d : batch) {
    side.batch_sizes.push_back(shape.dim(d));
    side.batch_strides.push_back(strides[static_cast<size_t>(d)]);
  }
  const auto free_stride = MergedStride(shape, free), contracting_stride = MergedStride(shape, contracting);
  if (free_stride && contracting_stride &&
      (*free_stride == 1 || *contracting_stride == 1 || side.free == 1 || side.contracting == 1)) {
    side.free_stride = *free_stride;
    side.contracting_stride = *contracting_stride;
    return side;
  }
  for (Ints dims : {batch, Ints(free), Ints(contracting)}) side.order.insert(side.order.end(), dims.begin(), dims.end());
  side.free_stride = side.contracting;
  int64_t stride = side.free * side.contracting;
  for (size_t i = batch.size(); i-- > 0;) {
    side.batch_strides[i] = stride;
    stride *= side.batch_sizes[i];
  }
  return side;
}

struct Sides {
  Side lhs, rhs;
};

Sides SidesOf(const Instruction& hlo) {
  // Sort the contracting dimensions in the order of the lhs, so that they may be contiguous there.
  std::vector<std::pair<int64_t, int64_t>> pairs;
  const Ints left = hlo[kLhsContractingDims], right = hlo[kRhsContractingDims];
  for (size_t i = 0; i < left.size(); ++i) pairs.emplace_back(left[i], right[i]);
  std::sort(pairs.begin(), pairs.end());
  std::vector<int64_t> lhs, rhs;
  for (const auto& [l, r] : pairs) {
    lhs.push_back(l);
    rhs.push_back(r);
  }
  return {SideOf(hlo.operand_shape(0), hlo[kLhsBatchDims], lhs), SideOf(hlo.operand_shape(1), hlo[kRhsBatchDims], rhs)};
}

// The operand in the memory layout that the side describes, copied if necessary.
Array BlasLayout(const Array& array, const Side& side, ThreadPool& pool) {
  if (side.order.empty()) return array;
  const Dims strides = RowMajorStrides(array.dims());
  Strided from;
  Dims sizes;
  for (int64_t d : side.order) {
    sizes.push_back(array.dim(d));
    from.strides.push_back(strides[static_cast<size_t>(d)]);
  }
  Array ordered(array.type(), sizes);
  ParallelCopy(ordered.dims(), array.element_bytes(), ordered.mutable_data(), {0, RowMajorStrides(ordered.dims())}, array.data(),
               from, pool);
  return ordered;
}

// Offsets of the matrices of each batch element. Valid until the next call on this thread: with many small GEMMs the
// list is as long as the operands, and allocating it in every run would take longer than the GEMMs.
std::span<const GemmOffsets> OffsetsOfBatch(const Side& lhs, const Side& rhs) {
  thread_local std::vector<GemmOffsets> offsets;
  size_t count = 1;
  for (int64_t size : lhs.batch_sizes) count *= static_cast<size_t>(size);
  offsets.resize(std::max<size_t>(count, 1));
  offsets[0] = {};
  // From the last dimension to the first, repeat the existing offsets for each index of the next dimension.
  size_t count_so_far = 1;
  for (size_t d = lhs.batch_sizes.size(); d-- > 0;) {
    const size_t before = count_so_far;
    for (int64_t i = 1; i < lhs.batch_sizes[d]; ++i)
      for (size_t k = 0; k < before; ++k)
        offsets[count_so_far++] = {offsets[k].a + i * lhs.batch_strides[d], offsets[k].b + i * rhs.batch_strides[d]};
  }
  return {offsets.data(), count};
}

template <class T>
void Multiply(const Sides& sides, std::span<const GemmOffsets> offsets, const T* a, const T* b, T* out, ThreadPool& pool) {
  const auto& [lhs, rhs] = sides;
  ParallelGemm(lhs.free, rhs.free, lhs.contracting, MatrixView<T>{a, lhs.free_stride, lhs.contracting_stride},
               MatrixView<T>{b, rhs.contracting_stride, rhs.free_stride}, offsets, out, pool);
}

template <class T>
void Multiply(const Sides& sides, const Array& a, const Array& b, Array& out, ThreadPool& pool) {
  Multiply<T>(sides, OffsetsOfBatch(sides.lhs, sides.rhs), a.As<T>().data(), b.As<T>().data(), out.Mutable<T>().data(), pool);
}

// Multiplies 8-bit integers exactly, with the CPU's instructions for them or as floats. Each product is at most 2^14 if
// signed and 2^16 if unsigned, and f32 is exact up to 2^24. Therefore, sums short stretches as floats, and adds the
// stretches as integers.
void MultiplyBytes(const Sides& sides, const Array& a, const Array& b, Array& out, ThreadPool& pool) {
  const auto& [lhs, rhs] = sides;
  const std::span<const GemmOffsets> offsets = OffsetsOfBatch(lhs, rhs);
  if (a.type() == ElementType::kS8 && b.type() == a.type() &&
      ParallelGemm(lhs.free, rhs.free, lhs.contracting, MatrixView<int8_t>{a.As<int8_t>().data(), lhs.free_stride, lhs.contracting_stride},
                   MatrixView<int8_t>{b.As<int8_t>().data(), rhs.contracting_stride, rhs.free_stride}, offsets,
                   out.Mutable<int32_t>().data(), pool))
    return;
  const int64_t stretch = IsSigned(a.type()) && IsSigned(b.type()) ? 1024 : 256;
  const Array wide_a = Widened(a, pool), wide_b = Widened(b, pool);
  Array part(ElementType::kF32, out.dims());
  float* sums = part.Mutable<float>().data();
  int32_t* total = out.Mutable<int32_t>().data();
  for (int64_t first = 0; first == 0 || first < lhs.contracting; first += stretch) {
    ParallelGemm(lhs.free, rhs.free, std::min(stretch, lhs.contracting - first),
                 MatrixView<float>{wide_a.As<float>().data() + first * lhs.contracting_stride, lhs.free_stride, lhs.contracting_stride},
                 MatrixView<float>{wide_b.As<float>().data() + first * rhs.contracting_stride, rhs.contracting_stride, rhs.free_stride},
                 offsets, sums, pool);
    ForBlocks(pool, out.count(), 1 << 14, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) total[i] = static_cast<int32_t>(sums[i]) + (first == 0 ? 0 : total[i]);
    });
  }
}

// A vector or a few rows times a large bf16 matrix. The matrix is read directly, without converting it first.
bool MultiplySkinny(const Sides& sides, const Array& a, const Array& b, Array& out, ThreadPool& pool) {
  const auto& [lhs, rhs] = sides;
  if (!lhs.batch_sizes.empty()) return false;
  auto multiply = [&](const Side& rows, const Array& few, const Side& columns, const Array& many) {
    const bool is_large = rows.free * columns.free * rows.contracting > kMinLibraryWork;
    if (many.type() != ElementType::kBf16 || rows.free > kMaxSkinnyRows || !is_large) return false;
    const Array wide = Widened(few, pool);
    return SkinnyGemm(rows.free, columns.free, rows.contracting, {wide.As<float>().data(), rows.free_stride, rows.contracting_stride},
                      MatrixView<Bf16>{many.As<Bf16>().data(), columns.contracting_stride, columns.free_stride}, out.Mutable<float>().data(), pool);
  };
  if (multiply(lhs, a, rhs, b)) return true;
  return rhs.free == 1 && multiply(rhs, b, lhs, a);
}

// True if each matrix is contiguous, row by row or column by column.
bool IsDense(const Side& side) {
  const bool rows = side.contracting_stride == 1 && side.free_stride == side.contracting;
  return rows || (side.free_stride == 1 && side.contracting_stride == side.free);
}

// `count` elements of `array`, starting at `first`, in f32.
Array WidenedPart(const Array& array, int64_t first, int64_t count, ThreadPool& pool) {
  const auto width = static_cast<size_t>(array.element_bytes());
  const std::byte* from = array.data() + static_cast<size_t>(first) * width;
  return Widened(Array(array.type(), Dims{count}, Buffer::Borrow(from, static_cast<size_t>(count) * width)), pool);
}

// Widens large narrow operands part by part. Many devices may do this simultaneously, and widening entire operands
// would take more memory than all their values.
bool MultiplyInParts(const Sides& sides, const Array& a, const Array& b, Array& out, ThreadPool& pool) {
  constexpr int64_t kPart = int64_t{1} << 23;  // elements
  const auto& [lhs, rhs] = sides;
  if (a.count() + b.count() <= 2 * kPart || !IsDense(lhs) || !IsDense(rhs)) return false;
  float* c = out.Mutable<float>().data();
  auto multiply = [&](int64_t rows, const Array& left, const Array& right, std::span<const GemmOffsets> offsets, float* to) {
    ParallelGemm(rows, rhs.free, lhs.contracting, MatrixView<float>{left.As<float>().data(), lhs.free_stride, lhs.contracting_stride},
                 MatrixView<float>{right.As<float>().data(), rhs.contracting_stride, rhs.free_stride}, offsets, to, pool);
  };
  const std::span<const GemmOffsets> offsets = OffsetsOfBatch(lhs, rhs);
  const GemmOffsets first[] = {{}};
  if (offsets.size() > 1) {
    for (size_t i = 0; i < offsets.size(); ++i)
      multiply(lhs.free, WidenedPart(a, offsets[i].a, lhs.free * lhs.contracting, pool),
               WidenedPart(b, offsets[i].b, rhs.free * rhs.contracting, pool), first, c + static_cast<int64_t>(i) * lhs.free * rhs.free);
    return true;
  }
  if (lhs.contracting_stride != 1 || a.count() <= kPart) return false;
  const Array right = Widened(b, pool);
  const int64_t rows = std::max<int64_t>(1, kPart / lhs.contracting);
  for (int64_t row = 0; row < lhs.free; row += rows) {
    const int64_t count = std::min(rows, lhs.free - row);
    multiply(count, WidenedPart(a, row * lhs.contracting, count * lhs.contracting, pool), right, first, c + row * rhs.free);
  }
  return true;
}

void MultiplyFloats(const Sides& sides, const Array& left, const Array& right, Array& out, ThreadPool& pool) {
  const Array a = FitsInBf16(left.type()) ? Widened(left, pool, ElementType::kBf16) : left;
  const Array b = FitsInBf16(right.type()) ? Widened(right, pool, ElementType::kBf16) : right;
  if (MultiplySkinny(sides, a, b, out, pool)) return;
  const auto& [lhs, rhs] = sides;
  if (a.type() == ElementType::kBf16 && b.type() == a.type() &&
      ParallelGemm(lhs.free, rhs.free, lhs.contracting, MatrixView<Bf16>{a.As<Bf16>().data(), lhs.free_stride, lhs.contracting_stride},
                   MatrixView<Bf16>{b.As<Bf16>().data(), rhs.contracting_stride, rhs.free_stride}, OffsetsOfBatch(lhs, rhs),
                   out.Mutable<float>().data(), pool))
    return;
  const bool narrow = IsNarrow(a.type()) || IsNarrow(b.type());
  if (narrow && lhs.batch_sizes.empty() &&
      PanelGemm(lhs.free, rhs.free, lhs.contracting, {a.type(), a.data(), lhs.free_stride, lhs.contracting_stride},
                {b.type(), b.data(), rhs.contracting_stride, rhs.free_stride}, out.Mutable<float>().data(), pool))
    return;
  if (narrow && MultiplyInParts(sides, a, b, out, pool)) return;
  Multiply<float>(sides, Widened(a, pool), Widened(b, pool), out, pool);
}

Status Dot(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const Sides sides = SidesOf(hlo);
  const Array a = BlasLayout(operands[0], sides.lhs, pool), b = BlasLayout(operands[1], sides.rhs, pool);
  const ElementType result = results[0].type();
  if (result == ElementType::kF64) {
    Multiply<double>(sides, a, b, results[0], pool);
  } else if (result == ElementType::kC64) {
    Multiply<std::complex<float>>(sides, a, b, results[0], pool);
  } else if (result == ElementType::kC128) {
    Multiply<std::complex<double>>(sides, a, b, results[0], pool);
  } else if (IsInteger(result) && BitWidth(result) == 64) {
    Multiply<uint64_t>(sides, Widened(a, pool, result), Widened(b, pool, result), results[0], pool);
  } else if (IsInteger(result) && BitWidth(result) < 32) {  // sums that wrap at 32 bits also wrap at fewer
    Array sums(ElementType::kS32, results[0].dims());
    Multiply<uint32_t>(sides, Widened(a, pool, ElementType::kS32), Widened(b, pool, ElementType::kS32), sums, pool);
    ConvertOnPool(sums, results[0], pool);
  } else if (result == ElementType::kS32 && a.element_bytes() == 1 && b.element_bytes() == 1) {
    MultiplyBytes(sides, a, b, results[0], pool);
  } else if (IsInteger(result)) {
    Multiply<uint32_t>(sides, Widened(a, pool, result), Widened(b, pool, result), results[0], pool);
  } else if (result == ElementType::kF32) {
    MultiplyFloats(sides, a, b, results[0], pool);
  } else {
    Array sums(ElementType::kF32, results[0].dims());
    MultiplyFloats(sides, a, b, sums, pool);
    ConvertOnPool(sums, results[0], pool);
  }
  return {};
}

// A dot whose operands are read directly, as matrices of the result's type.
template <class T>
class DirectDot : public PreparedFunction {
 public:
  explicit DirectDot(Sides sides) : sides_(std::move(sides)) {
    const std::span<const GemmOffsets> offsets = OffsetsOfBatch(sides_.lhs, sides_.rhs);
    offsets_.assign(offsets.begin(), offsets.end());
  }

  void Run(void* const* buffers, ThreadPool& pool) const override {
    Multiply<T>(sides_, offsets_, static_cast<const T*>(buffers[0]), static_cast<const T*>(buffers[1]), static_cast<T*>(buffers[2]), pool);
  }

 private:
  Sides sides_;
  std::vector<GemmOffsets> offsets_;
};

}  // namespace

std::unique_ptr<const PreparedFunction> PreparedDot(const Instruction& hlo) {
  constexpr int64_t kMaxBatch = 1 << 12;  // for larger ones, the offsets would take as much memory as the operands
  const ElementType type = hlo.shape().element_type();
  if (hlo.operand_count() != 2 || hlo.operand_shape(0).element_type() != type || hlo.operand_shape(1).element_type() != type) return nullptr;
  Sides sides = SidesOf(hlo);
  int64_t batch = 1;
  for (int64_t size : sides.lhs.batch_sizes) batch *= size;
  if (!sides.lhs.order.empty() || !sides.rhs.order.empty() || batch > kMaxBatch) return nullptr;
  if (type == ElementType::kF32) return std::make_unique<DirectDot<float>>(std::move(sides));
  if (type == ElementType::kF64) return std::make_unique<DirectDot<double>>(std::move(sides));
  return nullptr;
}

LibraryFunction DotFunction(const Instruction& hlo) {
  const ElementType lhs = hlo.operand_shape(0).element_type(), rhs = hlo.operand_shape(1).element_type();
  const ElementType result = hlo.shape().element_type();
  auto is_float = [](ElementType type) { return type == ElementType::kF32 || IsNarrow(type); };
  auto is_operand = [&](ElementType type) { return is_float(type) || FitsInBf16(type); };
  auto is_whole = [](ElementType type) { return IsInteger(type) && BitWidth(type) >= 8; };
  const bool all_wide = (lhs == ElementType::kF64 || IsComplex(lhs)) && rhs == lhs && result == lhs;
  const bool all_whole = is_whole(lhs) && is_whole(rhs) && IsInteger(result) && BitWidth(result) >= 8;
  if (!all_wide && !all_whole && !(is_operand(lhs) && is_operand(rhs) && is_float(result))) return nullptr;
  if (hlo.shape().ElementCount().value_or(0) <= 0 || hlo.operand_shape(0).ElementCount().value_or(0) <= 0) return nullptr;
  return &Dot;
}

}  // namespace shoal::internal
