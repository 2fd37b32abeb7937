// Shapes and layouts as HLO text writes them.
#include "core/base/strings.h"
#include "core/ir/shape.h"

namespace shoal::internal {
namespace {

void AppendTile(std::string& out, const Tile& tile) {
  out += '(';
  for (size_t i = 0; i < tile.dimensions.size(); ++i) {
    if (i > 0) out += ',';
    if (tile.dimensions[i] == Tile::kCombine) {
      out += '*';
    } else if (tile.dimensions[i] < 0) {
      StrAppend(&out, "Invalid value ", tile.dimensions[i]);
    } else {
      StrAppend(&out, tile.dimensions[i]);
    }
  }
  out += ')';
}

void AppendElements(std::string& out, std::span<const Shape* const> elements, bool with_layout) {
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) out += ", ";
    if (i > 0 && i % 5 == 0) StrAppend(&out, "/*index=", i, "*/");
    AppendShape(out, *elements[i], with_layout);
  }
}

}  // namespace

std::string ToString(Ints ints) { return StrCat("{", StrJoin(ints, ","), "}"); }

void AppendLayout(std::string& out, const Layout& layout) {
  StrAppend(&out, "{", StrJoin(layout.minor_to_major, ","));
  if (layout.plain()) {
    out += '}';
    return;
  }
  out += ':';
  if (!layout.tiles.empty()) out += 'T';
  for (const Tile& tile : layout.tiles) AppendTile(out, tile);
  auto append_int = [&out](const char* letter, int64_t value) { StrAppend(&out, letter, "(", value, ")"); };
  auto append_type = [&out](const char* sign, ElementType type) {
    StrAppend(&out, sign, "(", IsInteger(type) ? Text(type) : "invalid", ")");
  };
  if (layout.tail_padding_alignment != 1) append_int("L", layout.tail_padding_alignment);
  if (layout.index_type != ElementType::kInvalid) append_type("#", layout.index_type);
  if (layout.pointer_type != ElementType::kInvalid) append_type("*", layout.pointer_type);
  if (layout.element_size_in_bits != 0) append_int("E", layout.element_size_in_bits);
  if (layout.memory_space != 0) append_int("S", layout.memory_space);
  if (!layout.split_configs.empty()) out += "SC";
  for (const SplitConfig& split : layout.split_configs)
    StrAppend(&out, "(", split.dimension, ":", StrJoin(split.indices, ","), ")");
  if (layout.physical_shape != nullptr) {
    out += "P(";
    AppendShape(out, *layout.physical_shape);
    out += ')';
  }
  if (layout.dynamic_metadata_bytes > 0) append_int("M", layout.dynamic_metadata_bytes);
  out += '}';
}

void AppendShape(std::string& out, const Shape& shape, bool with_layout) {
  if (shape.IsTuple() || shape.IsBuffer()) {
    out += shape.IsTuple() ? "(" : "b(";
    AppendElements(out, shape.elements(), with_layout);
    out += ')';
    return;
  }
  StrAppend(&out, Text(shape.element_type()), "[");
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i > 0) out += ',';
    if (shape.dim(i) == kUnboundedSize) {
      out += '?';
    } else {
      StrAppend(&out, shape.is_dynamic(i) ? "<=" : "", shape.dim(i));
    }
  }
  out += ']';
  const Layout* layout = shape.layout();
  if (with_layout && layout != nullptr && !(shape.rank() == 0 && layout->plain())) AppendLayout(out, *layout);
}

}  // namespace shoal::internal
