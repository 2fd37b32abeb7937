// Reads shapes: f32[2,3]{1,0:T(8,128)}, tuples of shapes.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "formats/text/cursor.h"
#include "formats/text/name_table.h"

namespace shoal::internal {

class ShapeReader : public Cursor {
 protected:
  using Cursor::Cursor;

  bool AtShape();
  const Shape* ReadShape();
  bool ReadParenInt(int64_t* value);
  bool ReadParenType(ElementType* type);

 private:
  const Shape* ReadArrayShape();
  std::string_view ShapeText() const;
  bool ReadLayoutExtras(Layout* layout, std::vector<Tile>& tiles, std::vector<SplitConfig>& splits);
  bool ReadTiles(std::vector<Tile>& tiles);
  bool ReadSplitConfigs(std::vector<SplitConfig>& splits);

  // Cache of array shapes by text: most shapes occur many times in a module.
  absl::flat_hash_map<std::string_view, const Shape*, TextHash> shapes_by_text_;
};

}  // namespace shoal::internal
