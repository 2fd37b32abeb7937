// Implements transpose in tiles, so that both operand and result are accessed in whole cache lines.
#include <algorithm>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "compile/library/rows.h"
#include "core/ops/index_ops.h"
#include "kernels/arrays/transpose_square.h"

namespace shoal::internal {
namespace {

constexpr int64_t kTile = 64;

struct Loop {
  int64_t size = 1, from = 0, to = 0;  // strides, in elements
};

// One loop for each dimension of the result with more than one element.
std::vector<Loop> LoopsOf(const Instruction& hlo) {
  const Dims from = RowMajorStrides(hlo.operand_shape(0).dims()), to = RowMajorStrides(hlo.shape().dims());
  const Ints order = hlo[kDimensions];
  std::vector<Loop> loops;
  for (size_t d = 0; d < order.size(); ++d)
    if (hlo.shape().dim(static_cast<int64_t>(d)) != 1)
      loops.push_back({hlo.shape().dim(static_cast<int64_t>(d)), from[static_cast<size_t>(order[d])], to[d]});
  return loops;
}

// Writes 64 bytes to an address that is a multiple of 16, bypassing the cache if the CPU supports it.
inline void StreamLine(void* to, const void* line) {
#ifdef __SSE2__
  for (int i = 0; i < 4; ++i) _mm_stream_si128(static_cast<__m128i*>(to) + i, static_cast<const __m128i*>(line)[i]);
#else
  std::memcpy(to, line, 64);
#endif
}

// Copies element by element. Rows are contiguous in the operand, columns in the result.
template <class T>
void CopyElements(const T* from, T* to, int64_t rows, int64_t columns, int64_t from_stride, int64_t to_stride) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) to[r * to_stride + c] = from[c * from_stride + r];
}

// Copies an edge that is not a multiple of a cache line: squares of 16-byte vectors first, then single elements.
template <class T>
void CopyEdge(const T* from, T* to, int64_t rows, int64_t columns, int64_t from_stride, int64_t to_stride) {
  constexpr int64_t kSide = SquareSide<T>();
  const int64_t whole_rows = rows / kSide * kSide, whole_columns = columns / kSide * kSide;
  for (int64_t r = 0; r < whole_rows; r += kSide)
    for (int64_t c = 0; c < whole_columns; c += kSide)
      TransposeSquare(from + c * from_stride + r, from_stride, to + r * to_stride + c, to_stride);
  CopyElements(from + whole_rows, to + whole_rows * to_stride, rows - whole_rows, columns, from_stride, to_stride);
  CopyElements(from + whole_columns * from_stride, to + whole_columns, whole_rows, columns - whole_columns, from_stride, to_stride);
}

// Copies a square of whole cache lines and accesses each line once, because rows at a power-of-two stride share few
// cache sets. `streams`: bypass the cache, for results that do not fit in it.
template <class T>
void CopySquare(const T* from, T* to, int64_t from_stride, int64_t to_stride, bool streams) {
  constexpr int64_t kSide = SquareSide<T>(), kLine = 64 / static_cast<int64_t>(sizeof(T));
  alignas(64) T square[kLine][kLine];
  for (int64_t c = 0; c < kLine; c += kSide)
    for (int64_t r = 0; r < kLine; r += kSide) TransposeSquare(from + c * from_stride + r, from_stride, &square[r][c], kLine);
  for (int64_t r = 0; r < kLine; ++r)
    streams ? StreamLine(to + r * to_stride, square[r]) : void(std::memcpy(to + r * to_stride, square[r], 64));
}

