// From a fusion to a FusedKernel: goes from the root to the parameters and works out for each value at which index it
// is wanted, by the ops' index maps.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "ops/families.h"
#include "ops/index_maps.h"
#include "passes/traits.h"
#include "program/program.h"

namespace shoal {
namespace {

using Indices = std::vector<Index>;

// What the ops' index maps are written against.
struct IndexBuilder {
  Index Int(int64_t value) { return Index::Constant(value); }
  Index Add(const Index& a, const Index& b) { return a + b; }
  Index Multiply(const Index& a, int64_t by) { return a * by; }
  Index Linearize(const Indices& index, Ints dims) {
    Index place;
    int64_t stride = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      place = place + index[d] * stride;
      stride *= dims[d];
    }
    return place;
  }
  Indices Delinearize(const Index& place, Ints dims) {
    Indices index(dims.size());
    int64_t stride = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      index[d] = Quotient(place, stride);
      if (d > 0) index[d] = Remainder(index[d], dims[d]);
      stride *= dims[d];
    }
    return index;
  }
};

using MapFunction = Indices (*)(IndexBuilder&, const Instruction&, const Indices&);
template <Opcode op>
constexpr MapFunction MapOf() {
  if constexpr (requires { sizeof(IndexMapOf<op>); })
    return [](IndexBuilder& b, const Instruction& hlo, const Indices& index) {
      return IndexMapOf<op>::Map(b, hlo, index);
    };
  return nullptr;
}
constexpr MapFunction kMaps[] = {
#define OP(Name, text, arity) MapOf<Opcode::k##Name>(),
#include "ops/ops.def"
#undef OP
    nullptr};

struct Less {
  bool operator()(const std::pair<const Instruction*, Indices>& a,
                  const std::pair<const Instruction*, Indices>& b) const {
    if (a.first != b.first) return a.first < b.first;
    for (size_t i = 0; i < std::min(a.second.size(), b.second.size()); ++i)
      if (int order = Compare(a.second[i], b.second[i]); order != 0) return order < 0;
    return a.second.size() < b.second.size();
  }
};

class KernelBuilder {
 public:
  // `inputs` are the values that the kernel reads from memory.
  KernelBuilder(std::span<const Instruction* const> inputs, std::span<const Instruction* const> roots)
      : inputs_(inputs.begin(), inputs.end()), roots_(roots.begin(), roots.end()) {}

  std::unique_ptr<FusedKernel> Build() {
    for (const Instruction* input : inputs_) {
      if (!input->shape().IsArray() || input->shape().has_dynamic()) return nullptr;
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
      if (!Store(*root) || failed_) return nullptr;
    }
    return std::move(kernel_);
  }

 private:
  static constexpr size_t kMostNodes = 2000;

  // The first that the roots need; the loops are made for it, and others must go through the same ones.
  const Instruction* FirstReduction() {
    std::vector<const Instruction*> to_do(roots_.begin(), roots_.end());
    std::set<const Instruction*> seen(inputs_.begin(), inputs_.end());
    const Instruction* found = nullptr;
    while (!to_do.empty()) {
      const Instruction* hlo = to_do.back();
      to_do.pop_back();
      if (!seen.insert(hlo).second) continue;
      if (hlo->opcode == Opcode::kReduce || hlo->opcode == Opcode::kReduceWindow) found = hlo;
      to_do.insert(to_do.end(), hlo->operands.begin(), hlo->operands.end());
    }
    return found;
  }

  // One loop for each dimension, the last one walked.
  void SetLoops(const Instruction& root) {
    if (!root.shape().IsArray()) return Fail();
    full_dims_.assign(root.shape().dims().begin(), root.shape().dims().end());
    for (size_t d = 0; d < full_dims_.size(); ++d) full_.push_back(Index::Loop(static_cast<int>(d), full_dims_[d]));
    kernel_->rows.assign(full_dims_.begin(), full_dims_.end() - (full_dims_.empty() ? 0 : 1));
    kernel_->walked = {full_dims_.empty() ? 1 : full_dims_.back()};
  }

