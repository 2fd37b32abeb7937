#include "transform/loops/small_kernels.h"

#include <algorithm>
#include <numeric>

#include "core/ops/contraction.h"
#include "core/ops/families.h"
#include "transform/loops/kernel_nodes.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

std::vector<int> AllOperands(const Instruction& hlo) {
  std::vector<int> all(hlo.operand_count());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Sets one loop for each dimension and returns their index.
std::vector<IndexExpr> SetLoops(FusedKernel& kernel, Ints dims) {
  std::vector<IndexExpr> index;
  for (size_t d = 0; d < dims.size(); ++d) index.push_back(IndexExpr::Loop(static_cast<int>(d), dims[d]));
  kernel.rows.assign(dims.begin(), dims.end() - (dims.empty() ? 0 : 1));
  kernel.inner_loops = {dims.empty() ? 1 : dims.back()};
  return index;
}

// Copies input 0, of shape `from`, to indices offset + stride * index of the result. `kernel` may already have nodes.
FusedKernel CopyToOffsets(const Shape& from, const Shape& to, const std::vector<IndexExpr>& offsets, const std::vector<int64_t>& strides,
                   FusedKernel kernel) {
  std::vector<IndexExpr> index = SetLoops(kernel, from.dims());
  const int load = Add(kernel, LoadOf(0, from.element_type(), Linearized(index, from.dims())));
  for (size_t d = 0; d < index.size(); ++d) index[d] = index[d] * strides[d] + offsets[d];
  kernel.inputs.insert(kernel.inputs.begin(), from.element_type());
  kernel.outputs = {to.element_type()};
  kernel.stores = {{load, 0, Linearized(index, to.dims()), false}};
  MergeLoops(kernel);
  return kernel;
}

using Kernels = std::optional<std::vector<SmallKernel>>;

// Copies the operand, then writes the update over it.
Kernels UpdateKernels(const Instruction& hlo) {
  const Shape &update = hlo.operand_shape(1), &to = hlo.shape();
  FusedKernel kernel;
  std::vector<IndexExpr> offsets;
  std::vector<int> operands{1};
  for (int64_t d = 0; d < to.rank(); ++d) {
    if (static_cast<size_t>(d) + 2 >= hlo.operand_count()) return std::nullopt;
    const Shape& start = hlo.operand_shape(static_cast<size_t>(d) + 2);
    if (!start.IsScalar() || !IsInteger(start.element_type()) || start.element_type() == ElementType::kU64) return std::nullopt;
    const int64_t max_start = to.dim(d) - update.dim(d);
    if (max_start == 0) {
      offsets.emplace_back();
      continue;
    }
    const int value = Add(kernel, LoadOf(static_cast<int>(operands.size()), start.element_type(), {}));
    const int low = Add(kernel, ConstantOf(ElementType::kS64, 0));
    const int wide = Add(kernel, ApplyOf(Opcode::kConvert, ElementType::kS64, {value}));
    const int high = Add(kernel, ConstantOf(ElementType::kS64, static_cast<uint64_t>(max_start)));
    offsets.push_back(IndexExpr::Data(Add(kernel, ApplyOf(Opcode::kClamp, ElementType::kS64, {low, wide, high})), max_start));
    operands.push_back(static_cast<int>(d) + 2);
    kernel.inputs.push_back(start.element_type());
  }
  const std::vector<int64_t> ones(offsets.size(), 1);
  return std::vector<SmallKernel>{{{0}, std::nullopt}, {operands, CopyToOffsets(update, to, offsets, ones, std::move(kernel))}};
}

Kernels ConcatenateKernels(const Instruction& hlo) {
  std::vector<SmallKernel> kernels;
  const auto along = static_cast<size_t>(hlo[kDimensions][0]);
  std::vector<IndexExpr> offsets(static_cast<size_t>(hlo.shape().rank()));
  const std::vector<int64_t> ones(offsets.size(), 1);
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    const Shape& part = hlo.operand_shape(i);
    if (part.ElementCount().value_or(0) == 0) continue;
    kernels.push_back({{static_cast<int>(i)}, CopyToOffsets(part, hlo.shape(), offsets, ones, {})});
    offsets[along].constant += part.dim(static_cast<int64_t>(along));
  }
  return kernels;
}

