#include "compile/codegen/routine_emitter.h"

#include "compile/codegen/kernel_emitter.h"
#include "core/ops/complex_ops.h"

namespace shoal::internal {
namespace {

using llvm::BasicBlock;
using llvm::Value;
using Kind = RoutineStatement::Kind;

// Slots with at most this many elements are kept in registers if SROA succeeds; kernels over them are unrolled.
constexpr int64_t kFewElements = 16;
// Number of iterations between two calls of RoutineCalls::stop.
constexpr uint64_t kStopCheckInterval = 1 << 14;

class RoutineEmitter {
 public:
  RoutineEmitter(const Routine& routine, llvm::Module& module, const std::string& name)
      : routine_(routine), module_(module), ir_(module.getContext()), builder_(ir_, module) {
    llvm::Type *i64 = ir_.getInt64Ty(), *pointer = ir_.getPtrTy();
    auto* type = llvm::FunctionType::get(i64, {pointer, i64, pointer, pointer}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
  }

  void Emit() {
    ir_.SetInsertPoint(BasicBlock::Create(ir_.getContext(), "entry", function_));
    CreateSlots();
    code_ = NewLocal(ir_.getInt64Ty());
    ticks_ = NewLocal(ir_.getInt64Ty());
    ir_.CreateStore(ir_.getInt64(0), ticks_);
    for (size_t i = 0; i < routine_.counters; ++i) {
      counters_.push_back(NewLocal(ir_.getInt64Ty()));
      ir_.CreateStore(ir_.getInt64(0), counters_.back());
    }
    exit_ = NewBlock("exit");
    RoutineStatement loop;
    loop.blocks = {routine_.condition, routine_.body};
    loop.slots = {routine_.predicate};
    EmitLoop(loop, true);
    Leave(1);
    EmitExit();
  }

 private:
  BasicBlock* NewBlock(const char* name) { return BasicBlock::Create(ir_.getContext(), name, function_); }

  llvm::AllocaInst* NewLocal(llvm::Type* type) {
    BasicBlock& entry = function_->getEntryBlock();
    llvm::IRBuilder<> at(&entry, entry.begin());
    llvm::AllocaInst* local = at.CreateAlloca(type);
    local->setAlignment(llvm::Align(64));
    return local;
  }

  int64_t BytesOf(int slot) const {
    const RoutineSlot& entry = routine_.slots[static_cast<size_t>(slot)];
    return entry.count * StorageBytes(entry.type);
  }

  void Copy(Value* to, Value* from, int slot) {
    const llvm::Align align(static_cast<uint64_t>(StorageBytes(PartType(routine_.slots[static_cast<size_t>(slot)].type))));
    ir_.CreateMemCpy(to, align, from, align, static_cast<uint64_t>(BytesOf(slot)));
  }

  // State slots with few elements are copied to locals, and written back at the end.
  void CreateSlots() {
    slots_.resize(routine_.slots.size());
    auto argument = [&](size_t i) {
      return ir_.CreateLoad(ir_.getPtrTy(), ir_.CreateConstGEP1_64(ir_.getPtrTy(), function_->getArg(0), i));
    };
    caller_state_.resize(routine_.state_slots);
    for (size_t i = 0; i < routine_.state_slots; ++i) slots_[i] = caller_state_[i] = argument(i);
    for (size_t i = 0; i < routine_.constants.size(); ++i)
      slots_[static_cast<size_t>(routine_.constants[i])] = argument(routine_.state_slots + i);
    for (size_t i = 0; i < slots_.size(); ++i) {
      const RoutineSlot& slot = routine_.slots[i];
      const bool is_state = i < routine_.state_slots;
      if (slot.constant != nullptr || (is_state && slot.count > kFewElements)) continue;
      llvm::Type* each = builder_.Stored(slot.type, 1);
      slots_[i] = NewLocal(slot.count == 1 ? each : llvm::ArrayType::get(each, static_cast<uint64_t>(slot.count)));
      if (is_state) Copy(slots_[i], caller_state_[i], static_cast<int>(i));
    }
  }

  void Leave(int64_t code) {
    ir_.CreateStore(ir_.getInt64(static_cast<uint64_t>(code)), code_);
    ir_.CreateBr(exit_);
  }

  // Writes back state that was kept in locals, and the counters.
  void EmitExit() {
    ir_.SetInsertPoint(exit_);
    for (size_t i = 0; i < caller_state_.size(); ++i)
      if (slots_[i] != caller_state_[i] && routine_.written[i]) Copy(caller_state_[i], slots_[i], static_cast<int>(i));
    for (size_t i = 0; i < counters_.size(); ++i) {
      Value* at = ir_.CreateConstGEP1_64(ir_.getInt64Ty(), function_->getArg(2), i);
      ir_.CreateStore(ir_.CreateAdd(ir_.CreateLoad(ir_.getInt64Ty(), at), ir_.CreateLoad(ir_.getInt64Ty(), counters_[i])), at);
    }
    ir_.CreateRet(ir_.CreateLoad(ir_.getInt64Ty(), code_));
  }

  void Count(size_t counter) {
    Value* before = ir_.CreateLoad(ir_.getInt64Ty(), counters_[counter]);
    ir_.CreateStore(ir_.CreateAdd(before, ir_.getInt64(1)), counters_[counter]);
  }

  // Emits: if `condition`, return `code`.
  void ReturnIf(Value* condition, int64_t code) {
    BasicBlock *leave = NewBlock("leave"), *stay = NewBlock("stay");
    ir_.CreateCondBr(condition, leave, stay);
    ir_.SetInsertPoint(leave);
    Leave(code);
    ir_.SetInsertPoint(stay);
  }

  Value* Scalar(int slot) {
    return ir_.CreateLoad(builder_.Stored(routine_.slots[static_cast<size_t>(slot)].type, 1), slots_[static_cast<size_t>(slot)]);
  }

  void EmitLoop(const RoutineStatement& loop, bool is_outermost) {
    BasicBlock *head = NewBlock("while"), *inside = NewBlock("iteration"), *after = NewBlock("end");
    Count(loop.counter);
    ir_.CreateBr(head);
    ir_.SetInsertPoint(head);
    EmitBlock(loop.blocks[0]);
    Value* answer = Scalar(loop.slots[0]);
    ir_.CreateCondBr(ir_.CreateICmpNE(answer, llvm::ConstantInt::get(answer->getType(), 0)), inside, after);
    ir_.SetInsertPoint(inside);
    if (is_outermost) {
      Value* iterations = ir_.CreateLoad(ir_.getInt64Ty(), counters_[loop.counter + 1]);
      ReturnIf(ir_.CreateICmpEQ(iterations, function_->getArg(1)), 0);
    }
    Count(loop.counter + 1);
    const std::vector<int> state(loop.slots.begin() + 1, loop.slots.end());
    const std::vector<Value*> before = CheckPeriodically(state);
    EmitBlock(loop.blocks[1]);
    if (!is_outermost) LeaveIfUnchanged(state, before, loop.counter + 2, after);
    ir_.CreateBr(head);
    ir_.SetInsertPoint(after);
  }

  // Calls the callback at offset `member` of RoutineCalls, with the context before the arguments.
  Value* CallBack(size_t member, std::vector<Value*> arguments) {
    auto field = [&](size_t offset) {
      return ir_.CreateLoad(ir_.getPtrTy(), ir_.CreateConstGEP1_64(ir_.getInt8Ty(), function_->getArg(3), offset));
    };
    arguments.insert(arguments.begin(), field(offsetof(RoutineCalls, context)));
    std::vector<llvm::Type*> types;
    for (const Value* argument : arguments) types.push_back(argument->getType());
    llvm::CallInst* answer = ir_.CreateCall(llvm::FunctionType::get(ir_.getInt1Ty(), types, false), field(member), arguments);
    answer->addRetAttr(llvm::Attribute::ZExt);
    return answer;
  }

  void EmitEvaluation(const RoutineStatement& statement) {
    Value* slots = NewLocal(llvm::ArrayType::get(ir_.getPtrTy(), statement.slots.size()));
    for (size_t i = 0; i < statement.slots.size(); ++i)
      ir_.CreateStore(slots_[static_cast<size_t>(statement.slots[i])], ir_.CreateConstGEP1_64(ir_.getPtrTy(), slots, i));
    ReturnIf(ir_.CreateNot(CallBack(offsetof(RoutineCalls, evaluate), {ir_.getInt64(statement.kernel), slots})), 2);
  }

  // From time to time, calls `stop` and saves a copy of the state, to compare it with the state after the iteration.
  std::vector<Value*> CheckPeriodically(const std::vector<int>& state) {
    Value* ticks = ir_.CreateAdd(ir_.CreateLoad(ir_.getInt64Ty(), ticks_), ir_.getInt64(1));
    ir_.CreateStore(ticks, ticks_);
    BasicBlock *check = NewBlock("check"), *resume = NewBlock("resume");
    Value* is_time = ir_.CreateICmpEQ(ir_.CreateAnd(ticks, kStopCheckInterval - 1), ir_.getInt64(0));
    std::vector<Value*> before;
    if (!state.empty()) {
      before.push_back(NewLocal(ir_.getInt1Ty()));
      ir_.CreateStore(is_time, before[0]);
    }
    ir_.CreateCondBr(is_time, check, resume);
    ir_.SetInsertPoint(check);
    ReturnIf(CallBack(offsetof(RoutineCalls, stop), {}), 2);
    for (int slot : state) {
      before.push_back(NewLocal(llvm::ArrayType::get(ir_.getInt8Ty(), static_cast<uint64_t>(BytesOf(slot)))));
      Copy(before.back(), slots_[static_cast<size_t>(slot)], slot);
    }
    ir_.CreateBr(resume);
    ir_.SetInsertPoint(resume);
    return before;
  }

  void LeaveIfUnchanged(const std::vector<int>& state, const std::vector<Value*>& before, size_t counter, BasicBlock* after) {
    BasicBlock *check = NewBlock("compare"), *unchanged = NewBlock("unchanged"), *resume = NewBlock("changed");
    ir_.CreateCondBr(ir_.CreateLoad(ir_.getInt1Ty(), before[0]), check, resume);
    ir_.SetInsertPoint(check);
    auto compare = module_.getOrInsertFunction("memcmp", ir_.getInt32Ty(), ir_.getPtrTy(), ir_.getPtrTy(), ir_.getInt64Ty());
    Value* differs = ir_.getInt32(0);
    for (size_t i = 0; i < state.size(); ++i) {
      // Pass a copy, because memory that is passed to a call cannot be kept in registers.
      const auto bytes = static_cast<uint64_t>(BytesOf(state[i]));
      Value* now = NewLocal(llvm::ArrayType::get(ir_.getInt8Ty(), bytes));
      Copy(now, slots_[static_cast<size_t>(state[i])], state[i]);
      differs = ir_.CreateOr(differs, ir_.CreateCall(compare, {before[i + 1], now, ir_.getInt64(bytes)}));
    }
    ir_.CreateCondBr(ir_.CreateICmpEQ(differs, ir_.getInt32(0)), unchanged, resume);
    ir_.SetInsertPoint(unchanged);
    Count(counter);
    ir_.CreateBr(after);
    ir_.SetInsertPoint(resume);
  }

  void EmitBranch(const RoutineStatement& statement) {
    const bool is_predicate = routine_.slots[static_cast<size_t>(statement.slots[0])].type == ElementType::kPred;
    BasicBlock* after = NewBlock("join");
    std::vector<BasicBlock*> blocks;
    for (size_t i = 0; i < statement.blocks.size(); ++i) blocks.push_back(NewBlock("branch"));
    Value* index = Scalar(statement.slots[0]);
    if (is_predicate) {
      ir_.CreateCondBr(ir_.CreateICmpNE(index, llvm::ConstantInt::get(index->getType(), 0)), blocks[0], blocks.back());
    } else {
      llvm::SwitchInst* jump = ir_.CreateSwitch(index, blocks.back());
      auto* type = llvm::cast<llvm::IntegerType>(index->getType());
      for (size_t i = 0; i + 1 < blocks.size(); ++i) jump->addCase(llvm::ConstantInt::get(type, i), blocks[i]);
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
      ir_.SetInsertPoint(blocks[i]);
      Count(statement.counter + i);
      EmitBlock(statement.blocks[i]);
      ir_.CreateBr(after);
    }
    ir_.SetInsertPoint(after);
  }

  void EmitBlock(size_t block) {
    for (const RoutineStatement& statement : routine_.blocks[block]) {
      if (statement.kind == Kind::kKernel) EmitKernel(statement);
      if (statement.kind == Kind::kCopy)
        Copy(slots_[static_cast<size_t>(statement.slots[1])], slots_[static_cast<size_t>(statement.slots[0])], statement.slots[0]);
      if (statement.kind == Kind::kWhile)
        EmitLoop(statement, false);
      if (statement.kind == Kind::kBranch) EmitBranch(statement);
      if (statement.kind == Kind::kEvaluate) EmitEvaluation(statement);
    }
  }

  void EmitKernel(const RoutineStatement& statement) {
    const FusedKernel& kernel = routine_.kernels[statement.kernel];
    std::vector<Value*> buffers;
    for (int slot : statement.slots) buffers.push_back(slots_[static_cast<size_t>(slot)]);
    const int64_t rows = kernel.RowCount(), lanes = kernel.inner_loops.back();
    auto number = [&](int64_t value) { return ir_.getInt64(static_cast<uint64_t>(value)); };
    const bool is_small = rows * kernel.InnerIterations() <= kFewElements;
    KernelEmitter(kernel, *function_, ir_, std::move(buffers))
        .Emit({number(0), number(rows), number(0), number(lanes)}, is_small ? kFewElements : 1);
  }

  const Routine& routine_;
  llvm::Module& module_;
  llvm::IRBuilder<> ir_;
  VectorBuilder builder_;
  llvm::Function* function_ = nullptr;
  std::vector<Value*> slots_;         // address of each slot
  std::vector<Value*> caller_state_;  // addresses of the state in the caller's memory
  std::vector<llvm::AllocaInst*> counters_;
  llvm::AllocaInst *code_ = nullptr, *ticks_ = nullptr;
  BasicBlock* exit_ = nullptr;
};

}  // namespace

void EmitRoutineFunction(const Routine& routine, llvm::Module& module, const std::string& name) {
  RoutineEmitter(routine, module, name).Emit();
}

}  // namespace shoal::internal
