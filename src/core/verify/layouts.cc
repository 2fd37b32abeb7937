// Layouts are valid for their shapes.
#include "absl/container/flat_hash_set.h"
#include "core/ops/collective.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/traits.h"
#include "core/ops/rules.h"
#include "core/verify/checks.h"

namespace shoal::internal {
namespace {

struct LayoutProblem {
  std::string_view rule;  // empty: no problem
  std::string message;
};

LayoutProblem CheckSplits(const Shape& array, const Layout& layout) {
  std::vector<int64_t> split_dims;
  for (const SplitConfig& split : layout.split_configs) {
    if (split.dimension < 0 || split.dimension >= array.rank() || Contains(split_dims, split.dimension))
      return {"layout.C6",
              StrCat("split dimensions must be distinct and in [0, ", array.rank(), "), got ", split.dimension)};
    split_dims.push_back(split.dimension);
    // Split dimensions are numbered from the most major dimension.
    const Ints order = layout.minor_to_major;
    const int64_t size = array.dim(order[order.size() - 1 - static_cast<size_t>(split.dimension)]);
    int64_t last = 0;
    for (int64_t index : split.indices) {
      if (index <= last || index >= size)
        return {"layout.C6", StrCat("split indices must ascend within [1, ", size, "), got ", Str(split.indices))};
      last = index;
    }
  }
  return {};
}

LayoutProblem CheckLayout(const Shape& array, const Layout& layout) {
  const Ints order = layout.minor_to_major;
  if (std::ssize(order) != array.rank() || !AllWithin(order, 0, array.rank()) || !AllDistinct(order))
    return {"layout.C1",
            StrCat("minor-to-major must list each of the ", array.rank(), " dimensions once, got ", Str(order))};
  for (const Tile& tile : layout.tiles) {
    auto fits = [](int64_t size) { return size > 0 || size == Tile::kCombine; };
    if (tile.dimensions.empty() || !std::all_of(tile.dimensions.begin(), tile.dimensions.end(), fits))
      return {"layout.C2", StrCat("tiles must have positive sizes, got (", StrJoin(tile.dimensions, ","), ")")};
  }
  if (layout.tail_padding_alignment <= 0)
    return {"layout.C3", StrCat("tail padding must be positive, got L(", layout.tail_padding_alignment, ")")};
  if (layout.index_type != ElementType::kInvalid || layout.pointer_type != ElementType::kInvalid ||
      layout.physical_shape != nullptr)
    return {"layout.C4", "only sparse arrays have index and pointer types, and this array is dense"};
  if (layout.element_size_in_bits < 0)
    return {"layout.C5", StrCat("element size must not be negative, got E(", layout.element_size_in_bits, ")")};
  return CheckSplits(array, layout);
}

// Checks each shape of a module once, even if tuples repeat it.
void CheckShape(const Shape& shape, const Instruction& hlo, absl::flat_hash_set<const Shape*>& seen,
                VerifierContext& context) {
  if (!seen.insert(&shape).second) return;
  for (const Shape* element : shape.elements()) CheckShape(*element, hlo, seen, context);
  if (!shape.IsArray() || shape.layout() == nullptr) return;
  if (LayoutProblem problem = CheckLayout(shape, *shape.layout()); !problem.rule.empty())
    context.Add(hlo, problem.rule, std::move(problem.message));
}

// Rule C7: constrain_layout must be set on all all-reduces or on none.
void CheckConstrainedAllReduces(VerifierContext& context) {
  const Instruction* first = nullptr;
  ForEachInstruction(context, [&](const Instruction& hlo) {
    if (!IsAllReduce(hlo)) return;
    if (first == nullptr) first = &hlo;
    if (hlo[kConstrainLayout] != (*first)[kConstrainLayout])
      context.Add(hlo, "layout.C7",
                  StrCat("constrain_layout must be the same for all all-reduces, but ", first->name, " has ",
                         (*first)[kConstrainLayout] ? "true" : "false"));
  });
}

}  // namespace

void CheckLayouts(VerifierContext& context) {
  absl::flat_hash_set<const Shape*> seen;
  ForEachInstruction(context, [&](const Instruction& hlo) { CheckShape(hlo.shape(), hlo, seen, context); });
  CheckConstrainedAllReduces(context);
}

}  // namespace shoal::internal
