// transpose, tile by tile, so that both sides are read and written in whole cache lines.
#include <algorithm>

#include "kernels/transpose_square.h"
#include "ops/index_ops.h"
#include "program/library/rows.h"

namespace shoal {
namespace {

constexpr int64_t kTile = 32;

struct Loop {
  int64_t size = 1, from = 0, to = 0;  // strides, in elements
};

// The loops of the result's dimensions but those of one element.
std::vector<Loop> LoopsOf(const Instruction& hlo) {
  const Dims from = RowMajorStrides(hlo.operand_shape(0).dims()), to = RowMajorStrides(hlo.shape().dims());
  const Ints order = hlo[kDimensions];
  std::vector<Loop> loops;
  for (size_t d = 0; d < order.size(); ++d)
    if (hlo.shape().dim(static_cast<int64_t>(d)) != 1)
      loops.push_back({hlo.shape().dim(static_cast<int64_t>(d)), from[static_cast<size_t>(order[d])], to[d]});
  return loops;
}

// rows: along which the operand lies together; columns: along which the result does.
template <class T>
void CopyPart(const T* from, T* to, int64_t rows, int64_t columns, int64_t from_stride, int64_t to_stride) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) to[r * to_stride + c] = from[c * from_stride + r];
}

// Squares of as many elements as vectors of 16 bytes have, and what is left at two sides one by one.
template <class T>
void CopyTile(const T* from, T* to, int64_t rows, int64_t columns, int64_t from_stride, int64_t to_stride) {
  constexpr int64_t kSide = SquareSide<T>();
  const int64_t whole_rows = rows / kSide * kSide, whole_columns = columns / kSide * kSide;
  for (int64_t r = 0; r < whole_rows; r += kSide)
    for (int64_t c = 0; c < whole_columns; c += kSide)
      TransposeSquare(from + c * from_stride + r, from_stride, to + r * to_stride + c, to_stride);
  CopyPart(from + whole_rows, to + whole_rows * to_stride, rows - whole_rows, columns, from_stride, to_stride);
  CopyPart(from + whole_columns * from_stride, to + whole_columns, whole_rows, columns - whole_columns, from_stride, to_stride);
}

template <class T>
void TransposeAs(std::vector<Loop> loops, const Array& operand, Array& result, ThreadPool& pool) {
  const T* from = operand.As<T>().data();
  T* to = result.Mutable<T>().data();
  const Loop columns = loops.back();
  loops.pop_back();
  const auto together = std::find_if(loops.begin(), loops.end(), [](const Loop& loop) { return loop.from == 1; });
  const Loop rows = *together;
  loops.erase(together);
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
                 std::min(kTile, columns.size - column), columns.from, rows.to);
    }
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

}  // namespace shoal