  void SetLoopsOfReduction(const Instruction& hlo) {
    if (!IsLoopReduction(hlo) || hlo[kDimensions].empty()) return Fail();
    const Ints dims = hlo.operand_shape(0).dims();
    full_dims_.assign(dims.begin(), dims.end());
    std::vector<bool> is_reduced(dims.size(), false);
    for (int64_t d : hlo[kDimensions]) is_reduced[static_cast<size_t>(d)] = true;
    std::vector<size_t> kept, folded;
    for (size_t d = 0; d < dims.size(); ++d) (is_reduced[d] ? folded : kept).push_back(d);
    // The innermost dimension that is longer than 1 decides: lanes along it.
    size_t last = dims.size();
    while (last > 0 && dims[last - 1] == 1) --last;
    const bool columns = last > 0 && !is_reduced[last - 1];
    kernel_->form = columns ? FusedKernel::Form::kColumns : FusedKernel::Form::kRows;

    full_.resize(dims.size());
    std::vector<size_t> order;  // the loops
    for (size_t d : kept)
      if (!columns || d != last - 1) order.push_back(d);
    const size_t row_loops = order.size();
    order.insert(order.end(), folded.begin(), folded.end());
    if (columns) order.push_back(last - 1);
    for (size_t i = 0; i < order.size(); ++i) {
      full_[order[i]] = Index::Loop(static_cast<int>(i), dims[order[i]]);
      (i < row_loops ? kernel_->rows : kernel_->walked).push_back(dims[order[i]]);
    }
    if (kernel_->walked.empty()) kernel_->walked = {1};
    for (size_t d : kept) {
      kept_.push_back(full_[d]);
      kept_dims_.push_back(dims[d]);
    }
    reduces_ = true;
    // Rows of which everything is one piece of memory, so that other shapes of the same rows are seen to be that.
    reduces_last_ = std::is_sorted(order.begin(), order.end());
  }

  // Columns of what is within a window.
  void SetLoopsOfWindow(const Instruction& hlo) {
    if (!IsLoopWindow(hlo)) return Fail();
    window_ = &hlo;
    reduces_ = true;
    kernel_->form = FusedKernel::Form::kColumns;
    const Ints dims = hlo.shape().dims();
    kept_dims_.assign(dims.begin(), dims.end());
    size_t lane = dims.size() - 1;
    while (lane > 0 && dims[lane] == 1) --lane;
    int number = 0;
    kept_.resize(dims.size());
    for (size_t d = 0; d < dims.size(); ++d) {
      if (d == lane) continue;
      kept_[d] = Index::Loop(number++, dims[d]);
      kernel_->rows.push_back(dims[d]);
    }
    for (const WindowDim& dim : hlo[kWindow]->dims) {
      full_.push_back(dim.size == 1 ? Index() : Index::Loop(number, dim.size));
      if (dim.size == 1) continue;
      kernel_->walked.push_back(dim.size);
      ++number;
    }
    if (kernel_->walked.empty()) kernel_->walked.push_back(1), ++number;
    kept_[lane] = Index::Loop(number, dims[lane]);
    kernel_->walked.push_back(dims[lane]);
  }

  // An element of a window: the operand's, or the initial value where the window hangs over the border.
  int WindowElement(const Instruction& hlo) {
    const Shape& operand = hlo.operand_shape(0);
    int inside = -1;
    Indices index;
    for (size_t d = 0; d < kept_.size(); ++d) {
      const WindowDim& dim = hlo[kWindow]->dims[d];
      const Index at = kept_[d] * dim.stride + full_[d] * dim.window_dilation + Index::Constant(-dim.pad_low);
      const int64_t size = operand.dim(static_cast<int64_t>(d));
      if (at.Least() >= 0 && at.Most() < size) {
        index.push_back(at);
        continue;
      }
      KernelNode place;
      place.kind = KernelNode::Kind::kIndex;
      place.type = ElementType::kS64;
      place.index = at;
      const int number = Add(std::move(place));
      const int held = HeldWithin(number, size - 1);
      index.push_back(Index::Data(held, size - 1));
      const int is_inside = Apply(Opcode::kCompare, ElementType::kPred, {number, held});  // eq
      inside = inside < 0 ? is_inside : Apply(Opcode::kAnd, ElementType::kPred, {inside, is_inside});
    }
    const int element = Node(*hlo.operands[0], index);
    if (inside < 0 || failed_) return element;
    return Apply(Opcode::kSelect, operand.element_type(), {inside, element, Node(*hlo.operands[1], {})});
  }

