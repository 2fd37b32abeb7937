// Merges nested loops if all indices depend only on the combined loop variable. Fewer loops mean longer vectors.

#include "transform/loops/kernel.h"

namespace shoal::internal {
namespace {

template <class F>
void ForEachIndex(FusedKernel& kernel, const F& f) {
  for (KernelNode& node : kernel.nodes)
    if (node.kind == KernelNode::Kind::kLoad || node.kind == KernelNode::Kind::kIndex) f(node.index);
  for (KernelStore& store : kernel.stores) f(store.index);
}

// True if the index is a function of outer * inner_iterations + inner, so that the loops can be merged.
bool CanIndexMergedLoop(const IndexExpr& index, int outer, int inner, int64_t inner_iterations) {
  int64_t outer_factor = 0, inner_factor = 0;
  for (const IndexExprTerm& term : index.terms) {
    if (term.kind == IndexExprTerm::Kind::kQuotient || term.kind == IndexExprTerm::Kind::kRemainder) {
      auto never = [](int) { return false; };
      for (int loop : {outer, inner}) {
        const LinearPart part = LinearIn(*term.inner, loop, never);
        if (!part.is_linear || part.factor != 0) return false;
      }
    }
    if (term.kind != IndexExprTerm::Kind::kLoop) continue;
    if (term.number == outer) outer_factor = term.factor;
    if (term.number == inner) inner_factor = term.factor;
  }
  return outer_factor == inner_factor * inner_iterations;
}

// Removes loop `removed`, which had a single iteration or was merged with its enclosing loop. Renumbers later loops.
void Renumber(IndexExpr& index, int removed, int64_t merged_iterations) {
  std::erase_if(index.terms, [&](const IndexExprTerm& term) {
    return term.kind == IndexExprTerm::Kind::kLoop && term.number == removed - 1 && merged_iterations > 0;
  });
  for (IndexExprTerm& term : index.terms) {
    if (term.inner != nullptr) {
      IndexExpr inner = *term.inner;
      Renumber(inner, removed, 0);
      term.inner = std::make_shared<const IndexExpr>(std::move(inner));
    }
    if (term.kind != IndexExprTerm::Kind::kLoop || term.number < removed) continue;
    if (term.number == removed && merged_iterations > 0) term.max = merged_iterations - 1;
    --term.number;
  }
}

int64_t& IterationsOf(FusedKernel& kernel, int loop) {
  const auto i = static_cast<size_t>(loop);
  return i < kernel.rows.size() ? kernel.rows[i] : kernel.inner_loops[i - kernel.rows.size()];
}

void EraseLoop(FusedKernel& kernel, int loop) {
  const auto i = static_cast<size_t>(loop);
  if (i < kernel.rows.size())
    kernel.rows.erase(kernel.rows.begin() + loop);
  else
    kernel.inner_loops.erase(kernel.inner_loops.begin() + (loop - static_cast<int>(kernel.rows.size())));
}

// Drops loops with a single iteration. Their variables occur in no index, so only the numbers of later loops change.
// Columns keep their lane loop, because the loop before it is reduced.
void DropSingleIterationLoops(FusedKernel& kernel) {
  for (int loop = kernel.lane_loop(); loop >= 0; --loop) {
    const bool is_inner = loop >= static_cast<int>(kernel.rows.size());
    if (IterationsOf(kernel, loop) != 1 || (is_inner && kernel.inner_loops.size() == 1)) continue;
    const bool is_lane_loop = loop == kernel.lane_loop();
    if (kernel.form == FusedKernel::Form::kColumns && is_inner && (is_lane_loop || kernel.inner_loops.size() == 2)) continue;
    ForEachIndex(kernel, [&](IndexExpr& index) { Renumber(index, loop, 0); });
    EraseLoop(kernel, loop);
  }
}

// A row loop can be merged with an inner loop only if there are no reductions. The lane loop of columns is not merged.
bool CanMerge(const FusedKernel& kernel, int outer) {
  const auto border = static_cast<int>(kernel.rows.size());
  if (outer + 1 == border) return kernel.reductions.empty();
  return kernel.form != FusedKernel::Form::kColumns || outer + 1 != kernel.lane_loop();
}

// If the lane loop has a single iteration, the innermost row loop becomes the lane loop.
void WidenLanes(FusedKernel& kernel) {
  while (kernel.reductions.empty() && kernel.inner_loops.size() == 1 && kernel.inner_loops[0] == 1 && !kernel.rows.empty()) {
    kernel.inner_loops[0] = kernel.rows.back();
    kernel.rows.pop_back();
  }
}

}  // namespace

void MergeLoops(FusedKernel& kernel) {
  DropSingleIterationLoops(kernel);
  WidenLanes(kernel);
  for (int outer = kernel.lane_loop() - 1; outer >= 0; --outer) {
    const int64_t inner = IterationsOf(kernel, outer + 1);
    bool merges = CanMerge(kernel, outer);
    ForEachIndex(kernel, [&](IndexExpr& index) { merges = merges && CanIndexMergedLoop(index, outer, outer + 1, inner); });
    if (!merges) continue;
    const int64_t all = inner * IterationsOf(kernel, outer);
    ForEachIndex(kernel, [&](IndexExpr& index) { Renumber(index, outer + 1, all); });
    IterationsOf(kernel, outer + 1) = all;
    EraseLoop(kernel, outer);
  }
}

}  // namespace shoal::internal
