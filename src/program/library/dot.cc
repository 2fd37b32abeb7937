// dot as products of matrices that lie as they are in the operands, wherever their dimensions merge; narrow floats are
// converted first.
#include <algorithm>
#include <optional>

#include "interp/elementwise/elementwise.h"
#include "kernels/parallel_gemm.h"
#include "kernels/strided.h"
#include "ops/contraction.h"
#include "program/library/rows.h"

namespace shoal {
namespace {

// An operand as matrices: [batch…], free, contracting.
struct Side {
  std::vector<int64_t> batch_sizes, batch_strides;
  int64_t free = 1, contracting = 1, free_stride = 1, contracting_stride = 1;
};

bool Has(Ints dims, int64_t dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

// The stride of the dimensions taken as one; nothing if they do not follow each other in memory.
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

std::optional<Side> SideOf(const Shape& shape, Ints batch, const std::vector<int64_t>& contracting) {
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
  if (!free_stride || !contracting_stride) return std::nullopt;
  if (*free_stride != 1 && *contracting_stride != 1 && side.free != 1 && side.contracting != 1) return std::nullopt;
  side.free_stride = *free_stride;
  side.contracting_stride = *contracting_stride;
  return side;
}

struct Sides {
  Side lhs, rhs;
};

std::optional<Sides> SidesOf(const Instruction& hlo) {
  // The contracting dimensions in the order in which the lhs has them: they may then lie there as one.
  std::vector<std::pair<int64_t, int64_t>> pairs;
  const Ints left = hlo[kLhsContractingDims], right = hlo[kRhsContractingDims];
  for (size_t i = 0; i < left.size(); ++i) pairs.emplace_back(left[i], right[i]);
  std::sort(pairs.begin(), pairs.end());
  std::vector<int64_t> lhs, rhs;
  for (const auto& [l, r] : pairs) {
    lhs.push_back(l);
    rhs.push_back(r);
  }
  const auto a = SideOf(hlo.operand_shape(0), hlo[kLhsBatchDims], lhs);
  const auto b = SideOf(hlo.operand_shape(1), hlo[kRhsBatchDims], rhs);
  if (!a || !b) return std::nullopt;
  return Sides{*a, *b};
}

std::vector<GemmPlaces> PlacesOf(const Side& lhs, const Side& rhs) {
  std::vector<GemmPlaces> places{{}};
  for (size_t d = 0; d < lhs.batch_sizes.size(); ++d) {
    std::vector<GemmPlaces> next;
    for (const GemmPlaces& place : places)
      for (int64_t i = 0; i < lhs.batch_sizes[d]; ++i)
        next.push_back({place.a + i * lhs.batch_strides[d], place.b + i * rhs.batch_strides[d]});
    places = std::move(next);
  }
  return places;
}

template <class T>
void Multiply(const Sides& sides, const Array& a, const Array& b, Array& out, ThreadPool& pool) {
  const auto& [lhs, rhs] = sides;
  ParallelGemm(lhs.free, rhs.free, lhs.contracting,
               MatrixView<T>{a.As<T>().data(), lhs.free_stride, lhs.contracting_stride},
               MatrixView<T>{b.As<T>().data(), rhs.contracting_stride, rhs.free_stride}, PlacesOf(lhs, rhs),
               out.Mutable<T>().data(), pool);
}

// In f32, on the pool.
Array Widened(const Array& array, ThreadPool& pool) {
  if (array.type() == ElementType::kF32) return array;
  Array wide(ElementType::kF32, array.dims());
  ConvertOnPool(array, wide, pool);
  return wide;
}

Status Dot(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const Sides sides = *SidesOf(hlo);
  const ElementType result = results[0].type();
  if (result == ElementType::kF64) {
    Multiply<double>(sides, operands[0], operands[1], results[0], pool);
    return {};
  }
  const Array a = Widened(operands[0], pool), b = Widened(operands[1], pool);
  if (result == ElementType::kF32) {
    Multiply<float>(sides, a, b, results[0], pool);
    return {};
  }
  Array sums(ElementType::kF32, results[0].dims());
  Multiply<float>(sides, a, b, sums, pool);
  ConvertOnPool(sums, results[0], pool);
  return {};
}

bool IsNarrow(ElementType type) { return type == ElementType::kBf16 || type == ElementType::kF16; }

}  // namespace

void ConvertOnPool(const Array& from, Array& to, ThreadPool& pool) {
  const Kernel kernel = ConvertKernel(from.type(), to.type());
  std::byte* out = to.mutable_data();
  ForBlocks(pool, from.count(), 1 << 14, [&](int64_t begin, int64_t end) {
    const std::byte* in = from.data() + begin * from.element_bytes();
    kernel.Run(out + begin * to.element_bytes(), &in, end - begin);
  });
}

LibraryFunction DotFunction(const Instruction& hlo) {
  const ElementType lhs = hlo.operand_shape(0).element_type(), rhs = hlo.operand_shape(1).element_type();
  const ElementType result = hlo.shape().element_type();
  auto is_float = [](ElementType type) { return type == ElementType::kF32 || IsNarrow(type); };
  const bool all_double = lhs == ElementType::kF64 && rhs == lhs && result == lhs;
  if (!all_double && !(is_float(lhs) && is_float(rhs) && is_float(result))) return nullptr;
  if (hlo.shape().ElementCount().value_or(0) <= 0 || hlo.operand_shape(0).ElementCount().value_or(0) <= 0) return nullptr;
  return SidesOf(hlo) ? &Dot : nullptr;
}

}  // namespace shoal
