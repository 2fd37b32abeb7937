// KernelEmitter: emits LLVM IR for one FusedKernel, as a function of type KernelCode or as a part of a larger function.
// Loop variables and accumulators are emitted as stack slots, which SROA turns into registers.
#pragma once

#include <functional>
#include <map>

#include "compile/codegen/apply.h"

namespace shoal::internal {

// The rows to compute, and the lanes of each row.
struct KernelRange {
  llvm::Value *begin, *end, *lane_begin, *lane_end;
};

class KernelEmitter {
 public:
  // `buffers`: the inputs, then the outputs. Emits at the insertion point of `ir`, which is in `function`.
  KernelEmitter(const FusedKernel& kernel, llvm::Function& function, llvm::IRBuilder<>& ir,
                std::vector<llvm::Value*> buffers);
  // Unrolls loops with a constant number of iterations of at most `unrolled`.
  void Emit(const KernelRange& range, int64_t unrolled);

 private:
  using Slot = llvm::AllocaInst*;
  using Body = std::function<void()>;

  // Level of a node: evaluated once per row, per iteration of the inner loops outside the lane loop, or per lane.
  enum Level : uint8_t { kRow, kIteration, kLane };
  Level LevelOf(const IndexExpr& index) const;
  void FindLevels();
  void FindStages();
  void FindNeeded();
  void MarkNeeded(int node, size_t pass);
  bool IsSaved(int node) const;
  void ChooseLanes();

  // Loops.
  Slot NewSlot(llvm::Type* type, const char* name);
  llvm::Value* Get(Slot slot) { return ir_.CreateLoad(slot->getAllocatedType(), slot); }
  void Set(Slot slot, llvm::Value* value) { ir_.CreateStore(value, slot); }
  llvm::Value* I64(int64_t value) { return ir_.getInt64(static_cast<uint64_t>(value)); }
  // Emits for (loop = begin; loop + step <= end; loop += step) body; returns the final value of the variable.
  llvm::Value* Loop(int loop, llvm::Value* begin, llvm::Value* end, int64_t step, const Body& body);
  void EmitRows(const KernelRange& range, const Body& row);
  // The range of the first inner loop: the current part of the row if rows are split, else the whole loop.
  std::pair<llvm::Value*, llvm::Value*> FirstInnerLoop();
  // Emits `body` for every iteration of the inner loops, starting at number `loop`, except the lane loop.
  void EmitInnerLoops(size_t loop, const Body& body);
  // Emits `body` for the lanes of the range: first with the widest vectors, then the rest with narrower ones.
  void EmitLanes(llvm::Value* begin, llvm::Value* end, const Body& body);

  void EmitRow();
  void EmitRowPass();
  void EmitReducedColumns();
  void EmitColumnsInRegisters();
  void EmitColumnsInMemory();
  void FinishColumns();

  // Reductions. An accumulator has one value for each element of the reduction.
  using Nums = std::vector<Num>;
  Nums InitsOf(const KernelReduction& reduction);
  Nums ElementsOf(const KernelReduction& reduction);
  Nums Accumulate(const KernelReduction& reduction, const Nums& sums, const Nums& elements);
  Nums ApplyFunction(const KernelReduction& reduction, const Nums& sums, const Nums& elements);
  // Combines two accumulators, which may be in any order.
  Nums CombinePartials(const KernelReduction& reduction, const Nums& a, const Nums& b);
  Nums Horizontal(const KernelReduction& reduction, Nums vectors);
  std::vector<std::vector<Slot>> NewSums(int lanes);
  void SetResults(size_t reduction, const Nums& results);

  // Values.
  void EmitNodes(Level level);
  void EmitStores(bool per_row);
  Num EmitNode(int node);
  Num EmitConstant(const KernelNode& node);
  Num EmitLoad(const KernelNode& node, int number);
  llvm::Value* EmitStridedLoad(const KernelNode& node, llvm::Value* base, int64_t stride);
  Num EmitIndex(const KernelNode& node);
  llvm::Value* ComplexConstant(const KernelNode& node);
  Num Operand(int node);
  void Save(int node, Num value);
  Num Saved(int node);
  llvm::Value* LoopValue(int loop);
  llvm::Value* Scalar(const IndexExpr& index, int without_loop = -1);
  // The index for each lane, as a vector.
  llvm::Value* PerLane(const IndexExpr& index, llvm::IntegerType* type);
  llvm::Value* PerLane(const IndexExpr& index);  // with 32 bits if they suffice, else 64
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
  std::vector<Slot> loops_;                // the variable of each loop
  std::vector<llvm::Value*> fixed_;        // value of each loop's variable while it is unrolled, else null
  std::vector<Level> levels_;              // level of each node
  std::vector<int> stages_;                // for each node, the reduction stages that must finish before it
  int last_pass_ = 0;                      // the pass that stores
  size_t pass_ = 0;                        // the pass that is being emitted
  std::vector<std::vector<bool>> needed_;  // for each pass, the nodes that the pass needs
  std::map<int, Slot> saved_;              // nodes that a pass saves for later passes: an array with one row of values
  std::vector<int> widths_;                // vector widths in lanes, widest first
  int lanes_ = 1;                          // current vector width
  std::vector<Num> scalars_;               // values of nodes above the lane level
  std::map<int, llvm::Value*> bases_;      // address of lane 0, for each load
  std::vector<Num> values_;                // values of nodes at the lane level, in the current body
};

// Emits the kernel as a function of type KernelCode.
void EmitKernelFunction(const FusedKernel& kernel, llvm::Module& module, const std::string& name);

}  // namespace shoal::internal
