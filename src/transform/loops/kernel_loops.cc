// Chooses the loops of a kernel from the shape of its root or of its first reduction.
#include <algorithm>
#include <set>

#include "core/ops/families.h"
#include "transform/loops/kernel_builder.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
const Instruction* KernelBuilder::FirstReduction() {
  std::vector<const Instruction*> to_do(roots_.begin(), roots_.end());
  std::set<const Instruction*> seen(inputs_.begin(), inputs_.end());
  const Instruction* found = nullptr;
  while (!to_do.empty()) {
    const Instruction* hlo = to_do.back();
    to_do.pop_back();
    if (!seen.insert(hlo).second) continue;
    if (IsKernelReduction(*hlo)) found = hlo;
    to_do.insert(to_do.end(), hlo->operands.begin(), hlo->operands.end());
  }
  return found;
}

void KernelBuilder::SetLoops(const Instruction& root) {
  if (!root.shape().IsArray()) return void(Fail("a result is a tuple"));
  full_dims_.assign(root.shape().dims().begin(), root.shape().dims().end());
  if (box_.dims.empty())
    for (int64_t dim : full_dims_) box_.dims.emplace_back(0, dim);
  for (size_t d = 0; d < full_dims_.size(); ++d) {
    const auto [begin, end] = box_.dims[d];
    full_.push_back(IndexExpr::Constant(begin) + IndexExpr::Loop(static_cast<int>(d), end - begin));
    kernel_->rows.push_back(end - begin);
  }
  kernel_->inner_loops = {1};
  if (full_dims_.empty()) return;
  kernel_->inner_loops = {kernel_->rows.back()};
  kernel_->rows.pop_back();
}

void KernelBuilder::SetLoopsOfReduction(const Instruction& hlo) {
  const bool is_function = !IsLoopReduction(hlo);
  if ((is_function && !IsFunctionReduction(hlo)) || hlo[kDimensions].empty())
    return void(Fail("no loop computes one of the reductions"));
  const Ints dims = hlo.operand_shape(0).dims();
  full_dims_.assign(dims.begin(), dims.end());
  std::vector<bool> is_reduced(dims.size(), false);
  for (int64_t d : hlo[kDimensions]) is_reduced[static_cast<size_t>(d)] = true;
  std::vector<size_t> kept, reduced;
  for (size_t d = 0; d < dims.size(); ++d) (is_reduced[d] ? reduced : kept).push_back(d);
  // Lanes run along the innermost dimension with more than one element. A function needs one that is kept.
  size_t last = dims.size();
  while (last > 0 && (dims[last - 1] == 1 || (is_function && is_reduced[last - 1]))) --last;
  const bool columns = last > 0 && !is_reduced[last - 1];
  kernel_->form = columns ? FusedKernel::Form::kColumns : FusedKernel::Form::kRows;

  full_.resize(dims.size());
  std::vector<size_t> order;  // for each loop, its dimension
  for (size_t d : kept)
    if (!columns || d != last - 1) order.push_back(d);
  const size_t row_loops = order.size();
  order.insert(order.end(), reduced.begin(), reduced.end());
  if (columns) order.push_back(last - 1);
  for (size_t i = 0; i < order.size(); ++i) {
    full_[order[i]] = IndexExpr::Loop(static_cast<int>(i), dims[order[i]]);
    (i < row_loops ? kernel_->rows : kernel_->inner_loops).push_back(dims[order[i]]);
  }
  if (kernel_->inner_loops.empty()) kernel_->inner_loops = {1};
  for (size_t d : kept) {
    kept_.push_back(full_[d]);
    kept_dims_.push_back(dims[d]);
  }
  reduces_ = true;
  // True if each row is contiguous in memory: then other reductions may split the same rows into different dimensions.
  reduces_last_ = std::is_sorted(order.begin(), order.end());
}

// The dimension of windows along which lanes run: the innermost one that is not short, or else the longest.
static size_t LaneDimOf(Ints dims) {
  constexpr int64_t kShort = 8;
  size_t longest = dims.size() - 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d] > dims[longest]) longest = d;
    if (dims[d] >= kShort) return d;
  }
  return longest;
}

void KernelBuilder::SetLoopsOfWindow(const Instruction& hlo) {
  if (!IsLoopWindow(hlo) && !IsFunctionReduction(hlo)) return void(Fail("no loop computes the windows"));
  window_ = &hlo;
  reduces_ = true;
  kernel_->form = FusedKernel::Form::kColumns;
  const Ints dims = FirstElement(hlo.shape()).dims();
  kept_dims_.assign(dims.begin(), dims.end());
  const size_t lane = window_lane_dim_ = LaneDimOf(dims);
  if (box_.dims.empty())
    for (int64_t dim : dims) box_.dims.emplace_back(0, dim);
  int number = 0;
  auto loop_over = [&](size_t d, std::vector<int64_t>& loops) {
    const auto [begin, end] = box_.dims[d];
    loops.push_back(end - begin);
    return IndexExpr::Constant(begin) + IndexExpr::Loop(number++, end - begin);
  };
  kept_.resize(dims.size());
  for (size_t d = 0; d < dims.size(); ++d)
    if (d != lane) kept_[d] = loop_over(d, kernel_->rows);
  for (const WindowDim& dim : hlo[kWindow]->dims) {
    full_.push_back(dim.size == 1 ? IndexExpr() : IndexExpr::Loop(number, dim.size));
    if (dim.size == 1) continue;
    kernel_->inner_loops.push_back(dim.size);
    ++number;
  }
  if (kernel_->inner_loops.empty()) kernel_->inner_loops.push_back(1), ++number;
  kept_[lane] = loop_over(lane, kernel_->inner_loops);
}

bool KernelBuilder::ReducesLoopDims(const Instruction& hlo) const {
  Indices kept;
  const Ints reduced = hlo[kDimensions];
  for (size_t d = 0; d < full_.size(); ++d)
    if (std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) == reduced.end()) kept.push_back(full_[d]);
  return kept == kept_;
}

bool KernelBuilder::ReducesLast(const Instruction& hlo) {
  const Ints reduced = hlo[kDimensions];
  const int64_t first = hlo.operand_shape(0).rank() - std::ssize(reduced);
  return std::all_of(reduced.begin(), reduced.end(), [&](int64_t d) { return d >= first; });
}

}  // namespace shoal::internal
