// From a fusion to a FusedKernel: goes from the root to the parameters and works out for each value at which index it
// is wanted, by the ops' index maps.
#include <algorithm>
#include <cstring>
#include <map>

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
  explicit KernelBuilder(const Computation& fused) : fused_(fused) {}

  std::unique_ptr<FusedKernel> Build() {
    for (const Instruction* parameter : fused_.parameters) {
      if (!parameter->shape().IsArray() || parameter->shape().has_dynamic()) return nullptr;
      kernel_->inputs.push_back(parameter->shape().element_type());
    }
    const Instruction& root = *fused_.root;
    const bool built = root.opcode == Opcode::kReduce ? BuildReduction(root)
                       : IsLoopUpdate(root)           ? BuildUpdate(root)
                                                      : BuildLoop(root);
    if (!built || failed_) return nullptr;
    return std::move(kernel_);
  }

 private:
  static constexpr size_t kMostNodes = 2000;

  // One loop for each dimension, the last one walked.
  bool BuildLoop(const Instruction& root) {
    if (!root.shape().IsArray()) return false;
    const Ints dims = root.shape().dims();
    Indices index;
    for (size_t d = 0; d < dims.size(); ++d) index.push_back(Index::Loop(static_cast<int>(d), dims[d]));
    if (dims.empty()) {
      kernel_->walked = {1};
    } else {
      kernel_->rows.assign(dims.begin(), dims.end() - 1);
      kernel_->walked = {dims.back()};
    }
    kernel_->outputs = {root.shape().element_type()};
    const int node = Node(root, index);
    kernel_->stores.push_back({node, 0, builder_.Linearize(index, dims), false});
    return true;
  }

  // The loops of the update; its elements go to where the starts say.
  bool BuildUpdate(const Instruction& root) {
    const Instruction &operand = *root.operands[0], &update = *root.operands[1];
    if (operand.opcode != Opcode::kParameter) return false;
    const Ints dims = update.shape().dims();
    Indices index, place;
    for (size_t d = 0; d < dims.size(); ++d) {
      index.push_back(Index::Loop(static_cast<int>(d), dims[d]));
      place.push_back(index[d] + Start(*root.operands[d + 2], {}, root.shape().dims()[d] - dims[d]));
    }
    if (dims.empty()) {
      kernel_->walked = {1};
    } else {
      kernel_->rows.assign(dims.begin(), dims.end() - 1);
      kernel_->walked = {dims.back()};
    }
    kernel_->outputs = {root.shape().element_type()};
    kernel_->updates = static_cast<int>(operand[kParameterNumber]);
    const int node = Node(update, index);
    kernel_->stores.push_back({node, 0, builder_.Linearize(place, root.shape().dims()), false});
    return std::none_of(kernel_->nodes.begin(), kernel_->nodes.end(), [&](const KernelNode& other) {
      return other.kind == KernelNode::Kind::kLoad && other.input == kernel_->updates;
    });
  }

  bool BuildReduction(const Instruction& root) {
    if (!IsLoopReduction(root) || root[kDimensions].empty()) return false;
    const Ints dims = root.operand_shape(0).dims();
    const Ints reduced = root[kDimensions];
    std::vector<bool> is_reduced(dims.size(), false);
    for (int64_t d : reduced) is_reduced[static_cast<size_t>(d)] = true;
    std::vector<size_t> kept, folded;
    for (size_t d = 0; d < dims.size(); ++d) (is_reduced[d] ? folded : kept).push_back(d);
    // The innermost dimension that is longer than 1 decides: lanes along it.
    size_t last = dims.size();
    while (last > 0 && dims[last - 1] == 1) --last;
    const bool columns = last > 0 && !is_reduced[last - 1];
    kernel_->form = columns ? FusedKernel::Form::kColumns : FusedKernel::Form::kRows;

    Indices index(dims.size()), place;
    std::vector<size_t> order;  // the loops
    for (size_t d : kept)
      if (!columns || d != last - 1) order.push_back(d);
    const size_t row_loops = order.size();
    order.insert(order.end(), folded.begin(), folded.end());
    if (columns) order.push_back(last - 1);
    for (size_t i = 0; i < order.size(); ++i) {
      index[order[i]] = Index::Loop(static_cast<int>(i), dims[order[i]]);
      (i < row_loops ? kernel_->rows : kernel_->walked).push_back(dims[order[i]]);
    }
    if (kernel_->walked.empty()) kernel_->walked = {1};
    for (size_t d : kept) place.push_back(index[d]);

    KernelReduction reduction;
    reduction.elements = {Node(*root.operands[0], index)};
    reduction.inits = {Node(*root.operands[1], {})};
    reduction.is_binary = true;
    reduction.binary = OnlyOpOf(*root[kToApply])->opcode;
    kernel_->reductions.push_back(std::move(reduction));
    kernel_->outputs = {root.shape().element_type()};
    KernelNode result;
    result.kind = KernelNode::Kind::kResult;
    result.type = root.shape().element_type();
    kernel_->stores.push_back({Add(std::move(result)), 0, builder_.Linearize(place, root.shape().dims()), true});
    return true;
  }

  int Add(KernelNode node) {
    if (kernel_->nodes.size() >= kMostNodes) failed_ = true;
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
    if (hlo.opcode == Opcode::kParameter) return Load(hlo, index);
    if (IsUniformConstant(hlo)) return Constant(hlo);
    if (hlo.opcode == Opcode::kIota) {
      KernelNode node;
      node.kind = KernelNode::Kind::kIndex;
      node.type = hlo.shape().element_type();
      node.index = index[static_cast<size_t>(hlo[Op<Opcode::kIota>::kIotaDimension])];
      return Add(std::move(node));
    }
    if (IsIndexedRead(hlo))
      return Node(*hlo.operands[0], hlo.opcode == Opcode::kGather ? GatheredFrom(hlo, index) : SlicedFrom(hlo, index));
    if (!IsLoopOp(hlo)) {
      failed_ = true;
      return 0;
    }
    if (MapFunction map = kMaps[static_cast<size_t>(hlo.opcode)]; map != nullptr)
      return Node(*hlo.operands[0], map(builder_, hlo, index));
    return Apply(hlo, index);
  }

  // A start that is data, moved into [0, most].
  Index Start(const Instruction& hlo, const Indices& at, int64_t most) {
    if (most <= 0 || failed_) return {};
    KernelNode whole;
    whole.type = ElementType::kS64;
    whole.opcode = Opcode::kConvert;
    whole.operands[0] = Node(hlo, at);
    KernelNode raised = Limited(Opcode::kMaximum, Add(std::move(whole)), 0);
    return Index::Data(Add(Limited(Opcode::kMinimum, Add(std::move(raised)), most)), most);
  }

  KernelNode Limited(Opcode opcode, int node, int64_t limit) {
    KernelNode constant, limited;
    constant.kind = KernelNode::Kind::kConstant;
    constant.type = limited.type = ElementType::kS64;
    constant.bits[0] = static_cast<uint64_t>(limit);
    limited.opcode = opcode;
    limited.operands[0] = node;
    limited.operands[1] = Add(std::move(constant));
    return limited;
  }

  Indices SlicedFrom(const Instruction& hlo, Indices index) {
    const Ints dims = hlo.operand_shape(0).dims(), sizes = hlo.shape().dims();
    for (size_t d = 0; d < index.size(); ++d) index[d] = index[d] + Start(*hlo.operands[d + 1], {}, dims[d] - sizes[d]);
    return index;
  }

  Indices GatheredFrom(const Instruction& hlo, const Indices& index) {
    using Gather = Op<Opcode::kGather>;
    auto has = [](Ints dims, size_t d) { return std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end(); };
    const Shape &operand = hlo.operand_shape(0), &starts = hlo.operand_shape(1);
    const Ints offset_dims = hlo[Gather::kOffsetDims], map = hlo[Gather::kStartIndexMap];
    const Ints batching = hlo[Gather::kOperandBatchingDims], with = hlo[Gather::kStartIndicesBatchingDims];
    const Ints sizes = hlo[Gather::kSliceSizes];
    const auto vector_dim = static_cast<size_t>(hlo[kIndexVectorDim]);
    Indices at, place(operand.dims().size());
    for (size_t d = 0; d < index.size(); ++d)
      if (!has(offset_dims, d)) at.push_back(index[d]);
    if (vector_dim < starts.dims().size()) at.insert(at.begin() + static_cast<ptrdiff_t>(vector_dim), Index());
    size_t offset = 0;
    for (size_t d = 0; d < place.size(); ++d)
      if (!has(hlo[Gather::kCollapsedSliceDims], d) && !has(batching, d))
        place[d] = index[static_cast<size_t>(offset_dims[offset++])];
    for (size_t i = 0; i < batching.size(); ++i)
      place[static_cast<size_t>(batching[i])] = at[static_cast<size_t>(with[i])];
    for (size_t i = 0; i < map.size(); ++i) {
      const auto d = static_cast<size_t>(map[i]);
      if (vector_dim < at.size()) at[vector_dim] = Index::Constant(static_cast<int64_t>(i));
      place[d] = place[d] + Start(*hlo.operands[1], at, operand.dims()[d] - sizes[d]);
    }
    return place;
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

  int Load(const Instruction& parameter, const Indices& index) {
    KernelNode node;
    node.kind = KernelNode::Kind::kLoad;
    node.type = parameter.shape().element_type();
    node.input = static_cast<int>(parameter[kParameterNumber]);
    node.index = builder_.Linearize(index, parameter.shape().dims());
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

  const Computation& fused_;
  std::unique_ptr<FusedKernel> kernel_ = std::make_unique<FusedKernel>();
  IndexBuilder builder_;
  std::map<std::pair<const Instruction*, Indices>, int, Less> nodes_;
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<FusedKernel> FusedKernelOf(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kFusion || !hlo.shape().IsArray()) return nullptr;
  auto kernel = KernelBuilder(*hlo[kCalls]).Build();
  if (kernel != nullptr) MergeLoops(*kernel);
  return kernel;
}

}  // namespace shoal
