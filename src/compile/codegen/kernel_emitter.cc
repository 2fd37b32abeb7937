#include "compile/codegen/kernel_emitter.h"

#include <algorithm>

namespace shoal::internal {

using llvm::Value;

void EmitKernelFunction(const FusedKernel& kernel, llvm::Module& module, const std::string& name) {
  llvm::IRBuilder<> ir(module.getContext());
  llvm::Type* i64 = ir.getInt64Ty();
  auto* type = llvm::FunctionType::get(ir.getVoidTy(), {ir.getPtrTy(), i64, i64, i64, i64}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  ir.SetInsertPoint(llvm::BasicBlock::Create(ir.getContext(), "entry", function));
  std::vector<Value*> buffers;
  for (size_t i = 0; i < kernel.inputs.size() + kernel.outputs.size(); ++i)
    buffers.push_back(ir.CreateLoad(ir.getPtrTy(), ir.CreateConstGEP1_64(ir.getPtrTy(), function->getArg(0), i)));
  KernelEmitter(kernel, *function, ir, std::move(buffers))
      .Emit({function->getArg(1), function->getArg(2), function->getArg(3), function->getArg(4)}, 1);
  ir.CreateRetVoid();
}

KernelEmitter::KernelEmitter(const FusedKernel& kernel, llvm::Function& function, llvm::IRBuilder<>& ir,
                             std::vector<Value*> buffers)
    : kernel_(kernel), function_(function), ir_(ir), builder_(ir, *function.getParent()), buffers_(std::move(buffers)) {}

void KernelEmitter::Emit(const KernelRange& range, int64_t unrolled) {
  range_ = range;
  unrolled_ = unrolled;
  const size_t loops = kernel_.rows.size() + kernel_.inner_loops.size();
  for (size_t i = 0; i < loops; ++i) loops_.push_back(NewSlot(ir_.getInt64Ty(), "loop"));
  fixed_.assign(loops, nullptr);
  FindLevels();
  FindStages();
  FindNeeded();
  ChooseLanes();
  llvm::IRBuilderBase::FastMathFlagGuard guard(ir_);
  if (kernel_.contracts) {
    llvm::FastMathFlags flags;
    flags.setAllowContract();
    ir_.setFastMathFlags(flags);
  }
  EmitRows(range, [this] { EmitRow(); });
}

KernelEmitter::Slot KernelEmitter::NewSlot(llvm::Type* type, const char* name) {
  llvm::BasicBlock& entry = function_.getEntryBlock();
  llvm::IRBuilder<> at(&entry, entry.begin());
  return at.CreateAlloca(type, nullptr, name);
}

Value* KernelEmitter::Loop(int loop, Value* begin, Value* end, int64_t step, const Body& body) {
  const auto number = static_cast<size_t>(loop);
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
  const auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
  if (first != nullptr && last != nullptr) {
    const int64_t from = first->getSExtValue(), iterations = std::max<int64_t>(0, last->getSExtValue() - from) / step;
    if (iterations <= unrolled_) {
      for (int64_t iteration = 0; iteration < iterations; ++iteration) {
        fixed_[number] = I64(from + iteration * step);
        body();
      }
      fixed_[number] = nullptr;
      return I64(from + iterations * step);
    }
  }
  fixed_[number] = nullptr;
  Slot slot = loops_[number];
  Set(slot, begin);
  llvm::LLVMContext& context = ir_.getContext();
  auto* head = llvm::BasicBlock::Create(context, "head", &function_);
  auto* inside = llvm::BasicBlock::Create(context, "body", &function_);
  auto* after = llvm::BasicBlock::Create(context, "after", &function_);
  ir_.CreateBr(head);
  ir_.SetInsertPoint(head);
  Value* next = ir_.CreateAdd(Get(slot), I64(step));
  ir_.CreateCondBr(ir_.CreateICmpSLE(next, end), inside, after);
  ir_.SetInsertPoint(inside);
  body();
  Set(slot, ir_.CreateAdd(Get(slot), I64(step)));
  ir_.CreateBr(head);
  ir_.SetInsertPoint(after);
  return Get(slot);
}

void KernelEmitter::EmitRows(const KernelRange& range, const Body& row) {
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(range.begin);
  const auto* last = llvm::dyn_cast<llvm::ConstantInt>(range.end);
  if (first != nullptr && last != nullptr && last->getSExtValue() - first->getSExtValue() <= unrolled_) {
    for (int64_t number = first->getSExtValue(); number < last->getSExtValue(); ++number) {
      int64_t rest = number;
      for (size_t i = kernel_.rows.size(); i-- > 0; rest /= kernel_.rows[i]) fixed_[i] = I64(rest % kernel_.rows[i]);
      row();
    }
    return;
  }
  // Set the variables of the row loops from the number of the first row.
  Slot slot = NewSlot(ir_.getInt64Ty(), "row");
  loops_.push_back(slot);
  fixed_.push_back(nullptr);
  Value* rest = range.begin;
  for (size_t i = kernel_.rows.size(); i-- > 0;) {
    Set(loops_[i], i == 0 ? rest : ir_.CreateURem(rest, I64(kernel_.rows[i])));
    if (i > 0) rest = ir_.CreateUDiv(rest, I64(kernel_.rows[i]));
  }
  Loop(static_cast<int>(loops_.size()) - 1, range.begin, range.end, 1, [&] {
    row();
    // Advance to the next row: increment the last variable. A variable that reaches its end becomes 0 and carries.
    Value* carry = ir_.getTrue();
    for (size_t i = kernel_.rows.size(); i-- > 0;) {
      Value* next = ir_.CreateAdd(Get(loops_[i]), ir_.CreateZExt(carry, ir_.getInt64Ty()));
      carry = i == 0 ? ir_.getFalse() : ir_.CreateICmpEQ(next, I64(kernel_.rows[i]));
      Set(loops_[i], i == 0 ? next : ir_.CreateSelect(carry, I64(0), next));
    }
  });
}

std::pair<Value*, Value*> KernelEmitter::FirstInnerLoop() {
  const bool is_lanes = kernel_.inner_loops.size() == 1;
  if (kernel_.schedule.part_size == 0)
    return {is_lanes ? range_.lane_begin : I64(0), is_lanes ? range_.lane_end : I64(kernel_.inner_loops[0])};
  Value* begin = ir_.CreateMul(LoopValue(static_cast<int>(kernel_.rows.size()) - 1), I64(kernel_.schedule.part_size));
  Value* end = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, ir_.CreateAdd(begin, I64(kernel_.schedule.part_size)), I64(kernel_.inner_loops[0]));
  return {begin, end};
}

void KernelEmitter::EmitInnerLoops(size_t loop, const Body& body) {
  if (loop + 1 == kernel_.inner_loops.size()) {
    EmitNodes(kIteration);
    return body();
  }
  const auto [begin, end] = loop == 0 ? FirstInnerLoop() : std::pair(I64(0), I64(kernel_.inner_loops[loop]));
  Loop(static_cast<int>(kernel_.rows.size() + loop), begin, end, 1, [&] { EmitInnerLoops(loop + 1, body); });
}

void KernelEmitter::EmitLanes(Value* begin, Value* end, const Body& body) {
  for (int width : widths_) {
    lanes_ = width;
    begin = Loop(kernel_.lane_loop(), begin, end, width, body);
  }
}

void KernelEmitter::EmitRow() {
  scalars_.assign(kernel_.nodes.size(), {});
  bases_.clear();
  for (pass_ = 0; pass_ < needed_.size(); ++pass_) {
    EmitNodes(kRow);
    if (kernel_.form == FusedKernel::Form::kColumns) return EmitReducedColumns();
    if (static_cast<int>(pass_) < last_pass_) {
      EmitRowPass();
    } else {
      const auto lanes = kernel_.inner_loops.size() == 1 ? FirstInnerLoop() : std::pair(range_.lane_begin, range_.lane_end);
      if (std::any_of(kernel_.stores.begin(), kernel_.stores.end(), [](const KernelStore& s) { return !s.per_row; }))
        EmitInnerLoops(0, [&] {
          EmitLanes(lanes.first, lanes.second, [this] {
            EmitNodes(kLane);
            EmitStores(false);
          });
        });
      lanes_ = 1;
      EmitStores(true);
    }
  }
}

}  // namespace shoal::internal
