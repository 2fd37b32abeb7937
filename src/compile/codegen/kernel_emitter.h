// KernelEmitter: one FusedKernel as LLVM IR: a function of type KernelCode, or a part of a larger function. Loop
// variables and accumulators are written as stack slots, which SROA turns into registers.
#pragma once

#include <functional>
#include <map>

#include "compile/codegen/apply.h"

namespace shoal::internal {

// Which rows, and which lanes of each.
struct KernelRange {
  llvm::Value *begin, *end, *lane_begin, *lane_end;
};

class KernelEmitter {
 public:
  // `buffers`: the inputs, then the outputs. Emits where `ir` stands, which is in `function`.
  KernelEmitter(const FusedKernel& kernel, llvm::Function& function, llvm::IRBuilder<>& ir,
                std::vector<llvm::Value*> buffers);
  // Loops of at most `unrolled` rounds are written out where their number is known.
  void Emit(const KernelRange& range, int64_t unrolled);

 private:
  using Slot = llvm::AllocaInst*;
  using Body = std::function<void()>;

  // Where a node's value is known: once per row, once per round of the outer walked loops, or in each lane.
  enum Level : uint8_t { kRow, kRound, kLane };
  Level LevelOf(const IndexExpr& index) const;
  void FindLevels();
  void FindStages();
  void FindNeeded();
  void Need(int node, size_t walk);
  bool IsSaved(int node) const;
  void ChooseLanes();

  // Loops.
  Slot NewSlot(llvm::Type* type, const char* name);
  llvm::Value* Get(Slot slot) { return ir_.CreateLoad(slot->getAllocatedType(), slot); }
  void Set(Slot slot, llvm::Value* value) { ir_.CreateStore(value, slot); }
  llvm::Value* I64(int64_t value) { return ir_.getInt64(static_cast<uint64_t>(value)); }
  // for (loop = begin; loop + step <= end; loop += step) body; gives where it ended.
  llvm::Value* Loop(int loop, llvm::Value* begin, llvm::Value* end, int64_t step, const Body& body);
  void EmitRows(const KernelRange& range, const Body& row);
  // Of the first walked loop, where it is cut into pieces; else all of it.
  std::pair<llvm::Value*, llvm::Value*> FirstInnerLoop();
  // `body` for every round of the walked loops but the lanes'.
  void EmitInnerLoops(size_t loop, const Body& body);
  // `body` for the lanes of the range: as many as fit in the widest vectors, then in narrower ones.
  void EmitLanes(llvm::Value* begin, llvm::Value* end, const Body& body);

  void EmitRow();
  void EmitRowPass();
  void EmitReducedColumns();
  void EmitColumnsInRegisters();
  void EmitColumnsInMemory();
  void FinishColumns();

  // Reductions. An accumulator is a value for each element of the reduction.
  using Nums = std::vector<Num>;
  Nums InitsOf(const KernelReduction& reduction);
  Nums ElementsOf(const KernelReduction& reduction);
  Nums TakeIn(const KernelReduction& reduction, const Nums& sums, const Nums& elements);
  // The same for what several elements gave, in any order.
  Nums Combined(const KernelReduction& reduction, const Nums& a, const Nums& b);
  Nums Horizontal(const KernelReduction& reduction, Nums vectors);
  std::vector<std::vector<Slot>> NewSums(int lanes);
  void SetResults(size_t reduction, const Nums& results);

  // Values.
  void EmitNodes(Level level);
  void EmitStores(bool per_row);
  Num EmitNode(int node);
  Num EmitLoad(const KernelNode& node, int number);
  llvm::Value* EmitStridedLoad(const KernelNode& node, llvm::Value* base, int64_t stride);
  Num EmitIndex(const KernelNode& node);
  llvm::Value* ComplexConstant(const KernelNode& node);
  Num Operand(int node);
  void Save(int node, Num value);
  Num Saved(int node);
  llvm::Value* LoopValue(int loop);
  llvm::Value* Scalar(const IndexExpr& index, int without_loop = -1);
  // For each lane, with the lane's own number.
  llvm::Value* PerLane(const IndexExpr& index, llvm::IntegerType* type);
  llvm::Value* PerLane(const IndexExpr& index);  // in 32 bits where that holds it, else in 64
  llvm::Value* LaneNumbers(llvm::Type* element);
  llvm::Value* Splat(llvm::Value* value);
  llvm::Value* Address(llvm::Value* buffer, ElementType type, llvm::Value* index);
  LinearPart InLane(const IndexExpr& index) const;

  const FusedKernel& kernel_;
  llvm::Function& function_;
  llvm::IRBuilder<>& ir_;
  VectorBuilder builder_;
  std::vector<llvm::Value*> buffers_;
  KernelRange range_{};
  int64_t unrolled_ = 1;
  std::vector<Slot> loops_;            // the variable of each
  std::vector<llvm::Value*> fixed_;    // or its value, where it is written out
  std::vector<Level> levels_;
  std::vector<int> stages_;            // of nodes: after how many stages of reductions they are known
  int last_walk_ = 0;                  // the one that stores
  size_t walk_ = 0;                    // being emitted
  std::vector<std::vector<bool>> needed_;   // in each walk: which nodes
  std::map<int, Slot> saved_;          // nodes that a walk keeps for later ones, with room for a row of them
  std::vector<int> widths_;            // lanes of vectors, the widest first
  int lanes_ = 1;                      // of what is being emitted
  std::vector<Num> scalars_;           // of nodes above the lanes
  std::map<int, llvm::Value*> bases_;  // of loads: the place of lane 0
  std::vector<Num> values_;            // of nodes in the lanes, for this body
};

// The kernel as a function of the type KernelCode.
void EmitKernelFunction(const FusedKernel& kernel, llvm::Module& module, const std::string& name);

}  // namespace shoal::internal
