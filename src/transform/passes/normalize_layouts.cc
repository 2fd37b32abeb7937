// Replaces bitcasts between layouts. Values in memory are always row-major, whatever their layout, so such a bitcast
// may move elements. Rewritten as reshapes and one transpose, the bitcast can cancel with the transpose that created
// the layout, be fused into a loop, or turn out to move no data. Also removes copies that only change a layout.
#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_set>

#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "kernels/arrays/layout_factors.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

std::vector<int64_t> Permuted(Ints dims, Ints order) {
  std::vector<int64_t> permuted;
  for (int64_t d : order) permuted.push_back(dims[static_cast<size_t>(d)]);
  return permuted;
}

bool IsSplittableBitcast(const Instruction& hlo) {
  if (!IsBitcast(hlo) || !hlo.shape().IsArray() || !hlo.operand_shape(0).IsArray()) return false;
  if (hlo.shape().has_dynamic() || hlo.operand_shape(0).has_dynamic()) return false;
  const ElementType type = hlo.shape().element_type();
  return type == hlo.operand_shape(0).element_type() && BitWidth(type) >= 8 &&
         hlo.shape().ElementCount() == hlo.operand_shape(0).ElementCount();
}

class LayoutNormalizer {
 public:
  LayoutNormalizer(Module& module, Computation& computation) : module_(module), computation_(computation) {}

  bool Run() {
    Replacements replacements;
    const std::vector<Instruction*> before = computation_.instructions;
    std::unordered_set<const Instruction*> read_by_bitcasts;  // operands of bitcasts that are kept
    for (const Instruction* hlo : before)
      if (IsBitcast(*hlo) && !IsSplittableBitcast(*hlo)) read_by_bitcasts.insert(hlo->operands[0]);
    for (Instruction* hlo : before) {
      if (!(*hlo)[kControlPredecessors].empty()) continue;
      // The layout of the entry result is part of the module's interface.
      const bool is_result = hlo == module_.entry->root && !std::ranges::is_sorted(MajorToMinor(hlo->shape()));
      if (IsSplittableBitcast(*hlo) && !read_by_bitcasts.contains(hlo) && !is_result) replacements[hlo] = SplitBitcast(*hlo);
      const bool is_copy = IsCopy(*hlo) && hlo->shape().IsArray() && hlo != computation_.root &&
                           !read_by_bitcasts.contains(hlo) && Compatible(hlo->shape(), hlo->operand_shape(0));
      if (is_copy && !hlo->shape().has_dynamic()) replacements[hlo] = hlo->operands[0];
    }
    if (replacements.empty()) return false;
    Apply(replacements, module_, computation_);
    std::erase_if(computation_.instructions, [&](const Instruction* hlo) { return replacements.contains(hlo); });
    SortTopologically(computation_);
    return true;
  }

 private:
  Instruction* SplitBitcast(Instruction& hlo) {
    Instruction* origin = hlo.operands[0];  // the first operand of a chain of bitcasts
    while (IsSplittableBitcast(*origin) && (*origin)[kControlPredecessors].empty()) origin = origin->operands[0];
    const Dims from = MajorToMinor(origin->shape()), to = MajorToMinor(hlo.shape());
    const std::vector<int64_t> physical = Permuted(hlo.shape().dims(), AsInts(to));
    // Transposes of whole dimensions can cancel with others, but a single transpose of factors is cheaper than two.
    const bool two = !std::ranges::is_sorted(from) && !std::ranges::is_sorted(to) &&
                     Permuted(origin->shape().dims(), AsInts(from)) != physical;
    if (const auto factors = CommonFactors(origin->shape(), hlo.shape()); factors && (two || IsIdentity(*factors)))
      return RearrangeFactors(origin, *factors, hlo);
    std::vector<int64_t> back(to.size());
    for (size_t i = 0; i < to.size(); ++i) back[static_cast<size_t>(to[i])] = static_cast<int64_t>(i);
    return Transpose(Reshape(Transpose(origin, AsInts(from), hlo), physical, hlo), back, hlo);
  }

  // Reshapes to the factors in source order, transposes them to target order, and reshapes to the result.
  Instruction* RearrangeFactors(Instruction* origin, std::vector<LayoutFactor> factors, const Instruction& instead_of) {
    std::ranges::sort(factors, std::greater(), &LayoutFactor::from);
    factors = MergeAdjacent(factors);
    std::vector<int64_t> sizes, order(factors.size());
    for (const LayoutFactor& factor : factors) sizes.push_back(factor.size);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, std::greater(), [&](int64_t i) { return factors[static_cast<size_t>(i)].to; });
    const bool moves = !std::ranges::is_sorted(order);
    Instruction* value = moves ? Transpose(Reshape(origin, sizes, instead_of), order, instead_of) : origin;
    return Reshape(value, instead_of.shape().dims(), instead_of);
  }

  // Merges factors that are adjacent in both orders.
  static std::vector<LayoutFactor> MergeAdjacent(const std::vector<LayoutFactor>& factors) {
    std::vector<LayoutFactor> merged;
    for (const LayoutFactor& factor : factors) {
      if (merged.empty() || merged.back().from != factor.from * factor.size || merged.back().to != factor.to * factor.size) {
        merged.push_back(factor);
      } else {
        merged.back() = {merged.back().size * factor.size, factor.from, factor.to};
      }
    }
    return merged;
  }

  Instruction* Reshape(Instruction* value, Ints dims, const Instruction& instead_of) {
    if (std::ranges::equal(value->shape().dims(), dims)) return value;
    return NewReshape(module_, computation_, module_.shapes.Array(value->shape().element_type(), dims), value, instead_of);
  }

  Instruction* Transpose(Instruction* value, Ints order, const Instruction& instead_of) {
    if (std::is_sorted(order.begin(), order.end())) return value;
    const Shape* shape =
        module_.shapes.Array(value->shape().element_type(), Permuted(value->shape().dims(), order));
    return NewTranspose(module_, computation_, shape, value, order, instead_of);
  }

  Module& module_;
  Computation& computation_;
};

}  // namespace

Result<bool> NormalizeLayouts(Module& module, const PassContext&) {
  bool any = false;
  const auto embedded = EmbeddedComputations(module);
  for (Computation* computation : module.computations)
    if (!embedded.contains(computation)) any |= LayoutNormalizer(module, *computation).Run();
  return any;
}

}  // namespace shoal::internal