Kernels PadKernels(const Instruction& hlo) {
  const auto padding = hlo[Op<Opcode::kPad>::kPadding];
  std::vector<IndexExpr> offsets;
  std::vector<int64_t> strides;
  for (size_t d = 0; d < padding.size(); ++d) {
    if (padding[d].low < 0 || padding[d].high < 0) return std::nullopt;
    offsets.push_back(IndexExpr::Constant(padding[d].low));
    strides.push_back(hlo.operand_shape(0).dims()[d] > 1 ? padding[d].interior + 1 : 1);
  }
  FusedKernel fill;
  const std::vector<IndexExpr> index = SetLoops(fill, hlo.shape().dims());
  const ElementType type = hlo.shape().element_type();
  fill.inputs = fill.outputs = {type};
  fill.stores = {{Add(fill, LoadOf(0, type, {})), 0, Linearized(index, hlo.shape().dims()), false}};
  MergeLoops(fill);
  return std::vector<SmallKernel>{{{1}, std::move(fill)},
                                  {{0}, CopyToOffsets(hlo.operand_shape(0), hlo.shape(), offsets, strides, {})}};
}

// The loops of a dot, and the loop of each operand dimension.
struct DotLoops {
  std::vector<int64_t> kept, contracted;        // sizes
  std::vector<int> lhs, rhs;                    // for each dimension: k for kept loop k, -1 - c for contracted loop c
};

DotLoops DotLoopsOf(const Instruction& hlo) {
  const Ints lhs_batch = hlo[kLhsBatchDims], rhs_batch = hlo[kRhsBatchDims];
  const Ints lhs_contracting = hlo[kLhsContractingDims], rhs_contracting = hlo[kRhsContractingDims];
  const Shape &lhs = hlo.operand_shape(0), &rhs = hlo.operand_shape(1);
  constexpr int kNone = INT32_MAX;
  DotLoops loops;
  loops.lhs.assign(static_cast<size_t>(lhs.rank()), kNone);
  loops.rhs.assign(static_cast<size_t>(rhs.rank()), kNone);
  auto add_kept = [&](int64_t size) {
    loops.kept.push_back(size);
    return static_cast<int>(loops.kept.size()) - 1;
  };
  for (size_t i = 0; i < lhs_batch.size(); ++i)
    loops.lhs[static_cast<size_t>(lhs_batch[i])] = loops.rhs[static_cast<size_t>(rhs_batch[i])] = add_kept(lhs.dim(lhs_batch[i]));
  for (size_t i = 0; i < lhs_contracting.size(); ++i) {
    loops.contracted.push_back(lhs.dim(lhs_contracting[i]));
    loops.lhs[static_cast<size_t>(lhs_contracting[i])] = loops.rhs[static_cast<size_t>(rhs_contracting[i])] = -1 - static_cast<int>(i);
  }
  for (auto [dims, shape] : {std::pair(&loops.lhs, &lhs), std::pair(&loops.rhs, &rhs)})
    for (size_t d = 0; d < dims->size(); ++d)
      if ((*dims)[d] == kNone) (*dims)[d] = add_kept(shape->dim(static_cast<int64_t>(d)));
  return loops;
}

// The kept loop along which an operand is contiguous; negative if that loop is contracted or there is none.
int LaneLoop(const std::vector<int>& dims, const Shape& shape) {
  for (size_t d = dims.size(); d-- > 0;)
    if (shape.dim(static_cast<int64_t>(d)) != 1) return dims[d];
  return -1;
}

