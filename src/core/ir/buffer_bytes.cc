#include "core/ir/buffer_bytes.h"

#include <algorithm>

#include "core/ir/sizes.h"

namespace shoal::internal {
namespace {

constexpr int64_t kPointerBytes = 8;

// Splits the minor dimensions into tiles. The dimensions of the tile become the most minor ones, which the next tile
// splits again.
void SplitIntoTiles(std::vector<int64_t>& dims, const Tile& tile) {
  const size_t count = tile.dimensions.size();
  while (dims.size() < count) dims.insert(dims.begin(), 1);
  const size_t first = dims.size() - count;
  std::vector<int64_t> tile_dims;
  int64_t combined = 1;
  for (size_t i = 0; i < count; ++i) {
    const int64_t size = tile.dimensions[i];
    combined = SaturatingMul(combined, dims[first + i]);
    if (size == Tile::kCombine) {  // merged into the next more minor dimension
      dims[first + i] = 1;
      continue;
    }
    dims[first + i] = size <= 0 ? combined : CeilDiv(combined, size);
    tile_dims.push_back(std::max<int64_t>(size, 1));
    combined = 1;
  }
  dims.insert(dims.end(), tile_dims.begin(), tile_dims.end());
}

int64_t TiledElementCount(const Shape& shape, const Layout* layout) {
  if (layout == nullptr || layout->tiles.empty()) {  // almost every shape: the order of the dimensions does not matter
    int64_t elements = 1;
    for (int64_t i = 0; i < shape.rank(); ++i) elements = SaturatingMul(elements, std::max<int64_t>(shape.dim(i), 0));
    return elements;
  }
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    // Major to minor, where the layout names every dimension.
    const bool ordered = std::ssize(layout->minor_to_major) == shape.rank();
    int64_t d = ordered ? layout->minor_to_major[static_cast<size_t>(shape.rank() - 1 - i)] : i;
    if (d < 0 || d >= shape.rank()) d = i;
    dims.push_back(std::max<int64_t>(shape.dim(d), 0));
  }
  for (const Tile& tile : layout->tiles) SplitIntoTiles(dims, tile);
  int64_t elements = 1;
  for (int64_t dim : dims) elements = SaturatingMul(elements, dim);
  return elements;
}

int64_t BytesOfElements(const Shape& shape, int64_t elements) {
  const int64_t bits = shape.layout() == nullptr ? 0 : shape.layout()->element_size_in_bits;
  return bits > 0 ? RoundUp(SaturatingMul(elements, bits), 8) / 8 : SaturatingMul(elements, StorageBytes(shape.element_type()));
}

}  // namespace

int64_t BufferBytes(const Shape& shape) {
  if (shape.IsTuple()) return kPointerBytes * static_cast<int64_t>(shape.elements().size());
  if (shape.IsBuffer()) return BufferBytes(shape.element(0));
  if (shape.IsOpaque()) return kPointerBytes;
  if (!shape.IsArray()) return 0;
  const Layout* layout = shape.layout();
  if (layout == nullptr) return TiledBytes(shape);
  const int64_t alignment = std::max<int64_t>(layout->tail_padding_alignment, 1);
  const int64_t elements = RoundUp(TiledElementCount(shape, layout), alignment);
  return SaturatingAdd(BytesOfElements(shape, elements), DynamicSizeBytes(shape));
}

int64_t TiledBytes(const Shape& array) { return BytesOfElements(array, TiledElementCount(array, array.layout())); }

int64_t DynamicSizeBytes(const Shape& array) {
  constexpr int64_t kSizeBytes = 4;
  if (!array.has_dynamic()) return 0;
  const int64_t declared_bytes = array.layout() == nullptr ? 0 : array.layout()->dynamic_metadata_bytes;
  return declared_bytes > 0 ? declared_bytes : kSizeBytes * array.rank();
}

int64_t ArrayBytes(const Shape& shape) {
  if (!shape.IsTuple()) return BufferBytes(shape);
  if (shape.LeafCount() >= kMaxLeaves) return INT64_MAX;
  int64_t bytes = 0;
  for (const Shape* element : shape.elements()) bytes = SaturatingAdd(bytes, ArrayBytes(*element));
  return bytes;
}

int64_t MemorySpaceOf(const Shape& shape) {
  if (shape.IsBuffer()) return MemorySpaceOf(shape.element(0));
  return shape.IsArray() && shape.layout() != nullptr ? shape.layout()->memory_space : 0;
}

}  // namespace shoal::internal
