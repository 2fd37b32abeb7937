#include "codegen/kernel_emitter.h"

#include <algorithm>

#include "passes/traits.h"

namespace shoal {

using llvm::Value;
using Kind = KernelNode::Kind;

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
  const size_t loops = kernel_.rows.size() + kernel_.walked.size();
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

LinearPart KernelEmitter::InLane(const Index& index) const {
  return LinearIn(index, kernel_.lane_loop(), [this](int node) { return levels_[static_cast<size_t>(node)] == kLane; });
}

KernelEmitter::Level KernelEmitter::LevelOf(const Index& index) const {
  Level level = kRow;
  for (const IndexTerm& term : index.terms) {
    Level of = kRow;
    if (term.kind == IndexTerm::Kind::kData) {
      of = levels_[static_cast<size_t>(term.of)];
    } else if (term.kind != IndexTerm::Kind::kLoop) {
      of = LevelOf(*term.inner);
    } else if (term.of >= static_cast<int>(kernel_.rows.size())) {
      of = term.of == kernel_.lane_loop() ? kLane : kRound;
    }
    level = std::max(level, of);
  }
  return level;
}

namespace {

// The nodes that `index` takes its data from.
template <class F>
void ForEachDatum(const Index& index, const F& f) {
  for (const IndexTerm& term : index.terms) {
    if (term.kind == IndexTerm::Kind::kData) f(term.of);
    if (term.inner != nullptr) ForEachDatum(*term.inner, f);
  }
}

template <class F>
void ForEachOperand(const KernelNode& node, const F& f) {
  for (int operand : node.operands)
    if (operand >= 0) f(operand);
  if (node.kind == Kind::kLoad || node.kind == Kind::kIndex) ForEachDatum(node.index, f);
}

// Made as a call of the C library for each lane: wide vectors of those are only long code.
bool IsCalled(const KernelNode& node) {
  if (node.kind != Kind::kApply || !IsFloat(node.type) || !IsDear(node.opcode)) return false;
  static constexpr Opcode kInline[] = {Opcode::kDivide, Opcode::kSqrt, Opcode::kRsqrt};
  static constexpr Opcode kPolynomials[] = {Opcode::kExp,  Opcode::kExpm1,    Opcode::kLog, Opcode::kLog1p, Opcode::kTanh,
                                            Opcode::kErf,  Opcode::kLogistic, Opcode::kSin, Opcode::kCos};
  auto in = [&](auto& ops) { return std::find(std::begin(ops), std::end(ops), node.opcode) != std::end(ops); };
  return !in(kInline) && (BitWidth(node.type) == 64 || !in(kPolynomials));
}

}  // namespace

void KernelEmitter::FindLevels() {
  const bool columns = kernel_.form == FusedKernel::Form::kColumns;
  for (const KernelNode& node : kernel_.nodes) {
    Level level = kRow;
    if (node.kind == Kind::kLoad || node.kind == Kind::kIndex) level = LevelOf(node.index);
    if (node.kind == Kind::kResult && columns) level = kLane;
    for (int operand : node.operands)
      if (operand >= 0) level = std::max(level, levels_[static_cast<size_t>(operand)]);
    levels_.push_back(level);
  }
}

void KernelEmitter::FindStages() {
  for (const KernelNode& node : kernel_.nodes) {
    int stage = 0;
    if (node.kind == Kind::kResult) stage = kernel_.reductions[static_cast<size_t>(node.reduction)].stage + 1;
    ForEachOperand(node, [&](int operand) { stage = std::max(stage, stages_[static_cast<size_t>(operand)]); });
    stages_.push_back(stage);
  }
  for (const KernelReduction& reduction : kernel_.reductions) last_walk_ = std::max(last_walk_, reduction.stage + 1);
}

void KernelEmitter::FindNeeded() {
  const auto last = static_cast<size_t>(last_walk_);
  needed_.assign(last + 1, std::vector<bool>(kernel_.nodes.size(), false));
  for (size_t walk = 0; walk < last; ++walk)
    for (const KernelReduction& reduction : kernel_.reductions)
      if (reduction.stage == static_cast<int>(walk))
        for (int element : reduction.elements) Need(element, walk);
  for (const KernelStore& store : kernel_.stores) {
    if (store.per_row) continue;
    Need(store.node, last);
    ForEachDatum(store.index, [&](int node) { Need(node, last); });
  }
}

// A node that an earlier walk has worked out at some cost is kept from there.
void KernelEmitter::Need(int node, size_t walk) {
  const auto i = static_cast<size_t>(node);
  if (levels_[i] == kRow || needed_[walk][i]) return;
  needed_[walk][i] = true;
  if (kernel_.form == FusedKernel::Form::kRows && levels_[i] == kLane) {
    bool is_known = false;
    for (size_t before = 0; before < walk; ++before) is_known |= needed_[before][i];
    constexpr int64_t kMostSaved = int64_t{1} << 17;  // elements, on the stack
    const KernelNode& at = kernel_.nodes[i];
    if (is_known && at.kind == Kind::kApply && IsDear(at.opcode) && at.type != ElementType::kPred &&
        kernel_.WalkedCount() * static_cast<int64_t>(saved_.size() + 1) <= kMostSaved) {
      if (!saved_.contains(node))
        saved_[node] = NewSlot(llvm::ArrayType::get(builder_.Computed(at.type, 1), static_cast<uint64_t>(kernel_.WalkedCount())), "saved");
      return;
    }
  }
  ForEachOperand(kernel_.nodes[i], [&](int operand) { Need(operand, walk); });
}

// Kept by an earlier walk than this one.
bool KernelEmitter::IsSaved(int node) const {
  if (!saved_.contains(node)) return false;
  for (size_t before = 0; before < walk_; ++before)
    if (needed_[before][static_cast<size_t>(node)]) return true;
  return false;
}

void KernelEmitter::ChooseLanes() {
  int widest_bits = 8, work = 0;
  bool calls = false;
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    const KernelNode& node = kernel_.nodes[i];
    if (levels_[i] != kLane) continue;
    widest_bits = std::max(widest_bits, IsFloat(node.type) ? std::max(32, BitWidth(node.type)) : BitWidth(node.type));
    work += node.kind == Kind::kApply ? (IsDear(node.opcode) ? 8 : 1) : 0;
    calls |= IsCalled(node);
  }
  int widest = widest_bits == 64 ? 8 : widest_bits == 32 ? 16 : 32;
  if (!kernel_.reductions.empty() || work < 8) widest *= 2;
  // A step of these takes several instructions, one after the other: more of them side by side.
  auto is_slow = [](const KernelReduction& reduction) {
    return reduction.op == Opcode::kMaximum || reduction.op == Opcode::kMinimum;
  };
  if (work < 8 && widest < 64 && std::any_of(kernel_.reductions.begin(), kernel_.reductions.end(), is_slow)) widest *= 2;
  // All sums of a product in registers at once.
  if (kernel_.contracts && kernel_.form == FusedKernel::Form::kColumns && widest_bits == 32) widest = 128;
  if (calls) widest = 4;
  const int64_t lanes = kernel_.walked.back();
  while (widest > 1 && widest > lanes) widest /= 2;
  // Ranges of lanes end at a multiple of the widest vector or at the end, so what is left over is known.
  widths_ = {widest};
  for (int width = widest / 2; width > 0; width /= 2)
    if ((lanes % widest & width) != 0) widths_.push_back(width);
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
    const int64_t from = first->getSExtValue(), rounds = std::max<int64_t>(0, last->getSExtValue() - from) / step;
    if (rounds <= unrolled_) {
      for (int64_t round = 0; round < rounds; ++round) {
        fixed_[number] = I64(from + round * step);
        body();
      }
      fixed_[number] = nullptr;
      return I64(from + rounds * step);
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
  // The variables of the row loops, from the number of the first row.
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
    // On to the next row: the last variable goes up, and each that is full begins anew and takes the one before along.
    Value* carry = ir_.getTrue();
    for (size_t i = kernel_.rows.size(); i-- > 0;) {
      Value* next = ir_.CreateAdd(Get(loops_[i]), ir_.CreateZExt(carry, ir_.getInt64Ty()));
      carry = i == 0 ? ir_.getFalse() : ir_.CreateICmpEQ(next, I64(kernel_.rows[i]));
      Set(loops_[i], i == 0 ? next : ir_.CreateSelect(carry, I64(0), next));
    }
  });
}

