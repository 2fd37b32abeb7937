// KernelBuilder: indices that depend on data, and values that exist only in a part of the iteration space.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/concat_like.h"
#include "transform/loops/kernel_builder.h"
#include "transform/loops/loop_ops.h"
#include "transform/loops/loop_splitting.h"

namespace shoal::internal {

// Splits the lane loop of windows at the borders of the padding, so that the lanes between read the operand without a
// check. Sets the split point and fails if the box crosses a border; if few lanes are between, the loop stays whole.
void KernelBuilder::SplitPaddedLanes(const WindowDim& dim, size_t d, int64_t size) {
  constexpr int64_t kMinLanes = 32;
  const int64_t first = FirstIterationPast(0, dim.stride, -dim.pad_low);
  const int64_t past = FirstIterationPast(size, dim.stride, (dim.size - 1) * dim.window_dilation - dim.pad_low);
  if (past - first < kMinLanes) return;
  for (const int64_t border : {first, past}) {
    if (border <= box_.dims[d].first || border >= box_.dims[d].second) continue;
    split_point_ = SplitPoint{d, border};
    return void(Fail("windows cross the border of the padding"));
  }
}

Indices KernelBuilder::WindowIndex(const Instruction& hlo, int& inside) {
  inside = -1;
  auto require = [&](int condition) {
    inside = inside < 0 ? condition : Apply(Opcode::kAnd, ElementType::kPred, {inside, condition});
  };
  Indices index;
  for (size_t d = 0; d < kept_.size(); ++d) {
    const WindowDim& dim = hlo[kWindow]->dims[d];
    const int64_t size = hlo.operand_shape(0).dim(static_cast<int64_t>(d)), last = (size - 1) * dim.base_dilation;
    IndexExpr at = kept_[d] * dim.stride + full_[d] * dim.window_dilation + IndexExpr::Constant(-dim.pad_low);
    if (at.Min() < 0 || at.Max() > last) {
      if (d == window_lane_dim_ && dim.base_dilation == 1) SplitPaddedLanes(dim, d, size);
      if (failed_) return index;
      const int number = AddIndex(at), clamped = ClampedTo(number, last);
      at = IndexExpr::Data(clamped, last);
      require(Apply(Opcode::kCompare, ElementType::kPred, {number, clamped}));  // number == clamped
    }
    if (dim.base_dilation > 1) {
      const int rest = AddIndex(Remainder(at, dim.base_dilation));
      require(Apply(Opcode::kCompare, ElementType::kPred, {rest, AddInt(ElementType::kS64, 0)}));  // rest == 0
      at = Quotient(at, dim.base_dilation);
    }
    index.push_back(std::move(at));
  }
  return index;
}

int KernelBuilder::WindowElement(const Instruction& hlo) {
  int inside = -1;
  const Indices index = WindowIndex(hlo, inside);
  const int element = Node(*hlo.operands[0], index);
  if (inside < 0 || failed_) return element;
  return Apply(Opcode::kSelect, hlo.operand_shape(0).element_type(), {inside, element, Node(*hlo.operands[1], {})});
}

bool KernelBuilder::IsBelow(const IndexExpr& index, int64_t border) {
  if (index.Max() < border) return true;
  if (index.Min() >= border) return false;
  // If the index is linear in one loop variable (0 at the start of the box), split where the index crosses the border.
  const bool can_split = !reduces_ && index.terms.size() == 1 && index.terms[0].kind == IndexExprTerm::Kind::kLoop;
  Fail("an index crosses the boundary of two operands");
  if (!can_split || split_point_) return false;
  const IndexExprTerm& term = index.terms[0];
  const auto d = static_cast<size_t>(term.number);
  split_point_ = SplitPoint{d, box_.dims[d].first + FirstIterationPast(border, term.factor, index.constant)};
  return false;
}

int KernelBuilder::ConcatLikeNode(const Instruction& hlo, Indices index) {
  std::vector<size_t> passed;
  std::optional<size_t> operand = OperandAt(hlo, passed);
  for (int64_t d = 0; !operand && !failed_; ++d) {
    const std::vector<int64_t> borders = OperandBoundaries(hlo, d);
    size_t before = 0;
    while (before < borders.size() && !IsBelow(index[static_cast<size_t>(d)], borders[before]) && !failed_) ++before;
    passed.push_back(before);
    operand = OperandAt(hlo, passed);
  }
  if (failed_) return 0;
  if (hlo.operand_shape(*operand).rank() == 0) return Node(*hlo.operands[*operand], {});
  for (size_t d = 0; d < index.size(); ++d)
    index[d] = index[d] + IndexExpr::Constant(-OffsetAlong(hlo, *operand, static_cast<int64_t>(d)));
  return Node(*hlo.operands[*operand], index);
}

Indices KernelBuilder::DynamicSliceIndex(const Instruction& hlo, Indices index) {
  for (size_t d = 0; d < index.size(); ++d) {
    const int64_t max = hlo.operand_shape(0).dim(static_cast<int64_t>(d)) - hlo.shape().dim(static_cast<int64_t>(d));
    if (max > 0) index[d] = index[d] + Start(*hlo.operands[d + 1], max);
  }
  return index;
}

IndexExpr KernelBuilder::Start(const Instruction& start, int64_t max) {
  const int node = Node(start, {});
  return failed_ ? IndexExpr() : IndexExpr::Data(ClampedTo(node, max), max);
}

int KernelBuilder::ClampedTo(int number, int64_t max) {
  const ElementType node_type = kernel_->nodes[static_cast<size_t>(number)].type;
  const bool is_narrow = BitWidth(node_type) < 32 || node_type == ElementType::kS32;
  const ElementType type = is_narrow && max <= INT32_MAX ? ElementType::kS32 : ElementType::kS64;
  const int low = AddInt(type, 0);
  const int wide = node_type == type ? number : Apply(Opcode::kConvert, type, {number});
  return Apply(Opcode::kClamp, type, {low, wide, AddInt(type, max)});
}

int KernelBuilder::AddIndex(const IndexExpr& index) {
  KernelNode node;
  node.kind = KernelNode::Kind::kIndex;
  node.type = ElementType::kS64;
  node.index = index;
  return Add(std::move(node));
}

int KernelBuilder::AddInt(ElementType type, int64_t value) {
  KernelNode node;
  node.kind = KernelNode::Kind::kConstant;
  node.type = type;
  node.bits[0] = static_cast<uint64_t>(value);
  return Add(std::move(node));
}

Indices KernelBuilder::GatherIndex(const Instruction& hlo, const Indices& index) {
  using Gather = Op<Opcode::kGather>;
  const Ints offset_dims = hlo[Gather::kOffsetDims], sizes = hlo[Gather::kSliceSizes];
  const Ints batching = hlo[Gather::kOperandBatchingDims], map = hlo[Gather::kStartIndexMap];
  auto is_in = [](Ints dims, size_t d) { return std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end(); };
  // The index in start_indices: the batch dimensions of the result, with index_vector_dim inserted.
  const auto vector_dim = static_cast<size_t>(hlo[kIndexVectorDim]);
  Indices at;
  for (size_t d = 0; d < index.size(); ++d)
    if (!is_in(offset_dims, d)) at.push_back(index[d]);
  const bool has_vectors = vector_dim < static_cast<size_t>(hlo.operand_shape(1).rank());
  if (has_vectors) at.insert(at.begin() + static_cast<int64_t>(vector_dim), IndexExpr());
  // The index within the slice.
  Indices result(sizes.size());
  size_t next = 0;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!is_in(hlo[Gather::kCollapsedSliceDims], d) && !is_in(batching, d)) result[d] = index[static_cast<size_t>(offset_dims[next++])];
  for (size_t i = 0; i < batching.size(); ++i)
    result[static_cast<size_t>(batching[i])] = at[static_cast<size_t>(hlo[Gather::kStartIndicesBatchingDims][i])];
  for (size_t i = 0; i < map.size() && !failed_; ++i) {
    const auto d = static_cast<size_t>(map[i]);
    const int64_t max = hlo.operand_shape(0).dim(map[i]) - sizes[d];
    if (max <= 0) continue;
    if (has_vectors) at[vector_dim] = IndexExpr::Constant(static_cast<int64_t>(i));
    const int start = Node(*hlo.operands[1], at);
    if (!failed_) result[d] = result[d] + IndexExpr::Data(ClampedTo(start, max), max);
  }
  return result;
}

}  // namespace shoal::internal