  int Apply(Opcode opcode, ElementType type, std::initializer_list<int> operands) {
    KernelNode node;
    node.opcode = opcode;
    node.type = type;
    std::copy(operands.begin(), operands.end(), node.operands);
    node.direction = ComparisonDirection::kEq;
    return Add(std::move(node));
  }

  // What a root gives, at every place or at one per row.
  bool Store(const Instruction& root) {
    if (root.shape().IsTuple()) return StoreResults(root);
    const int64_t count = root.shape().ElementCount().value_or(0);
    const bool is_full = count == Product(full_dims_) && (!reduces_ || (reduces_last_ && count != Product(kept_dims_)));
    if (!is_full && (!reduces_ || count != Product(kept_dims_))) return false;
    if (is_full && kernel_->form == FusedKernel::Form::kColumns) return false;
    const Index place = is_full ? builder_.Linearize(full_, full_dims_) : builder_.Linearize(kept_, kept_dims_);
    const bool same_dims = std::ranges::equal(root.shape().dims(), is_full ? full_dims_ : kept_dims_);
    const Indices index = same_dims ? (is_full ? full_ : kept_) : builder_.Delinearize(place, root.shape().dims());
    AddStore(Node(root, index), root.shape().element_type(), place, is_full);
    return true;
  }

  // All results of a reduction of several operands.
  bool StoreResults(const Instruction& root) {
    if (root.opcode != Opcode::kReduce) return false;
    const Index place = builder_.Linearize(kept_, kept_dims_);
    for (size_t i = 0; i < root.shape().elements().size() && !failed_; ++i)
      AddStore(Result(root, i, kept_), root.shape().element(static_cast<int64_t>(i)).element_type(), place, false);
    return true;
  }

  void AddStore(int node, ElementType type, const Index& place, bool is_full) {
    const bool per_row = !is_full && reduces_ && kernel_->form == FusedKernel::Form::kRows;
    kernel_->stores.push_back({node, static_cast<int>(kernel_->outputs.size()), place, per_row});
    kernel_->outputs.push_back(type);
  }

  static int64_t Product(const std::vector<int64_t>& dims) {
    int64_t product = 1;
    for (int64_t dim : dims) product *= dim;
    return product;
  }

  void Fail() { failed_ = true; }

  // Result number `part` of a reduction, at `index` of its result: that must be the row's.
  int Result(const Instruction& hlo, size_t part, const Indices& index) {
    if (!reduces_ || (window_ == nullptr ? !IsLoopReduction(hlo) : &hlo != window_)) return Fail(), 0;
    const Shape& result = hlo.shape().IsTuple() ? hlo.shape().element(0) : hlo.shape();
    if (!(builder_.Linearize(index, result.dims()) == builder_.Linearize(kept_, kept_dims_))) return Fail(), 0;
    auto found = reductions_.find(&hlo);
    if (found == reductions_.end()) {
      const int number = NewReduction(hlo);
      if (failed_) return 0;
      found = reductions_.emplace(&hlo, number).first;
    }
    KernelNode node;
    node.kind = KernelNode::Kind::kResult;
    node.type = hlo.operand_shape(part).element_type();
    node.reduction = found->second;
    node.input = static_cast<int>(part);
    return Add(std::move(node));
  }

