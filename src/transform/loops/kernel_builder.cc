#include "transform/loops/kernel_builder.h"

#include <algorithm>
#include <cstring>

#include "core/ops/families.h"
#include "core/ops/index_maps.h"
#include "transform/loops/kernel.h"
#include "transform/loops/loop_ops.h"
#include "transform/loops/loop_splitting.h"

namespace shoal::internal {
std::unique_ptr<FusedKernel> KernelBuilder::Build() {
  for (const Instruction* input : inputs_) {
    if (!input->shape().IsArray()) return Fail("an input is a tuple or a token"), nullptr;
    if (input->shape().has_dynamic()) return Fail("an input has a dynamic dimension"), nullptr;
    kernel_->inputs.push_back(input->shape().element_type());
  }
  const Instruction* reduction = FirstReduction();
  auto has_fewer = [](const Instruction* a, const Instruction* b) {
    return a->shape().IsArray() && b->shape().IsArray() && a->shape().rank() < b->shape().rank();
  };
  if (reduction == nullptr)
    SetLoops(**std::max_element(roots_.begin(), roots_.end(), has_fewer));
  else if (reduction->opcode == Opcode::kReduceWindow)
    SetLoopsOfWindow(*reduction);
  else
    SetLoopsOfReduction(*reduction);
  for (const Instruction* root : roots_) {
    if (failed_ || !Store(*root) || failed_) return nullptr;
  }
  return std::move(kernel_);
}

int KernelBuilder::Apply(Opcode opcode, ElementType type, std::initializer_list<int> operands) {
  KernelNode node;
  node.opcode = opcode;
  node.type = type;
  std::copy(operands.begin(), operands.end(), node.operands);
  node.direction = ComparisonDirection::kEq;
  return Add(std::move(node));
}

bool KernelBuilder::Store(const Instruction& root) {
  if (root.shape().IsTuple()) return StoreResults(root);
  const int64_t count = root.shape().ElementCount().value_or(0);
  const bool is_full = count == Product(full_dims_) && (!reduces_ || (reduces_last_ && count != Product(kept_dims_)));
  if (!is_full && (!reduces_ || count != Product(kept_dims_))) return Fail("the results need different loops"), false;
  if (is_full && kernel_->form == FusedKernel::Form::kColumns)
    return Fail("a result has the elements of a reduction over outer dimensions"), false;
  const IndexExpr offset = is_full ? builder_.Linearize(full_, full_dims_) : builder_.Linearize(kept_, kept_dims_);
  const bool same_dims = std::ranges::equal(root.shape().dims(), is_full ? full_dims_ : kept_dims_);
  const Indices index = same_dims ? (is_full ? full_ : kept_) : builder_.Delinearize(offset, root.shape().dims());
  AddStore(Node(root, index), root.shape().element_type(), offset, is_full);
  return true;
}

bool KernelBuilder::StoreResults(const Instruction& root) {
  if (root.opcode != Opcode::kReduce && root.opcode != Opcode::kReduceWindow) return Fail("a result is a tuple"), false;
  const IndexExpr offset = builder_.Linearize(kept_, kept_dims_);
  for (size_t i = 0; i < root.shape().elements().size() && !failed_; ++i)
    AddStore(Result(root, i, kept_), root.shape().element(static_cast<int64_t>(i)).element_type(), offset, false);
  return true;
}

void KernelBuilder::AddStore(int node, ElementType type, const IndexExpr& offset, bool is_full) {
  const bool per_row = !is_full && reduces_ && kernel_->form == FusedKernel::Form::kRows;
  kernel_->stores.push_back({node, static_cast<int>(kernel_->outputs.size()), offset, per_row});
  kernel_->outputs.push_back(type);
}

int64_t KernelBuilder::Product(const std::vector<int64_t>& dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

int KernelBuilder::Result(const Instruction& hlo, size_t element, const Indices& index) {
  const bool is_function = reduces_ && kernel_->form == FusedKernel::Form::kColumns && IsFunctionReduction(hlo);
  if (!reduces_ || (window_ == nullptr ? !IsLoopReduction(hlo) && !is_function : &hlo != window_))
    return Fail("no loop computes one of the reductions");
  const Shape& result = FirstElement(hlo.shape());
  if (!(builder_.Linearize(index, result.dims()) == builder_.Linearize(kept_, kept_dims_)))
    return Fail("a reduction is used at other indices than its own");
  auto found = reductions_.find(&hlo);
  if (found == reductions_.end()) {
    const int number = NewReduction(hlo);
    if (failed_) return 0;
    found = reductions_.emplace(&hlo, number).first;
  }
  KernelNode node;
  node.kind = KernelNode::Kind::kResult;
  node.type = hlo.operand_shape(element).element_type();
  node.reduction = found->second;
  node.input = static_cast<int>(element);
  return Add(std::move(node));
}

int KernelBuilder::NewReduction(const Instruction& hlo) {
  const Ints dims = hlo.operand_shape(0).dims();
  Indices full;
  if (&hlo == window_) {
  } else if (std::ranges::equal(dims, full_dims_) && ReducesLoopDims(hlo)) {
    full = full_;
  } else {
    // Accept different dimensions only if they form the same rows.
    if (!reduces_last_ || !ReducesLast(hlo) || Product({dims.begin(), dims.end()}) != Product(full_dims_))
      return Fail("the reductions need different loops");
    full = builder_.Delinearize(builder_.Linearize(full_, full_dims_), dims);
  }
  KernelReduction reduction;
  const size_t n = hlo.operand_count() / 2;
  const bool is_function = IsFunctionReduction(hlo);
  if (is_function && &hlo == window_) full = WindowIndex(hlo, reduction.is_element);
  for (size_t i = 0; i < n; ++i) {
    reduction.elements.push_back(&hlo == window_ && !is_function ? WindowElement(hlo) : Node(*hlo.operands[i], full));
    reduction.inits.push_back(Node(*hlo.operands[n + i], {}));
  }
  if (failed_) return 0;
  if (is_function) {
    SetFunction(hlo, reduction);
  } else if (const Instruction* op = OnlyOpOf(*hlo[kToApply])) {
    reduction.op = op->opcode;
  } else {
    reduction.kind = KernelReduction::Kind::kArgMinMax;
    reduction.op = *MatchArgMinMax(*hlo[kToApply]);
  }
  for (int element : reduction.elements) reduction.stage = std::max(reduction.stage, StageOf(element));
  if (kernel_->form == FusedKernel::Form::kColumns && reduction.stage > 0)
    Fail("a reduction over outer dimensions depends on another");
  kernel_->reductions.push_back(std::move(reduction));
  return static_cast<int>(kernel_->reductions.size()) - 1;
}

int KernelBuilder::Add(KernelNode node) {
  if (kernel_->nodes.size() >= kMaxNodes) Fail("too many ops");
  if (failed_) return 0;  // an operand that could not be built has no stage
  int stage = 0;
  if (node.kind == KernelNode::Kind::kResult) stage = kernel_->reductions[static_cast<size_t>(node.reduction)].stage + 1;
  for (int operand : node.operands)
    if (operand >= 0) stage = std::max(stage, StageOf(operand));
  for (const IndexExprTerm& term : node.index.terms)
    if (term.kind == IndexExprTerm::Kind::kData) stage = std::max(stage, StageOf(term.number));
  stages_.push_back(stage);
  kernel_->nodes.push_back(std::move(node));
  return static_cast<int>(kernel_->nodes.size()) - 1;
}

int KernelBuilder::Node(const Instruction& hlo, const Indices& index) {
  if (failed_) return 0;
  std::pair<const Instruction*, Indices> key{&hlo, index};
  if (auto found = nodes_.find(key); found != nodes_.end()) return found->second;
  const int node = NewNode(hlo, index);
  nodes_.emplace(std::move(key), node);
  return node;
}

int KernelBuilder::NewNode(const Instruction& hlo, const Indices& index) {
  if (auto input = std::find(inputs_.begin(), inputs_.end(), &hlo); input != inputs_.end())
    return Load(static_cast<int>(input - inputs_.begin()), hlo, index);
  if (IsSingleElementConstant(hlo)) return Add(ConstantNode(hlo));
  if (hlo.opcode == Opcode::kIota) {
    KernelNode node;
    node.kind = KernelNode::Kind::kIndex;
    node.type = hlo.shape().element_type();
    node.index = index[static_cast<size_t>(hlo[Op<Opcode::kIota>::kIotaDimension])];
    return Add(std::move(node));
  }
  if (hlo.opcode == Opcode::kReduce || hlo.opcode == Opcode::kReduceWindow) return Result(hlo, 0, index);
  if (IsSplittableConcat(hlo)) return ConcatLikeNode(hlo, index);
  if (!IsLoopOp(hlo)) return Fail("no loop computes one of the ops");
  if (hlo.opcode == Opcode::kDynamicSlice) return Node(*hlo.operands[0], DynamicSliceIndex(hlo, index));
  if (hlo.opcode == Opcode::kGather) return Node(*hlo.operands[0], GatherIndex(hlo, index));
  if (const auto map = FindIndexMap<IndexBuilder, Indices>(hlo.opcode); map != nullptr)
    return Node(*hlo.operands[0], map(builder_, hlo, index));
  return Apply(hlo, index);
}

KernelNode KernelBuilder::ApplyNodeOf(const Instruction& hlo) {
  KernelNode node;
  node.type = hlo.shape().element_type();
  node.opcode = hlo.opcode;
  if (hlo.opcode == Opcode::kCompare) {
    node.direction = hlo[Op<Opcode::kCompare>::kDirection];
    node.total_order = hlo[Op<Opcode::kCompare>::kOrder] == ComparisonOrder::kTotal;
  } else if (hlo.opcode == Opcode::kReducePrecision) {
    using Reduce = Op<Opcode::kReducePrecision>;
    node.bits[0] = static_cast<uint64_t>(std::clamp<int64_t>(hlo[Reduce::kExponentBits], 1, 11));
    node.bits[1] = static_cast<uint64_t>(std::clamp<int64_t>(hlo[Reduce::kMantissaBits], 0, 52));
  }
  return node;
}

int KernelBuilder::Apply(const Instruction& hlo, const Indices& index) {
  KernelNode node = ApplyNodeOf(hlo);
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    const bool is_scalar = hlo.operand_shape(i).rank() == 0;  // such as a bound of clamp or the predicate of select
    node.operands[i] = Node(*hlo.operands[i], is_scalar ? Indices() : index);
  }
  return Add(std::move(node));
}

int KernelBuilder::Load(int input, const Instruction& hlo, const Indices& index) {
  KernelNode node;
  node.kind = KernelNode::Kind::kLoad;
  node.type = hlo.shape().element_type();
  node.input = input;
  node.index = builder_.Linearize(index, hlo.shape().dims());
  return Add(std::move(node));
}

KernelNode KernelBuilder::ConstantNode(const Instruction& hlo) {
  KernelNode node;
  node.kind = KernelNode::Kind::kConstant;
  node.type = hlo.shape().element_type();
  const std::span<const std::byte> data = hlo[kConstantValue]->data;
  if (!data.empty())
    std::memcpy(node.bits, data.data(), std::min<size_t>(data.size(), static_cast<size_t>(StorageBytes(node.type))));
  return node;
}

// If there are several kernels, marks those with little work: optimizing them takes more compile time than it saves.
static void MarkParts(std::vector<FusedKernel>& kernels) {
  int64_t all = 0;
  for (const FusedKernel& kernel : kernels) all += kernel.RowCount() * kernel.InnerIterations();
  for (FusedKernel& kernel : kernels) {
    kernel.schedule.prefers_short_code = kernel.RowCount() * kernel.InnerIterations() <= all / 32;
    kernel.schedule.is_part = kernels.size() > 1 && !kernel.reductions.empty();
  }
}

std::vector<FusedKernel> KernelsOf(std::span<const Instruction* const> inputs, std::span<const Instruction* const> roots,
                                   std::string_view* refusal) {
  std::vector<FusedKernel> kernels;
  std::vector<IterationBox> to_do{{}};
  while (!to_do.empty()) {
    KernelBuilder builder(inputs, roots, std::move(to_do.back()));
    to_do.pop_back();
    if (std::unique_ptr<FusedKernel> kernel = builder.Build()) {
      MergeLoops(*kernel);
      kernels.push_back(std::move(*kernel));
      continue;
    }
    const bool has_too_many = kernels.size() + to_do.size() + 2 > static_cast<size_t>(kMaxSplits);
    if (refusal != nullptr) *refusal = builder.split_point() ? "too many parts" : builder.refusal();
    if (!builder.split_point() || has_too_many) return {};
    const SplitPoint split = *builder.split_point();
    to_do.insert(to_do.end(), 2, builder.box());
    to_do[to_do.size() - 2].dims[split.dim].first = split.index;
    to_do.back().dims[split.dim].second = split.index;
  }
  MarkParts(kernels);
  return kernels;
}

std::vector<FusedKernel> FusedKernelsOf(const Instruction& hlo, std::string_view* refusal) {
  if (hlo.opcode != Opcode::kFusion) return {};
  const Computation& fused = *hlo[kCalls];
  if (HasEffects(fused)) {
    if (refusal != nullptr) *refusal = "an op has a side effect";
    return {};
  }
  const std::vector<const Instruction*> inputs(fused.parameters.begin(), fused.parameters.end());
  std::vector<const Instruction*> roots{fused.root};
  if (fused.root->opcode == Opcode::kTuple) roots.assign(fused.root->operands.begin(), fused.root->operands.end());
  return KernelsOf(inputs, roots, refusal);
}

}  // namespace shoal::internal