std::pair<Value*, Value*> KernelEmitter::FirstWalked() {
  const bool is_lanes = kernel_.walked.size() == 1;
  if (kernel_.piece == 0)
    return {is_lanes ? range_.lane_begin : I64(0), is_lanes ? range_.lane_end : I64(kernel_.walked[0])};
  Value* begin = ir_.CreateMul(LoopValue(static_cast<int>(kernel_.rows.size()) - 1), I64(kernel_.piece));
  Value* end = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, ir_.CreateAdd(begin, I64(kernel_.piece)), I64(kernel_.walked[0]));
  return {begin, end};
}

void KernelEmitter::EmitRounds(size_t loop, const Body& body) {
  if (loop + 1 == kernel_.walked.size()) {
    EmitNodes(kRound);
    return body();
  }
  const auto [begin, end] = loop == 0 ? FirstWalked() : std::pair(I64(0), I64(kernel_.walked[loop]));
  Loop(static_cast<int>(kernel_.rows.size() + loop), begin, end, 1, [&] { EmitRounds(loop + 1, body); });
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
  for (walk_ = 0; walk_ < needed_.size(); ++walk_) {
    EmitNodes(kRow);
    if (kernel_.form == FusedKernel::Form::kColumns) return EmitReducedColumns();
    if (static_cast<int>(walk_) < last_walk_) {
      EmitRowWalk();
    } else {
      const auto lanes = kernel_.walked.size() == 1 ? FirstWalked() : std::pair(range_.lane_begin, range_.lane_end);
      if (std::any_of(kernel_.stores.begin(), kernel_.stores.end(), [](const KernelStore& s) { return !s.per_row; }))
        EmitRounds(0, [&] {
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

}  // namespace shoal