  int NewReduction(const Instruction& hlo) {
    const Ints dims = hlo.operand_shape(0).dims();
    Indices full;
    if (&hlo == window_) {
    } else if (std::ranges::equal(dims, full_dims_) && SameLoops(hlo)) {
      full = full_;
    } else {
      // The same rows under other dimensions.
      if (!reduces_last_ || !ReducesLast(hlo) || Product({dims.begin(), dims.end()}) != Product(full_dims_)) return Fail(), 0;
      full = builder_.Delinearize(builder_.Linearize(full_, full_dims_), dims);
    }
    KernelReduction reduction;
    const size_t n = hlo.operand_count() / 2;
    for (size_t i = 0; i < n; ++i) {
      reduction.elements.push_back(&hlo == window_ ? WindowElement(hlo) : Node(*hlo.operands[i], full));
      reduction.inits.push_back(Node(*hlo.operands[n + i], {}));
    }
    if (failed_) return 0;
    if (const Instruction* op = OnlyOpOf(*hlo[kToApply])) {
      reduction.op = op->opcode;
    } else {
      reduction.kind = KernelReduction::Kind::kFirstOf;
      reduction.op = *FirstOf(*hlo[kToApply]);
    }
    for (int element : reduction.elements) reduction.stage = std::max(reduction.stage, StageOf(element));
    if (kernel_->form == FusedKernel::Form::kColumns && reduction.stage > 0) Fail();
    kernel_->reductions.push_back(std::move(reduction));
    return static_cast<int>(kernel_->reductions.size()) - 1;
  }

