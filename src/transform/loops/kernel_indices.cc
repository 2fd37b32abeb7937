// Values at places that depend on data, or that are there only at some places.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/concat_like.h"
#include "transform/loops/kernel_builder.h"
#include "transform/loops/loop_ops.h"
#include "transform/loops/loop_splitting.h"

namespace shoal::internal {

int KernelBuilder::WindowElement(const Instruction& hlo) {
  const Shape& operand = hlo.operand_shape(0);
  int inside = -1;
  Indices index;
  for (size_t d = 0; d < kept_.size(); ++d) {
    const WindowDim& dim = hlo[kWindow]->dims[d];
    const IndexExpr at = kept_[d] * dim.stride + full_[d] * dim.window_dilation + IndexExpr::Constant(-dim.pad_low);
    const int64_t size = operand.dim(static_cast<int64_t>(d));
    if (at.Min() >= 0 && at.Max() < size) {
      index.push_back(at);
      continue;
    }
    KernelNode place;
    place.kind = KernelNode::Kind::kIndex;
    place.type = ElementType::kS64;
    place.index = at;
    const int number = Add(std::move(place));
    const int held = HeldWithin(number, size - 1);
    index.push_back(IndexExpr::Data(held, size - 1));
    const int is_inside = Apply(Opcode::kCompare, ElementType::kPred, {number, held});  // eq
    inside = inside < 0 ? is_inside : Apply(Opcode::kAnd, ElementType::kPred, {inside, is_inside});
  }
  const int element = Node(*hlo.operands[0], index);
  if (inside < 0 || failed_) return element;
  return Apply(Opcode::kSelect, operand.element_type(), {inside, element, Node(*hlo.operands[1], {})});
}

bool KernelBuilder::IsBelow(const IndexExpr& at, int64_t border) {
  if (at.Max() < border) return true;
  if (at.Min() >= border) return false;
  // at is constant + factor * (the variable of one loop, which begins at 0 with the piece): where it passes the border.
  const bool may_cut = !reduces_ && at.terms.size() == 1 && at.terms[0].kind == IndexExprTerm::Kind::kLoop;
  Fail();
  if (!may_cut || cut_) return false;
  const IndexExprTerm& term = at.terms[0];
  const auto d = static_cast<size_t>(term.of);
  cut_ = SplitPoint{d, piece_.dims[d].first + FirstIterationPast(border, term.factor, at.constant)};
  return false;
}

int KernelBuilder::Placed(const Instruction& hlo, Indices index) {
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

Indices KernelBuilder::Shifted(const Instruction& hlo, Indices index) {
  for (size_t d = 0; d < index.size(); ++d) {
    const int64_t most = hlo.operand_shape(0).dim(static_cast<int64_t>(d)) - hlo.shape().dim(static_cast<int64_t>(d));
    if (most > 0) index[d] = index[d] + Start(*hlo.operands[d + 1], most);
  }
  return index;
}

IndexExpr KernelBuilder::Start(const Instruction& start, int64_t most) {
  const int node = Node(start, {});
  return failed_ ? IndexExpr() : IndexExpr::Data(HeldWithin(node, most), most);
}

int KernelBuilder::HeldWithin(int number, int64_t most) {
  const ElementType given = kernel_->nodes[static_cast<size_t>(number)].type;
  const bool is_narrow = BitWidth(given) < 32 || given == ElementType::kS32;
  const ElementType type = is_narrow && most <= INT32_MAX ? ElementType::kS32 : ElementType::kS64;
  const int low = AddInt(type, 0);
  const int wide = given == type ? number : Apply(Opcode::kConvert, type, {number});
  return Apply(Opcode::kClamp, type, {low, wide, AddInt(type, most)});
}

int KernelBuilder::AddInt(ElementType type, int64_t value) {
  KernelNode node;
  node.kind = KernelNode::Kind::kConstant;
  node.type = type;
  node.bits[0] = static_cast<uint64_t>(value);
  return Add(std::move(node));
}

Indices KernelBuilder::Gathered(const Instruction& hlo, const Indices& index) {
  using Gather = Op<Opcode::kGather>;
  const Ints offset_dims = hlo[Gather::kOffsetDims], sizes = hlo[Gather::kSliceSizes];
  const Ints batching = hlo[Gather::kOperandBatchingDims], map = hlo[Gather::kStartIndexMap];
  auto is_in = [](Ints dims, size_t d) { return std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end(); };
  // Where in the indices: the dimensions of the result that are not a slice's, around that of the vectors.
  const auto vector_dim = static_cast<size_t>(hlo[kIndexVectorDim]);
  Indices at;
  for (size_t d = 0; d < index.size(); ++d)
    if (!is_in(offset_dims, d)) at.push_back(index[d]);
  const bool has_vectors = vector_dim < static_cast<size_t>(hlo.operand_shape(1).rank());
  if (has_vectors) at.insert(at.begin() + static_cast<int64_t>(vector_dim), IndexExpr());
  // Where in the slice.
  Indices place(sizes.size());
  size_t next = 0;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!is_in(hlo[Gather::kCollapsedSliceDims], d) && !is_in(batching, d)) place[d] = index[static_cast<size_t>(offset_dims[next++])];
  for (size_t i = 0; i < batching.size(); ++i)
    place[static_cast<size_t>(batching[i])] = at[static_cast<size_t>(hlo[Gather::kStartIndicesBatchingDims][i])];
  for (size_t i = 0; i < map.size() && !failed_; ++i) {
    const auto d = static_cast<size_t>(map[i]);
    const int64_t most = hlo.operand_shape(0).dim(map[i]) - sizes[d];
    if (most <= 0) continue;
    if (has_vectors) at[vector_dim] = IndexExpr::Constant(static_cast<int64_t>(i));
    const int start = Node(*hlo.operands[1], at);
    if (!failed_) place[d] = place[d] + IndexExpr::Data(HeldWithin(start, most), most);
  }
  return place;
}

}  // namespace shoal::internal
