// Two loops that every input and output goes through as through one become one: the fewer loops, the longer the vectors.
#include <algorithm>

#include "transform/loops/kernel.h"

namespace shoal::internal {
namespace {

// Every index of the kernel.
template <class F>
void ForEachIndex(FusedKernel& kernel, const F& f) {
  for (KernelNode& node : kernel.nodes)
    if (node.kind == KernelNode::Kind::kLoad || node.kind == KernelNode::Kind::kIndex) f(node.index);
  for (KernelStore& store : kernel.stores) f(store.index);
}

// The index is a function of outer * rounds + inner: the loops may be one.
bool SeesOne(const IndexExpr& index, int outer, int inner, int64_t rounds) {
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
    if (term.of == outer) outer_factor = term.factor;
    if (term.of == inner) inner_factor = term.factor;
  }
  return outer_factor == inner_factor * rounds;
}

// Loop `gone` is part of loop `gone - 1` from now on, or was never more than one round; later loops move up.
void Renumber(IndexExpr& index, int gone, int64_t merged_rounds) {
  std::erase_if(index.terms, [&](const IndexExprTerm& term) {
    return term.kind == IndexExprTerm::Kind::kLoop && term.of == gone - 1 && merged_rounds > 0;
  });
  for (IndexExprTerm& term : index.terms) {
    if (term.inner != nullptr) {
      IndexExpr inner = *term.inner;
      Renumber(inner, gone, 0);
      term.inner = std::make_shared<const IndexExpr>(std::move(inner));
    }
    if (term.kind != IndexExprTerm::Kind::kLoop || term.of < gone) continue;
    if (term.of == gone && merged_rounds > 0) term.most = merged_rounds - 1;
    --term.of;
  }
}

int64_t& RoundsOf(FusedKernel& kernel, int loop) {
  const auto i = static_cast<size_t>(loop);
  return i < kernel.rows.size() ? kernel.rows[i] : kernel.inner_loops[i - kernel.rows.size()];
}

void Erase(FusedKernel& kernel, int loop) {
  const auto i = static_cast<size_t>(loop);
  if (i < kernel.rows.size())
    kernel.rows.erase(kernel.rows.begin() + loop);
  else
    kernel.inner_loops.erase(kernel.inner_loops.begin() + (loop - static_cast<int>(kernel.rows.size())));
}

// A loop of one round is in no index; it only has a number.
void DropSingleRounds(FusedKernel& kernel) {
  for (int loop = kernel.lane_loop(); loop >= 0; --loop) {
    const bool is_walked = loop >= static_cast<int>(kernel.rows.size());
    if (RoundsOf(kernel, loop) != 1 || (is_walked && kernel.inner_loops.size() == 1)) continue;
    if (kernel.form == FusedKernel::Form::kColumns && is_walked && kernel.inner_loops.size() == 2) continue;
    ForEachIndex(kernel, [&](IndexExpr& index) { Renumber(index, loop, 0); });
    Erase(kernel, loop);
  }
}

// Rows and what is walked may only be merged where nothing is reduced, and lanes of columns stay apart.
bool MayMerge(const FusedKernel& kernel, int outer) {
  const auto border = static_cast<int>(kernel.rows.size());
  if (outer + 1 == border) return kernel.reductions.empty();
  return kernel.form != FusedKernel::Form::kColumns || outer + 1 != kernel.lane_loop();
}

// Lanes of one round: the loop around them becomes the lanes'.
void WidenLanes(FusedKernel& kernel) {
  while (kernel.reductions.empty() && kernel.inner_loops.size() == 1 && kernel.inner_loops[0] == 1 && !kernel.rows.empty()) {
    kernel.inner_loops[0] = kernel.rows.back();
    kernel.rows.pop_back();
  }
}

}  // namespace

void MergeLoops(FusedKernel& kernel) {
  DropSingleRounds(kernel);
  WidenLanes(kernel);
  for (int outer = kernel.lane_loop() - 1; outer >= 0; --outer) {
    const int64_t rounds = RoundsOf(kernel, outer + 1);
    bool merges = MayMerge(kernel, outer);
    ForEachIndex(kernel, [&](IndexExpr& index) { merges = merges && SeesOne(index, outer, outer + 1, rounds); });
    if (!merges) continue;
    const int64_t all = rounds * RoundsOf(kernel, outer);
    ForEachIndex(kernel, [&](IndexExpr& index) { Renumber(index, outer + 1, all); });
    RoundsOf(kernel, outer + 1) = all;
    Erase(kernel, outer);
  }
}

}  // namespace shoal::internal
