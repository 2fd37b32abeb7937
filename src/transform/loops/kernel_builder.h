// KernelBuilder: from a fusion to a FusedKernel. Goes from the root to the parameters and works out for each value at which
// index it is wanted, by the ops' index maps.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>

#include "core/ir/instruction.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

using Indices = std::vector<IndexExpr>;

// What the ops' index maps are written against.
struct IndexBuilder {
  IndexExpr Int(int64_t value) { return IndexExpr::Constant(value); }
  IndexExpr Add(const IndexExpr& a, const IndexExpr& b) { return a + b; }
  IndexExpr Multiply(const IndexExpr& a, int64_t by) { return a * by; }
  IndexExpr Linearize(const Indices& index, Ints dims) {
    IndexExpr place;
    int64_t stride = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      place = place + index[d] * stride;
      stride *= dims[d];
    }
    return place;
  }
  Indices Delinearize(const IndexExpr& place, Ints dims) {
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

struct Less {
  bool operator()(const std::pair<const Instruction*, Indices>& a,
                  const std::pair<const Instruction*, Indices>& b) const {
    if (a.first != b.first) return a.first < b.first;
    for (size_t i = 0; i < std::min(a.second.size(), b.second.size()); ++i)
      if (int order = Compare(a.second[i], b.second[i]); order != 0) return order < 0;
    return a.second.size() < b.second.size();
  }
};

// A part of what the loops go through: [begin, end) of each dimension of the root.
struct IterationBox {
  std::vector<std::pair<int64_t, int64_t>> dims;  // empty: all of it
};
struct SplitPoint {
  size_t dim = 0;
  int64_t at = 0;
};

class KernelBuilder {
 public:
  // `inputs` are the values that the kernel reads from memory.
  KernelBuilder(std::span<const Instruction* const> inputs, std::span<const Instruction* const> roots, IterationBox piece)
      : inputs_(inputs.begin(), inputs.end()), roots_(roots.begin(), roots.end()), piece_(std::move(piece)) {}

  // Nothing where no loop nest of ours computes it.
  std::unique_ptr<FusedKernel> Build();
  // Where two would do, after Build gave nothing: what is before the cut, and what is after it. The piece has all its
  // dimensions then.
  const std::optional<SplitPoint>& cut() const { return cut_; }
  const IterationBox& piece() const { return piece_; }

 private:
  static constexpr size_t kMaxNodes = 2000;

  // The first that the roots need; the loops are made for it, and others must go through the same ones.
  const Instruction* FirstReduction();

  // One loop for each dimension, the last one walked.
  void SetLoops(const Instruction& root);
  void SetLoopsOfReduction(const Instruction& hlo);

  // Columns of what is within a window.
  void SetLoopsOfWindow(const Instruction& hlo);

  // An element of a window: the operand's, or the initial value where the window hangs over the border.
  int WindowElement(const Instruction& hlo);
  int Apply(Opcode opcode, ElementType type, std::initializer_list<int> operands);

  // What a root gives, at every place or at one per row.
  bool Store(const Instruction& root);

  // All results of a reduction of several operands.
  bool StoreResults(const Instruction& root);
  void AddStore(int node, ElementType type, const IndexExpr& place, bool is_full);
  static int64_t Product(const std::vector<int64_t>& dims);
  void Fail() { failed_ = true; }

  // Result number `part` of a reduction, at `index` of its result: that must be the row's.
  int Result(const Instruction& hlo, size_t part, const Indices& index);
  int NewReduction(const Instruction& hlo);

  // Reduces the dimensions that the loops were made for.
  bool SameLoops(const Instruction& hlo) const;
  static bool ReducesLast(const Instruction& hlo);

  // After how many stages of reductions a node is known.
  int StageOf(int node) const { return stages_[static_cast<size_t>(node)]; }
  int Add(KernelNode node);

  // The value of `hlo` at `index`.
  int Node(const Instruction& hlo, const Indices& index);
  int NewNode(const Instruction& hlo, const Indices& index);
  int Apply(const Instruction& hlo, const Indices& index);

  // dynamic-slice: the index of the result plus the starts, held within the operand.
  Indices Shifted(const Instruction& hlo, Indices index);
  // gather: the place in the operand of an element of the result.
  Indices Gathered(const Instruction& hlo, const Indices& index);
  // Of an op that places operands side by side: of the one that the piece sees. Where it sees several it must be cut.
  int Placed(const Instruction& hlo, Indices index);
  // Whether `at` is below `border` everywhere; where it is only somewhere the piece is cut there.
  bool IsBelow(const IndexExpr& at, int64_t border);
  IndexExpr Start(const Instruction& start, int64_t most);
  // Not below 0 and not above `most`: of type s32 where that and the number's own type allow it, else s64.
  int HeldWithin(int number, int64_t most);
  int AddInt(ElementType type, int64_t value);
  int Load(int input, const Instruction& hlo, const Indices& index);
  int Constant(const Instruction& hlo);

  std::vector<const Instruction*> inputs_, roots_;
  IterationBox piece_;
  std::optional<SplitPoint> cut_;
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

}  // namespace shoal::internal
