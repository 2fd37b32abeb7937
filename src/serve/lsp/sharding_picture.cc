#include "serve/lsp/sharding_picture.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ir/sizes.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMaxDevices = 256;
constexpr int64_t kMaxColumns = 16;

// The devices of each tile, in row-major order of the tiles; `dims` gets the number of tiles per dimension.
std::vector<std::vector<int64_t>> TilesOf(const Sharding& sharding, std::vector<int64_t>* dims) {
  std::vector<std::vector<int64_t>> tiles;
  if (sharding.kind == Sharding::Kind::kTiled) {
    if (sharding.tiles.DeviceCount() > kMaxDevices) return tiles;
    *dims = sharding.tiles.dims;
    size_t trailing = sharding.last_tile_dims.size() + (sharding.replicate_last_dim ? 1 : 0);
    if (trailing > dims->size()) return tiles;
    int64_t copies = 1;
    for (; trailing > 0; --trailing) {
      copies *= dims->back();
      dims->pop_back();
    }
    const std::vector<int64_t> devices = sharding.tiles.Devices();
    if (copies <= 0) return tiles;
    for (size_t i = 0; i < devices.size(); ++i) {
      if (i % static_cast<size_t>(copies) == 0) tiles.emplace_back();
      tiles.back().push_back(devices[i]);
    }
    return tiles;
  }
  if (sharding.kind != Sharding::Kind::kNamed || !sharding.mesh || sharding.mesh->maximal) return tiles;
  const Mesh& mesh = *sharding.mesh;
  if (mesh.devices.DeviceCount() > kMaxDevices) return tiles;
  int64_t count = 1;
  for (const Sharding::Dimension& dimension : sharding.dimensions) {
    int64_t parts = 1;
    for (const AxisRef& axis : dimension.axes) {
      if (axis.sub) return tiles;  // a part of an axis: no picture
      parts *= axis.Size(mesh);
    }
    dims->push_back(parts);
    count = SaturatingMul(count, parts);
  }
  if (count > kMaxDevices) return tiles;
  tiles.resize(static_cast<size_t>(count));
  const std::vector<int64_t> devices = mesh.devices.Devices();
  for (size_t i = 0; i < devices.size(); ++i) {
    std::vector<int64_t> at(mesh.devices.dims.size());
    for (size_t axis = at.size(), rest = i; axis-- > 0; rest /= static_cast<size_t>(mesh.devices.dims[axis]))
      at[axis] = static_cast<int64_t>(rest % static_cast<size_t>(mesh.devices.dims[axis]));
    int64_t tile = 0;
    for (const Sharding::Dimension& dimension : sharding.dimensions)
      for (const AxisRef& axis : dimension.axes) tile = tile * axis.Size(mesh) + at[static_cast<size_t>(axis.axis)];
    tiles[static_cast<size_t>(tile)].push_back(devices[i]);
  }
  return tiles;
}

std::string Cell(const std::vector<int64_t>& devices) {
  constexpr size_t kMaxNamed = 4;
  if (devices.size() <= kMaxNamed) return StrJoin(devices, ",");
  return StrCat(devices.front(), ",", devices[1], ",…,", devices.back());
}

}  // namespace

std::string ShardingPicture(const Sharding& sharding, const Shape& shape) {
  std::vector<int64_t> dims;
  const std::vector<std::vector<int64_t>> tiles = TilesOf(sharding, &dims);
  if (tiles.size() < 2) return "";
  // The first dimension that is split gives the rows, all later ones together the columns.
  size_t first = 0;
  while (first < dims.size() && dims[first] == 1) ++first;
  if (first == dims.size()) return "";
  const int64_t rows = dims[first], columns = static_cast<int64_t>(tiles.size()) / rows;
  if (columns > kMaxColumns) return "";
  size_t width = 0;
  for (const std::vector<int64_t>& tile : tiles) width = std::max(width, Cell(tile).size());
  std::string text;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] > 1 && static_cast<int>(d) < shape.rank())
      StrAppend(&text, "dimension ", d, ": ", shape.dim(static_cast<int64_t>(d)), " elements in ", dims[d], " parts\n");
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const std::string cell = Cell(tiles[static_cast<size_t>(row * columns + column)]);
      StrAppend(&text, column == 0 ? "| " : " | ", cell, std::string(width - cell.size(), ' '));
    }
    text += " |\n";
  }
  return text;
}

}  // namespace shoal::internal
