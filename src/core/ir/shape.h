// Shapes and layouts: immutable and interned in a ShapePool, so that two equal shapes of one module are one object
// and shapes are compared by address.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "core/base/arena.h"
#include "core/ir/element_type.h"

namespace shoal::internal {

using Ints = std::span<const int64_t>;
class Shape;

// One tile of a tiled layout, minor dimensions last; kCombine ("*") merges a dimension into the next more minor one.
struct Tile {
  static constexpr int64_t kCombine = INT64_MIN;
  Ints dimensions;
};

struct SplitConfig {
  int64_t dimension = 0;
  Ints indices;
};

// The layout of an array in memory: {1,0:T(8,128)(2,1)E(4)S(1)}.
struct Layout {
  Ints minor_to_major;
  std::span<const Tile> tiles;                       // T(8,128)(2,1)
  int64_t tail_padding_alignment = 1;                // L(n), in elements
  ElementType index_type = ElementType::kInvalid;    // #(u32)
  ElementType pointer_type = ElementType::kInvalid;  // *(u32)
  int64_t element_size_in_bits = 0;                  // E(n); 0: the type's own
  int64_t memory_space = 0;                          // S(n)
  std::span<const SplitConfig> split_configs;        // SC(0:512)
  const Shape* physical_shape = nullptr;             // P(...)
  int64_t dynamic_metadata_bytes = 0;                // M(n)

  // True if only `minor_to_major` is set.
  bool plain() const;
};

// Parsers reject a tuple with more leaves than this: a text that nests tuples can double the number at every level.
inline constexpr int64_t kMaxLeaves = int64_t{1} << 20;

// Size of a dimension written "?".
inline constexpr int64_t kUnboundedSize = INT64_MIN;

// A path into nested tuples.
using ShapeIndex = std::vector<int64_t>;

class Shape {
 public:
  ElementType element_type() const { return type_; }
  bool IsTuple() const { return type_ == ElementType::kTuple; }
  bool IsToken() const { return type_ == ElementType::kToken; }
  bool IsOpaque() const { return type_ == ElementType::kOpaque; }
  bool IsBuffer() const { return type_ == ElementType::kBuffer; }
  bool IsArray() const { return IsArrayType(type_); }
  bool IsScalar() const { return IsArray() && rank_ == 0; }

  // Arrays.
  int rank() const { return static_cast<int>(rank_); }
  Ints dims() const { return {dims_, rank_}; }
  int64_t dim(int64_t i) const { return dims_[i]; }
  bool is_dynamic(int64_t i) const { return dynamic_ != nullptr && dynamic_[i]; }
  bool has_dynamic() const { return dynamic_ != nullptr; }
  const bool* dynamic_dims() const { return dynamic_; }
  const Layout* layout() const { return layout_; }  // null if absent
  // Product of all (bounded) dimensions; no value if it overflows.
  std::optional<int64_t> ElementCount() const;

  // Tuples; a buffer b(f32[4]) has the one element f32[4].
  std::span<const Shape* const> elements() const { return {elements_, element_count_}; }
  const Shape& element(int64_t i) const { return *elements_[i]; }
  // The subshape at a path; null if there is none.
  const Shape* At(std::span<const int64_t> index) const;
  // Number of arrays and tokens in the shape, tuples flattened; saturates at kMaxLeaves.
  int64_t LeafCount() const { return leaf_count_; }

  // This shape without layouts and with static dimensions. Compatible shapes have the same bare object.
  const Shape& bare() const { return *bare_; }

 private:
  friend class ShapePool;
  ElementType type_ = ElementType::kInvalid;
  uint32_t rank_ = 0;
  uint32_t element_count_ = 0;
  uint32_t leaf_count_ = 1;
  const int64_t* dims_ = nullptr;
  const bool* dynamic_ = nullptr;
  const Layout* layout_ = nullptr;
  const Shape* const* elements_ = nullptr;
  const Shape* bare_ = nullptr;
};

// True for equal types and dimensions, ignoring layouts and dynamic dimensions. Only for shapes of one pool.
inline bool Compatible(const Shape& a, const Shape& b) { return &a.bare() == &b.bare(); }

// The first element of a tuple; returns any other shape, and the empty tuple, unchanged.
inline const Shape& FirstElement(const Shape& shape) {
  return shape.IsTuple() && !shape.elements().empty() ? shape.element(0) : shape;
}

// The array in a buffer; returns any other shape unchanged.
inline const Shape& ArrayIn(const Shape& shape) { return shape.IsBuffer() ? shape.element(0) : shape; }

// Creates and owns the shapes of a module.
class ShapePool {
 public:
  explicit ShapePool(Arena& arena) : arena_(arena) {}
  ShapePool(const ShapePool&) = delete;
  ShapePool& operator=(const ShapePool&) = delete;

  // An array with the default, row-major layout.
  const Shape* Array(ElementType type, Ints dims) { return Array(type, dims, nullptr, DefaultLayout(dims.size())); }
  // `dynamic` marks dimensions "<=n" and may be null.
  const Shape* Array(ElementType type, Ints dims, const bool* dynamic, const Layout* layout);
  const Shape* Scalar(ElementType type) { return Array(type, {}); }
  const Shape* Tuple(std::span<const Shape* const> elements);
  const Shape* Token() { return Leaf(ElementType::kToken); }
  const Shape* Opaque() { return Leaf(ElementType::kOpaque); }
  const Shape* Buffer(const Shape* element);

  // The array `shape` with one property changed.
  const Shape* WithType(const Shape& shape, ElementType type);
  const Shape* WithLayout(const Shape& shape, const Layout* layout);
  const Shape* WithDefaultLayout(const Shape& shape) { return WithLayout(shape, DefaultLayout(shape.dims().size())); }

  // A copy of `shape`, which may come from another pool.
  const Shape* Import(const Shape& shape);

  const Layout* Intern(const Layout& layout);
  const Layout* DefaultLayout(size_t rank);

 private:
  struct Hash {
    size_t operator()(const Shape* shape) const;
    size_t operator()(const Layout* layout) const;
  };
  struct Equal {
    bool operator()(const Shape* a, const Shape* b) const;
    bool operator()(const Layout* a, const Layout* b) const;
  };

  const Shape* Leaf(ElementType type);
  const Shape* InternShape(const Shape& key);

  Arena& arena_;
  absl::flat_hash_set<const Shape*, Hash, Equal> shapes_;
  absl::flat_hash_set<const Layout*, Hash, Equal> layouts_;
  std::vector<const Layout*> default_layouts_;
};

// Formats a shape as HLO text, f32[2,3]{1,0:T(8,128)} or (f32[], s32[4]{0}), with or without layouts.
void AppendShape(std::string& out, const Shape& shape, bool with_layout = true);
void AppendLayout(std::string& out, const Layout& layout);
inline std::string ToString(const Shape& shape, bool with_layout = false) {
  std::string out;
  AppendShape(out, shape, with_layout);
  return out;
}
// {1,0}
std::string ToString(Ints ints);
inline std::string ToString(const ShapeIndex& index) { return ToString(Ints(index)); }

// The arrays and tokens of a shape, tuples flattened.
absl::InlinedVector<const Shape*, 4> LeafShapes(const Shape& shape);

}  // namespace shoal::internal