  // Reduces the dimensions that the loops were made for.
  bool SameLoops(const Instruction& hlo) const {
    Indices kept;
    const Ints reduced = hlo[kDimensions];
    for (size_t d = 0; d < full_.size(); ++d)
      if (std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) == reduced.end()) kept.push_back(full_[d]);
    return kept == kept_;
  }

  static bool ReducesLast(const Instruction& hlo) {
    const Ints reduced = hlo[kDimensions];
    const int64_t first = hlo.operand_shape(0).rank() - std::ssize(reduced);
    return std::all_of(reduced.begin(), reduced.end(), [&](int64_t d) { return d >= first; });
  }

  // After how many stages of reductions a node is known.
  int StageOf(int node) const { return stages_[static_cast<size_t>(node)]; }

  int Add(KernelNode node) {
    if (kernel_->nodes.size() >= kMostNodes) failed_ = true;
    int stage = 0;
    if (node.kind == KernelNode::Kind::kResult) stage = kernel_->reductions[static_cast<size_t>(node.reduction)].stage + 1;
    for (int operand : node.operands)
      if (operand >= 0) stage = std::max(stage, StageOf(operand));
    stages_.push_back(stage);
    kernel_->nodes.push_back(std::move(node));
    return static_cast<int>(kernel_->nodes.size()) - 1;
  }

  // The value of `hlo` at `index`.
  int Node(const Instruction& hlo, const Indices& index) {
    if (failed_) return 0;
    std::pair<const Instruction*, Indices> key{&hlo, index};
    if (auto found = nodes_.find(key); found != nodes_.end()) return found->second;
    const int node = NewNode(hlo, index);
    nodes_.emplace(std::move(key), node);
    return node;
  }

  int NewNode(const Instruction& hlo, const Indices& index) {
    if (auto input = std::find(inputs_.begin(), inputs_.end(), &hlo); input != inputs_.end())
      return Load(static_cast<int>(input - inputs_.begin()), hlo, index);
    if (IsUniformConstant(hlo)) return Constant(hlo);
    if (hlo.opcode == Opcode::kIota) {
      KernelNode node;
      node.kind = KernelNode::Kind::kIndex;
      node.type = hlo.shape().element_type();
      node.index = index[static_cast<size_t>(hlo[Op<Opcode::kIota>::kIotaDimension])];
      return Add(std::move(node));
    }
    if (hlo.opcode == Opcode::kReduce || hlo.opcode == Opcode::kReduceWindow) return Result(hlo, 0, index);
    if (!IsLoopOp(hlo)) {
      failed_ = true;
      return 0;
    }
    if (hlo.opcode == Opcode::kDynamicSlice) return Node(*hlo.operands[0], Shifted(hlo, index));
    if (MapFunction map = kMaps[static_cast<size_t>(hlo.opcode)]; map != nullptr)
      return Node(*hlo.operands[0], map(builder_, hlo, index));
    return Apply(hlo, index);
  }

  int Apply(const Instruction& hlo, const Indices& index) {
    KernelNode node;
    node.type = hlo.shape().element_type();
    node.opcode = hlo.opcode;
    for (size_t i = 0; i < hlo.operand_count(); ++i) {
      const bool is_scalar = hlo.operand_shape(i).rank() == 0;  // a bound of clamp, a predicate of select
      node.operands[i] = Node(*hlo.operands[i], is_scalar ? Indices() : index);
    }
    if (hlo.opcode == Opcode::kCompare) {
      node.direction = hlo[Op<Opcode::kCompare>::kDirection];
      node.total_order = hlo[Op<Opcode::kCompare>::kOrder] == ComparisonOrder::kTotal;
    }
    return Add(std::move(node));
  }

  // dynamic-slice: the index of the result plus the starts, held within the operand.
  Indices Shifted(const Instruction& hlo, Indices index) {
    for (size_t d = 0; d < index.size(); ++d) {
      const int64_t most = hlo.operand_shape(0).dim(static_cast<int64_t>(d)) - hlo.shape().dim(static_cast<int64_t>(d));
      if (most > 0) index[d] = index[d] + Start(*hlo.operands[d + 1], most);
    }
    return index;
  }

  Index Start(const Instruction& start, int64_t most) {
    const int node = Node(start, {});
    return failed_ ? Index() : Index::Data(HeldWithin(node, most), most);
  }

  int HeldWithin(int number, int64_t most) {
    KernelNode wide;
    wide.opcode = Opcode::kConvert;
    wide.type = ElementType::kS64;
    wide.operands[0] = number;
    KernelNode low = IntConstant(0), high = IntConstant(most);
    KernelNode held;
    held.opcode = Opcode::kClamp;
    held.type = ElementType::kS64;
    held.operands[0] = Add(std::move(low));
    held.operands[1] = Add(std::move(wide));
    held.operands[2] = Add(std::move(high));
    return Add(std::move(held));
  }

  static KernelNode IntConstant(int64_t value) {
    KernelNode node;
    node.kind = KernelNode::Kind::kConstant;
    node.type = ElementType::kS64;
    node.bits[0] = static_cast<uint64_t>(value);
    return node;
  }

  int Load(int input, const Instruction& hlo, const Indices& index) {
    KernelNode node;
    node.kind = KernelNode::Kind::kLoad;
    node.type = hlo.shape().element_type();
    node.input = input;
    node.index = builder_.Linearize(index, hlo.shape().dims());
    return Add(std::move(node));
  }

  int Constant(const Instruction& hlo) {
    KernelNode node;
    node.kind = KernelNode::Kind::kConstant;
    node.type = hlo.shape().element_type();
    const std::span<const std::byte> data = hlo[kConstantValue]->data;
    if (!data.empty())
      std::memcpy(node.bits, data.data(), std::min<size_t>(data.size(), static_cast<size_t>(StorageBytes(node.type))));
    return Add(std::move(node));
  }

  std::vector<const Instruction*> inputs_, roots_;
  std::unique_ptr<FusedKernel> kernel_ = std::make_unique<FusedKernel>();
  IndexBuilder builder_;
  std::map<std::pair<const Instruction*, Indices>, int, Less> nodes_;
  std::map<const Instruction*, int> reductions_;
  std::vector<int> stages_;  // of nodes
  // The index of the loops in what is walked through, and in what a reduction leaves of it.
  Indices full_, kept_;
  std::vector<int64_t> full_dims_, kept_dims_;
  const Instruction* window_ = nullptr;  // the loops are those of a reduce-window: full_ is the place in the window
  bool reduces_ = false, reduces_last_ = false;
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<FusedKernel> KernelOf(std::span<const Instruction* const> inputs,
                                      std::span<const Instruction* const> roots) {
  auto kernel = KernelBuilder(inputs, roots).Build();
  if (kernel != nullptr) MergeLoops(*kernel);
  return kernel;
}

std::unique_ptr<FusedKernel> FusedKernelOf(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kFusion) return nullptr;
  const Computation& fused = *hlo[kCalls];
  const std::vector<const Instruction*> inputs(fused.parameters.begin(), fused.parameters.end());
  std::vector<const Instruction*> roots{fused.root};
  if (fused.root->opcode == Opcode::kTuple) roots.assign(fused.root->operands.begin(), fused.root->operands.end());
  return KernelOf(inputs, roots);
}

}  // namespace shoal