// Copies a tile in squares, and the remaining elements at two sides as edges.
template <class T>
void CopyTile(const T* from, T* to, int64_t rows, int64_t columns, int64_t from_stride, int64_t to_stride, bool streams) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  const int64_t whole_rows = rows / kLine * kLine, whole_columns = columns / kLine * kLine;
  for (int64_t r = 0; r < whole_rows; r += kLine)
    for (int64_t c = 0; c < whole_columns; c += kLine)
      CopySquare(from + c * from_stride + r, to + r * to_stride + c, from_stride, to_stride, streams);
  CopyEdge(from + whole_rows, to + whole_rows * to_stride, rows - whole_rows, columns, from_stride, to_stride);
  CopyEdge(from + whole_columns * from_stride, to + whole_columns, whole_rows, columns - whole_columns, from_stride, to_stride);
}

// True if the result is so large that bypassing the cache is faster, and all of its lines are aligned for that.
template <class T>
bool ShouldStream(const Array& result, const T* to, int64_t row_stride, const std::vector<Loop>& outer) {
  constexpr int64_t kLarge = int64_t{1} << 24;  // bytes: half of a large cache
  if (result.count() * static_cast<int64_t>(sizeof(T)) < kLarge) return false;
  int64_t strides = row_stride;
  for (const Loop& loop : outer) strides |= loop.to;
  return (strides * static_cast<int64_t>(sizeof(T)) | static_cast<int64_t>(reinterpret_cast<uintptr_t>(to))) % 16 == 0;
}

template <class T>
void TransposeAs(std::vector<Loop> loops, const Array& operand, Array& result, ThreadPool& pool) {
  const T* from = operand.As<T>().data();
  T* to = result.Mutable<T>().data();
  const Loop columns = loops.back();
  loops.pop_back();
  const auto contiguous = std::find_if(loops.begin(), loops.end(), [](const Loop& loop) { return loop.from == 1; });
  const Loop rows = *contiguous;
  loops.erase(contiguous);
  const bool streams = ShouldStream(result, to, rows.to, loops);
  int64_t outer = 1;
  for (const Loop& loop : loops) outer *= loop.size;
  const int64_t stripes = (rows.size + kTile - 1) / kTile;
  const int64_t each = std::max<int64_t>(1, kTile * columns.size);
  ForBlocks(pool, outer * stripes, std::max<int64_t>(1, (1 << 15) / each), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      int64_t rest = t / stripes, from_at = 0, to_at = 0;
      for (size_t d = loops.size(); d-- > 0;) {
        from_at += rest % loops[d].size * loops[d].from;
        to_at += rest % loops[d].size * loops[d].to;
        rest /= loops[d].size;
      }
      const int64_t row = t % stripes * kTile, height = std::min(kTile, rows.size - row);
      for (int64_t column = 0; column < columns.size; column += kTile)
        CopyTile(from + from_at + row + column * columns.from, to + to_at + row * rows.to + column, height,
                 std::min(kTile, columns.size - column), columns.from, rows.to, streams);
    }
#ifdef __SSE2__
    _mm_sfence();  // makes streamed lines visible before the task counts as done
#endif
  });
}

Status Transpose(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const std::vector<Loop> loops = LoopsOf(hlo);
  switch (operands[0].element_bytes()) {
    case 1:
      TransposeAs<uint8_t>(loops, operands[0], results[0], pool);
      break;
    case 2:
      TransposeAs<uint16_t>(loops, operands[0], results[0], pool);
      break;
    case 4:
      TransposeAs<uint32_t>(loops, operands[0], results[0], pool);
      break;
    default:
      TransposeAs<uint64_t>(loops, operands[0], results[0], pool);
  }
  return {};
}

}  // namespace

LibraryFunction TransposeFunction(const Instruction& hlo) {
  if (hlo.shape().has_dynamic() || hlo.operand_shape(0).has_dynamic()) return nullptr;
  if (hlo.shape().ElementCount().value_or(0) < 1024 || StorageBytes(hlo.shape().element_type()) > 8) return nullptr;
  const std::vector<Loop> loops = LoopsOf(hlo);
  return loops.size() >= 2 && loops.back().from != 1 ? &Transpose : nullptr;
}

}  // namespace shoal::internal
