#include "core/ir/shape.h"

#include <algorithm>

#include "absl/hash/hash.h"

namespace shoal::internal {
namespace {

template <class T>
bool EqualSpans(std::span<T> a, std::span<T> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

bool Layout::plain() const {
  return tiles.empty() && tail_padding_alignment == 1 && index_type == ElementType::kInvalid &&
         pointer_type == ElementType::kInvalid && element_size_in_bits == 0 && memory_space == 0 &&
         split_configs.empty() && physical_shape == nullptr && dynamic_metadata_bytes == 0;
}

std::optional<int64_t> Shape::ElementCount() const {
  int64_t count = 1;
  bool overflow = false;
  for (int64_t dim : dims()) {
    if (dim == 0) return 0;
    if (dim != kUnboundedSize) overflow |= __builtin_mul_overflow(count, dim, &count);
  }
  if (overflow) return std::nullopt;
  return count;
}

const Shape* Shape::At(std::span<const int64_t> index) const {
  const Shape* at = this;
  for (int64_t i : index) {
    if (!at->IsTuple() || i < 0 || i >= static_cast<int64_t>(at->elements().size())) return nullptr;
    at = &at->element(i);
  }
  return at;
}

size_t ShapePool::Hash::operator()(const Shape* shape) const {
  size_t hash = absl::HashOf(shape->type_, shape->rank_, shape->layout_, shape->dynamic_ != nullptr);
  for (int64_t dim : shape->dims()) hash = (hash ^ static_cast<size_t>(dim)) * 0x9E3779B97F4A7C15u;
  for (const Shape* element : shape->elements())
    hash = (hash ^ reinterpret_cast<uintptr_t>(element)) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

bool ShapePool::Equal::operator()(const Shape* a, const Shape* b) const {
  return a->type_ == b->type_ && a->layout_ == b->layout_ && EqualSpans(a->dims(), b->dims()) &&
         EqualSpans(a->elements(), b->elements()) && (a->dynamic_ == nullptr) == (b->dynamic_ == nullptr) &&
         (a->dynamic_ == nullptr || std::equal(a->dynamic_, a->dynamic_ + a->rank_, b->dynamic_));
}

size_t ShapePool::Hash::operator()(const Layout* layout) const {
  size_t hash = absl::HashOf(layout->tail_padding_alignment, layout->index_type, layout->pointer_type,
                             layout->element_size_in_bits, layout->memory_space, layout->tiles.size(),
                             layout->physical_shape, layout->dynamic_metadata_bytes);
  for (int64_t dim : layout->minor_to_major) hash = hash * 31 + static_cast<size_t>(dim);
  for (const Tile& tile : layout->tiles)
    for (int64_t dim : tile.dimensions) hash = hash * 31 + static_cast<size_t>(dim);
  return absl::HashOf(hash);
}

bool ShapePool::Equal::operator()(const Layout* a, const Layout* b) const {
  auto equal_tiles = [](const Tile& s, const Tile& t) { return EqualSpans(s.dimensions, t.dimensions); };
  auto equal_splits = [](const SplitConfig& s, const SplitConfig& t) {
    return s.dimension == t.dimension && EqualSpans(s.indices, t.indices);
  };
  return EqualSpans(a->minor_to_major, b->minor_to_major) &&
         std::equal(a->tiles.begin(), a->tiles.end(), b->tiles.begin(), b->tiles.end(), equal_tiles) &&
         a->tail_padding_alignment == b->tail_padding_alignment && a->index_type == b->index_type &&
         a->pointer_type == b->pointer_type && a->element_size_in_bits == b->element_size_in_bits &&
         a->memory_space == b->memory_space &&
         std::equal(a->split_configs.begin(), a->split_configs.end(), b->split_configs.begin(), b->split_configs.end(),
                    equal_splits) &&
         a->physical_shape == b->physical_shape && a->dynamic_metadata_bytes == b->dynamic_metadata_bytes;
}

const Shape* ShapePool::InternShape(const Shape& key) {
  if (auto found = shapes_.find(&key); found != shapes_.end()) return *found;
  Shape* shape = arena_.New<Shape>(key);
  shape->dims_ = arena_.Copy(key.dims()).data();
  if (key.dynamic_ != nullptr) shape->dynamic_ = arena_.Copy(std::span(key.dynamic_, key.rank_)).data();
  shape->elements_ = arena_.Copy(key.elements()).data();
  shapes_.insert(shape);

  if (shape->IsArray() && (shape->layout_ != nullptr || shape->dynamic_ != nullptr)) {
    shape->bare_ = Array(shape->type_, shape->dims(), nullptr, nullptr);
  } else if (shape->IsTuple() || shape->IsBuffer()) {
    std::vector<const Shape*> bare;
    for (const Shape* element : shape->elements()) bare.push_back(&element->bare());
    Shape bare_key = *shape;
    bare_key.elements_ = bare.data();
    shape->bare_ = EqualSpans(std::span<const Shape* const>(bare), shape->elements()) ? shape : InternShape(bare_key);
  } else {
    shape->bare_ = shape;
  }
  return shape;
}

const Shape* ShapePool::Array(ElementType type, Ints dims, const bool* dynamic, const Layout* layout) {
  Shape key;
  key.type_ = type;
  key.rank_ = static_cast<uint32_t>(dims.size());
  key.dims_ = dims.data();
  if (dynamic != nullptr && std::any_of(dynamic, dynamic + dims.size(), [](bool d) { return d; }))
    key.dynamic_ = dynamic;
  key.layout_ = layout;
  return InternShape(key);
}

const Shape* ShapePool::Tuple(std::span<const Shape* const> elements) {
  Shape key;
  key.type_ = ElementType::kTuple;
  key.elements_ = elements.data();
  key.element_count_ = static_cast<uint32_t>(elements.size());
  int64_t leaves = 0;
  for (const Shape* element : elements) leaves = std::min(leaves + element->LeafCount(), kMaxLeaves);
  key.leaf_count_ = static_cast<uint32_t>(leaves);
  return InternShape(key);
}

const Shape* ShapePool::Leaf(ElementType type) {
  Shape key;
  key.type_ = type;
  return InternShape(key);
}

const Shape* ShapePool::Buffer(const Shape* element) {
  Shape key;
  key.type_ = ElementType::kBuffer;
  key.elements_ = &element;
  key.element_count_ = 1;
  return InternShape(key);
}

const Shape* ShapePool::WithType(const Shape& shape, ElementType type) {
  return Array(type, shape.dims(), shape.dynamic_dims(), shape.layout());
}

const Shape* ShapePool::WithLayout(const Shape& shape, const Layout* layout) {
  return Array(shape.element_type(), shape.dims(), shape.dynamic_dims(), layout);
}

const Shape* ShapePool::Import(const Shape& shape) {
  if (shape.IsTuple() || shape.IsBuffer()) {
    std::vector<const Shape*> elements;
    for (const Shape* element : shape.elements()) elements.push_back(Import(*element));
    return shape.IsTuple() ? Tuple(elements) : Buffer(elements[0]);
  }
  if (!shape.IsArray()) return Leaf(shape.element_type());
  const Layout* layout = shape.layout() == nullptr ? nullptr : Intern(*shape.layout());
  return Array(shape.element_type(), shape.dims(), shape.dynamic_dims(), layout);
}

const Layout* ShapePool::Intern(const Layout& layout) {
  if (auto found = layouts_.find(&layout); found != layouts_.end()) return *found;
  Layout* copy = arena_.New<Layout>(layout);
  copy->minor_to_major = arena_.Copy(layout.minor_to_major);
  std::span<Tile> tiles = arena_.Copy(layout.tiles);
  for (Tile& tile : tiles) tile.dimensions = arena_.Copy(tile.dimensions);
  copy->tiles = tiles;
  std::span<SplitConfig> splits = arena_.Copy(layout.split_configs);
  for (SplitConfig& split : splits) split.indices = arena_.Copy(split.indices);
  copy->split_configs = splits;
  if (layout.physical_shape != nullptr) copy->physical_shape = Import(*layout.physical_shape);
  layouts_.insert(copy);
  return copy;
}

const Layout* ShapePool::DefaultLayout(size_t rank) {
  while (default_layouts_.size() <= rank) {
    std::vector<int64_t> order;
    for (size_t i = default_layouts_.size(); i > 0; --i) order.push_back(static_cast<int64_t>(i - 1));
    Layout layout;
    layout.minor_to_major = order;
    default_layouts_.push_back(Intern(layout));
  }
  return default_layouts_[rank];
}

absl::InlinedVector<const Shape*, 4> LeafShapes(const Shape& shape) {
  if (!shape.IsTuple()) return {&shape};
  absl::InlinedVector<const Shape*, 4> leaves;
  for (const Shape* element : shape.elements())
    for (const Shape* leaf : LeafShapes(*element)) leaves.push_back(leaf);
  return leaves;
}

}  // namespace shoal::internal
