#include <algorithm>
#include <vector>

#include "core/base/strings.h"
#include "formats/proto/parts.h"

namespace shoal::internal {
namespace {

constexpr int kMaxRank = 1024;  // more is not useful, and some algorithms are quadratic in the rank

Diag BadShape(const std::string& message, Site site = Site::Here()) { return Fail(StrCat("shape: ", message), site); }

Result<ElementType> ReadType(int32_t number) {
  if (number < 0 || number >= kElementTypeCount || Info(static_cast<ElementType>(number)).type == ElementType::kInvalid)
    return BadShape(StrCat("there is no element type ", number));
  return static_cast<ElementType>(number);
}

Result<ElementType> ReadTypeOrNone(int32_t number) {
  return number == 0 ? Result(ElementType::kInvalid) : ReadType(number);
}

Status CheckMinorToMajor(const Int64s& order, int rank) {
  if (order.size() != rank)
    return BadShape(StrCat("the layout's minor_to_major has ", order.size(), " entries for ", rank, " dimensions"));
  std::vector<bool> seen(static_cast<size_t>(rank));
  for (int64_t dim : order) {
    if (dim < 0 || dim >= rank || seen[static_cast<size_t>(dim)])
      return BadShape(StrCat("the layout's minor_to_major is not a permutation: {", StrJoin(order, ","), "}"));
    seen[static_cast<size_t>(dim)] = true;
  }
  return {};
}

Result<const Layout*> ReadLayout(Module& module, const proto::LayoutProto& from, int rank) {
  SHOAL_TRY(CheckMinorToMajor(from.minor_to_major(), rank));
  Layout layout;
  layout.minor_to_major = {from.minor_to_major().data(), static_cast<size_t>(rank)};
  std::vector<Tile> tiles;
  for (const proto::TileProto& tile : from.tiles())
    tiles.push_back({{tile.dimensions().data(), static_cast<size_t>(tile.dimensions_size())}});
  layout.tiles = tiles;
  std::vector<SplitConfig> splits;
  for (const proto::SplitConfigProto& split : from.split_configs())
    splits.push_back(
        {split.dimension(), {split.split_indices().data(), static_cast<size_t>(split.split_indices_size())}});
  layout.split_configs = splits;
  const int64_t alignment = from.tail_padding_alignment_in_elements();
  if (alignment < 0) return BadShape(StrCat("the layout's tail padding must be positive, got ", alignment));
  layout.tail_padding_alignment = std::max<int64_t>(alignment, 1);
  SHOAL_ASSIGN(index_type, ReadTypeOrNone(from.index_primitive_type()));
  SHOAL_ASSIGN(pointer_type, ReadTypeOrNone(from.pointer_primitive_type()));
  layout.index_type = index_type;
  layout.pointer_type = pointer_type;
  layout.element_size_in_bits = from.element_size_in_bits();
  layout.memory_space = from.memory_space();
  if (from.has_physical_shape()) {
    SHOAL_ASSIGN(physical, ReadShape(module, from.physical_shape()));
    layout.physical_shape = physical;
  }
  layout.dynamic_metadata_bytes = from.dynamic_shape_metadata_prefix_bytes();
  return module.shapes.Intern(layout);
}

Result<const Shape*> ReadArray(Module& module, ElementType type, const proto::ShapeProto& from) {
  const int rank = from.dimensions_size();
  if (rank > kMaxRank) return BadShape(StrCat("at most ", kMaxRank, " dimensions are allowed, got ", rank));
  if (from.is_dynamic_dimension_size() != 0 && from.is_dynamic_dimension_size() != rank)
    return BadShape(StrCat("is_dynamic_dimension needs ", rank, " entries, got ", from.is_dynamic_dimension_size()));
  int64_t bytes = StorageBytes(type);
  bool overflow = false;
  for (int64_t dim : from.dimensions()) {
    if (dim == kUnboundedSize) continue;
    if (dim < 0) return BadShape(StrCat("a dimension must not be negative, got ", dim));
    overflow |= __builtin_mul_overflow(bytes, dim, &bytes);
  }
  if (overflow) return BadShape(StrCat("[", StrJoin(from.dimensions(), ","), "] has more than 2^63 - 1 bytes"));
  const Layout* layout = nullptr;
  if (from.has_layout()) {
    SHOAL_ASSIGN(read_layout, ReadLayout(module, from.layout(), rank));
    layout = read_layout;
  }
  const bool* dynamic = from.is_dynamic_dimension_size() == 0 ? nullptr : from.is_dynamic_dimension().data();
  return module.shapes.Array(type, {from.dimensions().data(), static_cast<size_t>(rank)}, dynamic, layout);
}

}  // namespace

Result<const Shape*> ReadShape(Module& module, const proto::ShapeProto& from) {
  SHOAL_ASSIGN(type, ReadType(from.element_type()));
  if (IsArrayType(type)) return ReadArray(module, type, from);
  if (from.has_layout()) return BadShape(StrCat("a ", Text(type), " cannot have a layout"));
  if (type == ElementType::kToken) return module.shapes.Token();
  if (type == ElementType::kOpaque) return module.shapes.Opaque();
  std::vector<const Shape*> elements;
  elements.reserve(static_cast<size_t>(from.tuple_shapes_size()));
  for (const proto::ShapeProto& element : from.tuple_shapes()) {
    SHOAL_ASSIGN(shape, ReadShape(module, element));
    elements.push_back(shape);
  }
  if (type == ElementType::kTuple) return module.shapes.Tuple(elements);
  if (elements.size() != 1 || !elements[0]->IsArray()) return BadShape("a buffer must have one element, an array");
  return module.shapes.Buffer(elements[0]);
}

}  // namespace shoal::internal
