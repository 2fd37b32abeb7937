// KernelBuilder: builds a FusedKernel from a fusion. Traverses the instructions from the roots to the parameters, and
// uses the index maps of the ops to compute the index at which each value is read.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>

#include "core/ir/instruction.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

using Indices = std::vector<IndexExpr>;

// The builder with which the index maps of core/ops are instantiated to compute IndexExprs.
struct IndexBuilder {
  IndexExpr Int(int64_t value) { return IndexExpr::Constant(value); }
  IndexExpr Add(const IndexExpr& a, const IndexExpr& b) { return a + b; }
  IndexExpr Multiply(const IndexExpr& a, int64_t by) { return a * by; }
  IndexExpr Linearize(const Indices& index, Ints dims) {
    IndexExpr offset;
    int64_t stride = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      offset = offset + index[d] * stride;
      stride *= dims[d];
    }
    return offset;
  }
  Indices Delinearize(const IndexExpr& offset, Ints dims) {
    Indices index(dims.size());
    int64_t stride = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      index[d] = Quotient(offset, stride);
      if (d > 0) index[d] = Remainder(index[d], dims[d]);
      stride *= dims[d];
    }
    return index;
  }
};

struct NodeKeyLess {
  bool operator()(const std::pair<const Instruction*, Indices>& a,
                  const std::pair<const Instruction*, Indices>& b) const {
    if (a.first != b.first) return a.first < b.first;
    for (size_t i = 0; i < std::min(a.second.size(), b.second.size()); ++i)
      if (int order = Compare(a.second[i], b.second[i]); order != 0) return order < 0;
    return a.second.size() < b.second.size();
  }
};

// A part of the iteration space: the range [begin, end) of each dimension of the root, or of the windows' result.
struct IterationBox {
  std::vector<std::pair<int64_t, int64_t>> dims;  // empty: the whole iteration space
};
struct SplitPoint {
  size_t dim = 0;
  int64_t index = 0;
};

class KernelBuilder {
 public:
  // `inputs` are the values that the kernel reads from memory.
  KernelBuilder(std::span<const Instruction* const> inputs, std::span<const Instruction* const> roots, IterationBox box)
      : inputs_(inputs.begin(), inputs.end()), roots_(roots.begin(), roots.end()), box_(std::move(box)) {}

  // Returns null if the roots cannot be expressed as one FusedKernel. `refusal` then has the reason.
  std::unique_ptr<FusedKernel> Build();
  std::string_view refusal() const { return refusal_; }
  // If Build returned null: the point at which to split the box, if a kernel may be possible for each half. All
  // dimensions of the box are then set.
  const std::optional<SplitPoint>& split_point() const { return split_point_; }
  const IterationBox& box() const { return box_; }

  static KernelNode ConstantNode(const Instruction& hlo);
  static KernelNode ApplyNodeOf(const Instruction& hlo);  // without operands

 private:
  static constexpr size_t kMaxNodes = 2000;

  // The reduction that determines the loops; other reductions must use the same loops. Null if there is none.
  const Instruction* FirstReduction();

  // Sets one loop for each dimension. The last one is the inner loop.
  void SetLoops(const Instruction& root);
  void SetLoopsOfReduction(const Instruction& hlo);

  // Sets the loops of a column kernel for a reduce-window. The inner loops iterate over the window.
  void SetLoopsOfWindow(const Instruction& hlo);

  // Returns the index of an element of a window, clamped to the operand. `inside`: the node that is true if the element
  // is not in the padding; -1 if there is no padding.
  Indices WindowIndex(const Instruction& hlo, int& inside);
  void SplitPaddedLanes(const WindowDim& dim, size_t d, int64_t size);
  // Returns the node for an element of a window: the operand's element, or the initial value if it is in the padding.
  int WindowElement(const Instruction& hlo);
  // Sets the nodes of the function of a reduction.
  void SetFunction(const Instruction& hlo, KernelReduction& reduction);
  int Apply(Opcode opcode, ElementType type, std::initializer_list<int> operands);

  // Stores the value of a root, at every index of the full space or once per row.
  bool Store(const Instruction& root);

  bool StoreResults(const Instruction& root);
  void AddStore(int node, ElementType type, const IndexExpr& offset, bool is_full);
  static int64_t Product(const std::vector<int64_t>& dims);
  // Ends the build; the first reason counts. Returns 0, for functions that return the number of a node.
  int Fail(std::string_view reason) {
    if (!failed_) refusal_ = reason;
    failed_ = true;
    return 0;
  }

  // Returns the node for result `element` of a reduction at `index`, which must be the index of the row.
  int Result(const Instruction& hlo, size_t element, const Indices& index);
  int NewReduction(const Instruction& hlo);

  // True if the reduction reduces exactly the dimensions of the inner loops.
  bool ReducesLoopDims(const Instruction& hlo) const;
  static bool ReducesLast(const Instruction& hlo);

  // Number of reduction stages that must finish before a node can be computed.
  int StageOf(int node) const { return stages_[static_cast<size_t>(node)]; }
  int Add(KernelNode node);

  // Returns the node for the value of `hlo` at `index`.
  int Node(const Instruction& hlo, const Indices& index);
  int NewNode(const Instruction& hlo, const Indices& index);
  int Apply(const Instruction& hlo, const Indices& index);

  // Returns the operand index of a dynamic-slice: the index in the result plus the clamped start indices.
  Indices DynamicSliceIndex(const Instruction& hlo, Indices index);
  // Returns the operand index that a gather reads for the result element at `index`.
  Indices GatherIndex(const Instruction& hlo, const Indices& index);
  // For a concat-like op, returns the node of the operand that the box reads. Sets the split point if it reads several.
  int ConcatLikeNode(const Instruction& hlo, Indices index);
  // True if `index` < `border` in the whole box. If this holds only in a part, the build fails with a split point.
  bool IsBelow(const IndexExpr& index, int64_t border);
  IndexExpr Start(const Instruction& start, int64_t max);
  // Clamps node `number` to [0, max]. The type is s32 if `max` and the type of the node allow it, else s64.
  int ClampedTo(int number, int64_t max);
  int AddIndex(const IndexExpr& index);
  int AddInt(ElementType type, int64_t value);
  int Load(int input, const Instruction& hlo, const Indices& index);

  std::vector<const Instruction*> inputs_, roots_;
  IterationBox box_;
  std::optional<SplitPoint> split_point_;
  std::unique_ptr<FusedKernel> kernel_ = std::make_unique<FusedKernel>();
  IndexBuilder builder_;
  std::map<std::pair<const Instruction*, Indices>, int, NodeKeyLess> nodes_;
  std::map<const Instruction*, int> reductions_;
  std::vector<int> stages_;  // stage of each node
  // Indices as functions of the loop variables: `full_` in the space before reduction, `kept_` in the kept dimensions.
  Indices full_, kept_;
  std::vector<int64_t> full_dims_, kept_dims_;
  const Instruction* window_ = nullptr;  // the reduce-window that defines the loops; full_ indexes its window
  size_t window_lane_dim_ = 0;           // the dimension of its result along which lanes run
  bool reduces_ = false, reduces_last_ = false;
  bool failed_ = false;
  std::string_view refusal_;
};

}  // namespace shoal::internal
