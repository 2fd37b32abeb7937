// KernelEmitter: one FusedKernel as an LLVM function of type KernelCode. Loop variables and accumulators are written as
// stack slots, which mem2reg turns into registers.
#pragma once

#include <functional>
#include <map>

#include "codegen/apply.h"

namespace shoal {

class KernelEmitter {
 public:
  KernelEmitter(const FusedKernel& kernel, llvm::Module& module, const std::string& name);
  void Emit();

 private:
  using Slot = llvm::AllocaInst*;
  using Body = std::function<void()>;

  // Where a node's value is known: once per row, once per round of the outer walked loops, or in each lane.
  enum Level : uint8_t { kRow, kRound, kLane };
  Level LevelOf(const Index& index) const;
  // Of the data in it.
  Level DataLevel(const Index& index) const;
  void FindLevels();
  void ChooseLanes();

  // Loops.
  Slot NewSlot(llvm::Type* type, const char* name);
  llvm::Value* Get(Slot slot) { return ir_.CreateLoad(slot->getAllocatedType(), slot); }
  void Set(Slot slot, llvm::Value* value) { ir_.CreateStore(value, slot); }
  llvm::Value* I64(int64_t value) { return ir_.getInt64(static_cast<uint64_t>(value)); }
  // while (slot + step <= end) { body; slot += step; }
  void Loop(Slot slot, llvm::Value* end, int64_t step, const Body& body);
  void EmitRows(const Body& row);
  // `body` for every round of the walked loops but the lanes'.
  void EmitRounds(size_t loop, const Body& body);
  // `body` for the lanes in [lane_begin, lane_end): as many as fit in vectors, then one by one.
  void EmitLanes(const Body& body);

  // The three forms.
  void EmitElementwiseRow();
  void EmitReducedRow();
  void EmitReducedColumns();
  llvm::Value* Horizontal(Opcode op, Num vector);

  // Values.
  void EmitNodes(Level level);
  void EmitStores();
  Num EmitNode(int node);
  Num EmitLoad(const KernelNode& node, int number);
  Num EmitIndex(const KernelNode& node);
  Num Operand(int node);
  void EmitBase(int node);
  llvm::Value* LoopValue(int loop);
  llvm::Value* Scalar(const Index& index, int without_loop = -1);
  // For each lane, with the lane's own number.
  llvm::Value* PerLane(const Index& index);
  llvm::Value* LaneNumbers(llvm::Type* element);
  llvm::Value* Splat(llvm::Value* value);
  llvm::Value* Address(llvm::Value* buffer, ElementType type, llvm::Value* index);
  LinearPart InLane(const Index& index) const;

  const FusedKernel& kernel_;
  llvm::Module& module_;
  llvm::IRBuilder<> ir_;
  VectorBuilder builder_;
  llvm::Function* function_ = nullptr;
  std::vector<llvm::Value*> buffers_;
  std::vector<Slot> loops_;  // the variable of each
  Slot row_ = nullptr;
  std::vector<Level> levels_;
  int widest_ = 1;   // lanes of a vector
  int lanes_ = 1;    // of what is being emitted: widest_ or 1
  std::vector<Num> scalars_;           // of nodes above the lanes
  std::map<int, llvm::Value*> bases_;  // of loads: the place of lane 0
  std::vector<Num> values_;            // of nodes in the lanes, for this body
  std::vector<Slot> vector_sums_, scalar_sums_;
};

}  // namespace shoal
