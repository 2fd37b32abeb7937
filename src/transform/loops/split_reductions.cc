// Splits a kernel that reduces few long rows. One kernel reduces parts of the rows, a second one combines the partial
// results. The parts depend only on the shape, so the result has identical bits for any number of threads.
#include <algorithm>
#include <functional>

#include "transform/loops/kernel.h"

namespace shoal::internal {
namespace {

constexpr int64_t kPartElements = int64_t{1} << 16;
constexpr int64_t kFewRows = 8;

// Number of iterations of the first inner loop in one part; 0 if the rows are not split.
int64_t PartSizeOf(const FusedKernel& kernel) {
  if (kernel.reductions.empty() || kernel.schedule.part_size != 0 || kernel.schedule.is_part || kernel.RowCount() >= kFewRows) return 0;
  for (const KernelReduction& reduction : kernel.reductions)
    if (reduction.stage != 0 || reduction.kind == KernelReduction::Kind::kFunction) return 0;
  const bool columns = kernel.form == FusedKernel::Form::kColumns;
  for (const KernelStore& store : kernel.stores)
    if (!columns && !store.per_row) return 0;
  const int64_t all = kernel.InnerIterations();
  if (all < 4 * kPartElements) return 0;
  const int64_t each = std::max(kPartElements, all / 32), rest = all / kernel.inner_loops[0];
  int64_t part_size = std::max<int64_t>(1, each / rest);
  if (kernel.inner_loops.size() == 1) part_size = (part_size + 63) / 64 * 64;  // round up to whole vectors
  return part_size >= kernel.inner_loops[0] ? 0 : part_size;
}

// Increments the number of every loop whose number is at least `from`.
IndexExpr WithShiftedLoops(const IndexExpr& index, int from) {
  IndexExpr moved = index;
  for (IndexExprTerm& term : moved.terms) {
    if (term.kind == IndexExprTerm::Kind::kLoop && term.number >= from) ++term.number;
    if (term.inner != nullptr) term.inner = std::make_shared<const IndexExpr>(WithShiftedLoops(*term.inner, from));
  }
  return moved;
}

IndexExpr RowNumber(const std::vector<int64_t>& rows) {
  IndexExpr number;
  int64_t stride = 1;
  for (size_t i = rows.size(); i-- > 0; stride *= rows[i])
    number = number + IndexExpr::Loop(static_cast<int>(i), rows[i]) * stride;
  return number;
}

// Computes a partial result of each reduction for each row and part.
FusedKernel Partial(const FusedKernel& kernel, int64_t part_size, int64_t parts) {
  const int border = static_cast<int>(kernel.rows.size());
  FusedKernel partial = kernel;
  partial.rows.push_back(parts);
  partial.schedule.part_size = part_size;
  for (KernelNode& node : partial.nodes) node.index = WithShiftedLoops(node.index, border);
  partial.stores.clear();
  partial.outputs.clear();
  const bool columns = kernel.form == FusedKernel::Form::kColumns;
  for (size_t r = 0; r < kernel.reductions.size(); ++r) {
    for (size_t k = 0; k < kernel.reductions[r].elements.size(); ++k) {
      KernelNode result;
      result.kind = KernelNode::Kind::kResult;
      result.type = kernel.nodes[static_cast<size_t>(kernel.reductions[r].elements[k])].type;
      result.reduction = static_cast<int>(r);
      result.input = static_cast<int>(k);
      IndexExpr offset = RowNumber(partial.rows);
      if (columns) offset = offset * kernel.inner_loops.back() + IndexExpr::Loop(partial.lane_loop(), kernel.inner_loops.back());
      partial.stores.push_back({static_cast<int>(partial.nodes.size()), static_cast<int>(partial.outputs.size()), offset, !columns});
      partial.outputs.push_back(result.type);
      partial.nodes.push_back(std::move(result));
    }
  }
  DropUnused(partial);
  return partial;
}

// Reduces the partial results, which are its last inputs, and computes the rest of the kernel.
FusedKernel Combine(const FusedKernel& kernel, int64_t parts) {
  const bool columns = kernel.form == FusedKernel::Form::kColumns;
  const int border = static_cast<int>(kernel.rows.size());
  const int old_lane_loop = kernel.lane_loop(), new_lane_loop = columns ? border + 1 : border;
  FusedKernel combine = kernel;
  combine.inner_loops = {parts};
  if (columns) combine.inner_loops.push_back(kernel.inner_loops.back());
  std::function<IndexExpr(const IndexExpr&)> in_lanes = [&](const IndexExpr& index) {
    IndexExpr moved = index;
    for (IndexExprTerm& term : moved.terms) {
      if (term.kind == IndexExprTerm::Kind::kLoop && term.number == old_lane_loop) term.number = new_lane_loop;
      if (term.inner != nullptr) term.inner = std::make_shared<const IndexExpr>(in_lanes(*term.inner));
    }
    return moved;
  };
  if (columns) {
    for (KernelNode& node : combine.nodes) node.index = in_lanes(node.index);
    for (KernelStore& store : combine.stores) store.index = in_lanes(store.index);
  }
  std::vector<KernelNode> loads;
  for (KernelReduction& reduction : combine.reductions) {
    for (int& element : reduction.elements) {
      KernelNode load;
      load.kind = KernelNode::Kind::kLoad;
      load.type = kernel.nodes[static_cast<size_t>(element)].type;
      load.input = static_cast<int>(combine.inputs.size());
      load.index = RowNumber(kernel.rows) * parts + IndexExpr::Loop(border, parts);
      if (columns) load.index = load.index * kernel.inner_loops.back() + IndexExpr::Loop(new_lane_loop, kernel.inner_loops.back());
      combine.inputs.push_back(load.type);
      element = static_cast<int>(loads.size());
      loads.push_back(std::move(load));
    }
  }
  // The loads come first, because the nodes of the reduction results must follow them.
  const auto shift = static_cast<int>(loads.size());
  for (KernelNode& node : combine.nodes) {
    for (int& operand : node.operands)
      if (operand >= 0) operand += shift;
    node.index = WithRenumberedNodes(node.index, [&](int number) { return number + shift; });
  }
  for (KernelStore& store : combine.stores) {
    store.node += shift;
    store.index = WithRenumberedNodes(store.index, [&](int number) { return number + shift; });
  }
  for (KernelReduction& reduction : combine.reductions)
    for (int& init : reduction.inits) init += shift;
  combine.nodes.insert(combine.nodes.begin(), loads.begin(), loads.end());
  DropUnused(combine);
  return combine;
}

template <class F>
void ForEachDataNode(const IndexExpr& index, const F& f) {
  for (const IndexExprTerm& term : index.terms) {
    if (term.kind == IndexExprTerm::Kind::kData) f(term.number);
    if (term.inner != nullptr) ForEachDataNode(*term.inner, f);
  }
}

}  // namespace

IndexExpr WithRenumberedNodes(const IndexExpr& index, const std::function<int(int)>& to) {
  IndexExpr moved = index;
  for (IndexExprTerm& term : moved.terms) {
    if (term.kind == IndexExprTerm::Kind::kData) term.number = to(term.number);
    if (term.inner != nullptr) term.inner = std::make_shared<const IndexExpr>(WithRenumberedNodes(*term.inner, to));
  }
  return moved;
}

void DropUnused(FusedKernel& kernel) {
  std::vector<bool> used(kernel.nodes.size(), false);
  auto use = [&](int node) { used[static_cast<size_t>(node)] = true; };
  for (const KernelStore& store : kernel.stores) {
    use(store.node);
    ForEachDataNode(store.index, use);
  }
  for (const KernelReduction& reduction : kernel.reductions) {
    for (int element : reduction.elements) use(element);
    for (int init : reduction.inits) use(init);
    if (reduction.is_element >= 0) use(reduction.is_element);
  }
  for (size_t i = kernel.nodes.size(); i-- > 0;) {
    if (!used[i]) continue;
    for (int operand : kernel.nodes[i].operands)
      if (operand >= 0) use(operand);
    ForEachDataNode(kernel.nodes[i].index, use);
  }
  std::vector<int> number(kernel.nodes.size(), -1);
  std::vector<KernelNode> nodes;
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    if (!used[i]) continue;
    number[i] = static_cast<int>(nodes.size());
    nodes.push_back(std::move(kernel.nodes[i]));
  }
  auto to = [&](int node) { return number[static_cast<size_t>(node)]; };
  for (KernelNode& node : nodes) {
    for (int& operand : node.operands)
      if (operand >= 0) operand = to(operand);
    node.index = WithRenumberedNodes(node.index, to);
  }
  kernel.nodes = std::move(nodes);
  for (KernelReduction& reduction : kernel.reductions) {
    for (int& element : reduction.elements) element = to(element);
    for (int& init : reduction.inits) init = to(init);
    if (reduction.is_element >= 0) reduction.is_element = to(reduction.is_element);
  }
  for (KernelStore& store : kernel.stores) {
    store.node = to(store.node);
    store.index = WithRenumberedNodes(store.index, to);
  }
}

std::optional<SplitReductionKernels> SplitReduction(const FusedKernel& kernel) {
  const int64_t part_size = PartSizeOf(kernel);
  if (part_size == 0) return std::nullopt;
  const int64_t parts = (kernel.inner_loops[0] + part_size - 1) / part_size;
  return SplitReductionKernels{Partial(kernel, part_size, parts), Combine(kernel, parts)};
}

}  // namespace shoal::internal
