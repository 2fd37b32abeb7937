// scatter of few windows. Each row is one window, in order; lanes are the elements of a window.

#include "transform/loops/small_kernels.h"
#include "core/ops/gather_scatter.h"
#include "transform/loops/kernel_nodes.h"
#include "transform/loops/lane_kernel.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

using Scatter = Op<Opcode::kScatter>;

// Sets one loop for each dimension of the updates, window dimensions last, and returns their index.
std::vector<IndexExpr> SetLoops(FusedKernel& kernel, const Shape& updates, Ints window_dims) {
  std::vector<IndexExpr> index(static_cast<size_t>(updates.rank()));
  int number = 0;
  for (const bool in_window : {false, true}) {
    for (int64_t d = 0; d < updates.rank(); ++d) {
      if (Contains(window_dims, d) != in_window) continue;
      index[static_cast<size_t>(d)] = IndexExpr::Loop(number++, updates.dim(d));
      (in_window ? kernel.inner_loops : kernel.rows).push_back(updates.dim(d));
    }
  }
  if (kernel.inner_loops.empty()) kernel.inner_loops = {1};
  return index;
}

class ScatterKernel {
 public:
  explicit ScatterKernel(const Instruction& hlo) : hlo_(hlo), array_(hlo.operand_shape(0)), indices_(hlo.operand_shape(1)), updates_(hlo.operand_shape(2)) {}

  FusedKernel Make() {
    const ElementType type = array_.element_type();
    kernel_.inputs = {type, indices_.element_type(), type};
    kernel_.outputs = {type};
    update_ = SetLoops(kernel_, updates_, hlo_[Scatter::kUpdateWindowDims]);
    const IndexExpr offset = Linearized(ElementIndex(), array_.dims());
    const int before = Add(kernel_, LoadOf(0, type, offset));
    const int update = Add(kernel_, LoadOf(2, type, Linearized(update_, updates_.dims())));
    const int after = AddFunction(kernel_, *hlo_[kToApply], {before, update})[0];
    // A window that is partly out of bounds is skipped.
    const int kept = fits_ < 0 ? after : Add(kernel_, ApplyOf(Opcode::kSelect, type, {fits_, after, before}));
    kernel_.stores = {{kept, 0, offset, false}};
    return std::move(kernel_);
  }

 private:
  // The index of an update in each dimension of the array.
  std::vector<IndexExpr> ElementIndex() {
    const Ints window_dims = hlo_[Scatter::kUpdateWindowDims], inserted = hlo_[Scatter::kInsertedWindowDims];
    std::vector<IndexExpr> element(static_cast<size_t>(array_.rank()));
    std::vector<int64_t> sizes(element.size(), 1);
    size_t next = 0;
    for (int64_t d = 0; d < array_.rank(); ++d) {
      if (Contains(inserted, d) || Contains(hlo_[Scatter::kInputBatchingDims], d)) continue;
      const auto from = static_cast<size_t>(window_dims[next++]);
      element[static_cast<size_t>(d)] = update_[from];
      sizes[static_cast<size_t>(d)] = updates_.dims()[from];
    }
    AddBatches(element);
    const Ints to = hlo_[Scatter::kScatterDimsToOperandDims];
    for (size_t i = 0; i < to.size(); ++i) {
      const auto d = static_cast<size_t>(to[i]);
      element[d] = element[d] + Start(static_cast<int64_t>(i), array_.dims()[d] - sizes[d]);
    }
    return element;
  }

  // The index in scatter_indices, without index_vector_dim.
  std::vector<IndexExpr> IndexInIndices() const {
    std::vector<IndexExpr> index;
    for (int64_t d = 0; d < updates_.rank(); ++d)
      if (!Contains(hlo_[Scatter::kUpdateWindowDims], d)) index.push_back(update_[static_cast<size_t>(d)]);
    return index;
  }

  void AddBatches(std::vector<IndexExpr>& element) const {
    const Ints batch = hlo_[Scatter::kInputBatchingDims], from = hlo_[Scatter::kScatterIndicesBatchingDims];
    const std::vector<IndexExpr> index = IndexInIndices();
    for (size_t i = 0; i < batch.size(); ++i) {
      const int64_t at = from[i] > hlo_[kIndexVectorDim] ? from[i] - 1 : from[i];
      element[static_cast<size_t>(batch[i])] = index[static_cast<size_t>(at)];
    }
  }

  // Entry `entry` of the window start, clamped to [0, max_start]. Sets fits_ to whether clamping was unnecessary.
  IndexExpr Start(int64_t entry, int64_t max_start) {
    std::vector<IndexExpr> index = IndexInIndices();
    const int64_t vector_dim = hlo_[kIndexVectorDim];
    if (vector_dim < indices_.rank()) index.insert(index.begin() + vector_dim, IndexExpr::Constant(entry));
    const int start = Add(kernel_, LoadOf(1, indices_.element_type(), Linearized(index, indices_.dims())));
    const int wide = Add(kernel_, ApplyOf(Opcode::kConvert, ElementType::kS64, {start}));
    const int low = Add(kernel_, ConstantOf(ElementType::kS64, 0)), high = Add(kernel_, ConstantOf(ElementType::kS64, static_cast<uint64_t>(max_start)));
    const int clamped = Add(kernel_, ApplyOf(Opcode::kClamp, ElementType::kS64, {low, wide, high}));
    KernelNode is_unclamped = ApplyOf(Opcode::kCompare, ElementType::kPred, {clamped, wide});
    is_unclamped.direction = ComparisonDirection::kEq;
    const int fits = Add(kernel_, std::move(is_unclamped));
    fits_ = fits_ < 0 ? fits : Add(kernel_, ApplyOf(Opcode::kAnd, ElementType::kPred, {fits_, fits}));
    return IndexExpr::Data(clamped, max_start);
  }

  const Instruction& hlo_;
  const Shape &array_, &indices_, &updates_;
  FusedKernel kernel_;
  std::vector<IndexExpr> update_;
  int fits_ = -1;  // node of the predicate "the window is in bounds"; -1: always true
};

bool HasKernel(const Instruction& hlo) {
  if (hlo.operand_count() != 3) return false;
  const Shape &array = hlo.operand_shape(0), &indices = hlo.operand_shape(1), &updates = hlo.operand_shape(2);
  if (!IsInteger(indices.element_type()) || indices.element_type() == ElementType::kU64) return false;
  if (array.element_type() != updates.element_type() || array.element_type() != hlo.shape().element_type()) return false;
  if (updates.ElementCount().value_or(0) <= 0 || indices.ElementCount().value_or(0) <= 0) return false;
  const Computation& computation = *hlo[kToApply];
  if (computation.parameters.size() != 2 || !IsLaneFunction(computation)) return false;
  for (const Instruction* scalar : {computation.parameters[0], computation.parameters[1], computation.root})
    if (scalar->shape().element_type() != array.element_type()) return false;
  return true;
}

}  // namespace

std::optional<std::vector<SmallKernel>> ScatterKernels(const Instruction& hlo) {
  if (!HasKernel(hlo)) return std::nullopt;
  return std::vector<SmallKernel>{{{0}, std::nullopt}, {{SmallKernel::kResult, 1, 2}, ScatterKernel(hlo).Make()}};
}

}  // namespace shoal::internal