Kernels DotKernels(const Instruction& hlo) {
  const ElementType type = hlo.shape().element_type();
  for (size_t i = 0; i < hlo.operand_count(); ++i)
    if (!IsLoopType(hlo.operand_shape(i).element_type()) || hlo.operand_shape(i).element_type() == ElementType::kPred) return std::nullopt;
  if (hlo.operand_count() != 2 || type == ElementType::kPred) return std::nullopt;
  const ElementType sum_type = IsFloat(type) && BitWidth(type) < 32 ? ElementType::kF32 : type;
  const DotLoops loops = DotLoopsOf(hlo);
  // Lanes run along a kept dimension of the rhs, else of the lhs, else along a contracting dimension.
  int lane = LaneLoop(loops.rhs, hlo.operand_shape(1));
  if (lane < 0) lane = LaneLoop(loops.lhs, hlo.operand_shape(0));
  FusedKernel kernel;
  kernel.form = lane >= 0 ? FusedKernel::Form::kColumns : FusedKernel::Form::kRows;
  std::vector<IndexExpr> kept(loops.kept.size()), contracted;
  int number = 0;
  for (size_t k = 0; k < kept.size(); ++k) {
    if (static_cast<int>(k) == lane) continue;
    kept[k] = IndexExpr::Loop(number++, loops.kept[k]);
    kernel.rows.push_back(loops.kept[k]);
  }
  for (int64_t size : loops.contracted) {
    contracted.push_back(IndexExpr::Loop(number++, size));
    kernel.inner_loops.push_back(size);
  }
  if (lane >= 0) {
    if (kernel.inner_loops.empty()) ++number, kernel.inner_loops.push_back(1);
    kept[static_cast<size_t>(lane)] = IndexExpr::Loop(number, loops.kept[static_cast<size_t>(lane)]);
    kernel.inner_loops.push_back(loops.kept[static_cast<size_t>(lane)]);
  }
  if (kernel.inner_loops.empty()) kernel.inner_loops = {1};
  int factors[2];
  for (size_t side : {0, 1}) {
    const Shape& shape = hlo.operand_shape(side);
    std::vector<IndexExpr> index;
    for (int loop : side == 0 ? loops.lhs : loops.rhs)
      index.push_back(loop >= 0 ? kept[static_cast<size_t>(loop)] : contracted[static_cast<size_t>(-1 - loop)]);
    factors[side] = Add(kernel, LoadOf(static_cast<int>(side), shape.element_type(), Linearized(index, shape.dims())));
    kernel.inputs.push_back(shape.element_type());
    if (shape.element_type() != sum_type) factors[side] = Add(kernel, ApplyOf(Opcode::kConvert, sum_type, {factors[side]}));
  }
  KernelReduction sum;
  sum.op = Opcode::kAdd;
  sum.elements = {Add(kernel, ApplyOf(Opcode::kMultiply, sum_type, {factors[0], factors[1]}))};
  sum.inits = {Add(kernel, ConstantOf(sum_type, 0))};
  kernel.reductions = {std::move(sum)};
  KernelNode result;
  result.kind = KernelNode::Kind::kResult;
  result.type = sum_type;
  int value = Add(kernel, std::move(result));
  if (type != sum_type) value = Add(kernel, ApplyOf(Opcode::kConvert, type, {value}));
  kernel.contracts = true;
  kernel.outputs = {type};
  kernel.stores = {{value, 0, Linearized(kept, loops.kept), lane < 0}};
  MergeLoops(kernel);
  return std::vector<SmallKernel>{{{0, 1}, std::move(kernel)}};
}

bool IsPlain(const Instruction& hlo) {
  auto is_plain = [](const Shape& shape) {
    return shape.IsArray() && !shape.has_dynamic() && IsLoopOrComplexType(shape.element_type());
  };
  if (!is_plain(hlo.shape()) && hlo.opcode != Opcode::kFusion && !IsKernelReduction(hlo)) return false;
  return std::all_of(hlo.operands.begin(), hlo.operands.end(), [&](const Instruction* o) { return is_plain(o->shape()); });
}

}  // namespace

std::optional<std::vector<SmallKernel>> SmallKernelsOf(const Instruction& hlo) {
  if (!IsPlain(hlo)) return std::nullopt;
  if (hlo.opcode == Opcode::kDynamicUpdateSlice) return UpdateKernels(hlo);
  if (hlo.opcode == Opcode::kConcatenate) return ConcatenateKernels(hlo);
  if (hlo.opcode == Opcode::kPad) return PadKernels(hlo);
  if (hlo.opcode == Opcode::kDot) return DotKernels(hlo);
  if (hlo.opcode == Opcode::kScatter) return ScatterKernels(hlo);
  std::vector<FusedKernel> kernels;
  if (hlo.opcode == Opcode::kFusion) {
    kernels = FusedKernelsOf(hlo);
  } else if (IsLoopOp(hlo) || IsKernelReduction(hlo)) {
    const std::vector<const Instruction*> inputs(hlo.operands.begin(), hlo.operands.end());
    const Instruction* root = &hlo;
    kernels = KernelsOf(inputs, {&root, 1});
  }
  if (kernels.empty()) return std::nullopt;
  std::vector<SmallKernel> small;
  for (FusedKernel& kernel : kernels) small.push_back({AllOperands(hlo), std::move(kernel)});
  return small;
}

}  // namespace shoal::internal
