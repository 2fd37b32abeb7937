#include "codegen/kernel_emitter.h"

#include <algorithm>

#include "passes/traits.h"

namespace shoal {

using llvm::Value;
using Kind = KernelNode::Kind;

KernelEmitter::KernelEmitter(const FusedKernel& kernel, llvm::Module& module, const std::string& name)
    : kernel_(kernel), module_(module), ir_(module.getContext()), builder_(ir_, module) {
  llvm::Type* i64 = ir_.getInt64Ty();
  auto* type = llvm::FunctionType::get(ir_.getVoidTy(), {ir_.getPtrTy(), i64, i64, i64, i64}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
}

void KernelEmitter::Emit() {
  ir_.SetInsertPoint(llvm::BasicBlock::Create(ir_.getContext(), "entry", function_));
  const size_t buffers = kernel_.inputs.size() + kernel_.outputs.size();
  for (size_t i = 0; i < buffers; ++i)
    buffers_.push_back(ir_.CreateLoad(ir_.getPtrTy(), ir_.CreateConstGEP1_64(ir_.getPtrTy(), function_->getArg(0), i)));
  for (size_t i = 0; i < kernel_.rows.size() + kernel_.walked.size(); ++i)
    loops_.push_back(NewSlot(ir_.getInt64Ty(), "loop"));
  FindLevels();
  ChooseLanes();
  EmitRows([this] {
    scalars_.assign(kernel_.nodes.size(), {});
    bases_.clear();
    EmitNodes(kRow);
    if (kernel_.form == FusedKernel::Form::kColumns)
      EmitReducedColumns();
    else if (kernel_.reductions.empty())
      EmitElementwiseRow();
    else
      EmitReducedRow();
  });
  ir_.CreateRetVoid();
}

LinearPart KernelEmitter::InLane(const Index& index) const {
  return LinearIn(index, kernel_.lane_loop(), [this](int node) { return levels_[static_cast<size_t>(node)] == kLane; });
}

KernelEmitter::Level KernelEmitter::LevelOf(const Index& index) const {
  const LinearPart lane = InLane(index);
  if (!lane.is_linear || lane.factor != 0) return kLane;
  for (int loop = static_cast<int>(kernel_.rows.size()); loop < kernel_.lane_loop(); ++loop) {
    const LinearPart part = LinearIn(index, loop, [](int) { return false; });
    if (!part.is_linear || part.factor != 0) return kRound;
  }
  return DataLevel(index);
}

KernelEmitter::Level KernelEmitter::DataLevel(const Index& index) const {
  Level level = kRow;
  for (const IndexTerm& term : index.terms) {
    if (term.kind == IndexTerm::Kind::kData) level = std::max(level, levels_[static_cast<size_t>(term.of)]);
    if (term.inner != nullptr) level = std::max(level, DataLevel(*term.inner));
  }
  return level;
}

void KernelEmitter::FindLevels() {
  for (const KernelNode& node : kernel_.nodes) {
    Level level = kRow;
    if (node.kind == Kind::kLoad || node.kind == Kind::kIndex) level = LevelOf(node.index);
    for (int operand : node.operands)
      if (operand >= 0) level = std::max(level, levels_[static_cast<size_t>(operand)]);
    levels_.push_back(level);
  }
}

namespace {

// Made as a call of the C library for each lane: wide vectors of those are only long code.
bool IsCalled(const KernelNode& node) {
  if (node.kind != Kind::kApply || !IsFloat(node.type) || !IsDear(node.opcode)) return false;
  static constexpr Opcode kInline[] = {Opcode::kDivide, Opcode::kSqrt, Opcode::kRsqrt};
  static constexpr Opcode kPolynomials[] = {Opcode::kExp,  Opcode::kExpm1, Opcode::kLog,     Opcode::kLog1p,
                                            Opcode::kTanh, Opcode::kErf,   Opcode::kLogistic};
  auto in = [&](auto& ops) { return std::find(std::begin(ops), std::end(ops), node.opcode) != std::end(ops); };
  return !in(kInline) && (BitWidth(node.type) == 64 || !in(kPolynomials));
}

}  // namespace

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
  const bool reduces = !kernel_.reductions.empty();
  widest_ = widest_bits == 64 ? 8 : widest_bits == 32 ? 16 : 32;
  if (reduces || work < 8) widest_ *= 2;
  if (calls) widest_ = 4;
  const int64_t lanes = kernel_.walked.back();
  while (widest_ > 1 && widest_ > lanes) widest_ /= 2;
  if (widest_ == 2) widest_ = 1;
}

KernelEmitter::Slot KernelEmitter::NewSlot(llvm::Type* type, const char* name) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> at(&entry, entry.begin());
  return at.CreateAlloca(type, nullptr, name);
}

void KernelEmitter::Loop(Slot slot, Value* end, int64_t step, const Body& body) {
  llvm::LLVMContext& context = ir_.getContext();
  auto* head = llvm::BasicBlock::Create(context, "head", function_);
  auto* inside = llvm::BasicBlock::Create(context, "body", function_);
  auto* after = llvm::BasicBlock::Create(context, "after", function_);
  ir_.CreateBr(head);
  ir_.SetInsertPoint(head);
  Value* next = ir_.CreateAdd(Get(slot), I64(step));
  ir_.CreateCondBr(ir_.CreateICmpSLE(next, end), inside, after);
  ir_.SetInsertPoint(inside);
  body();
  Set(slot, ir_.CreateAdd(Get(slot), I64(step)));
  ir_.CreateBr(head);
  ir_.SetInsertPoint(after);
}

void KernelEmitter::EmitRows(const Body& row) {
  row_ = NewSlot(ir_.getInt64Ty(), "row");
  Set(row_, function_->getArg(1));
  // The variables of the row loops, from the number of the first row.
  Value* rest = function_->getArg(1);
  for (size_t i = kernel_.rows.size(); i-- > 0;) {
    Set(loops_[i], i == 0 ? rest : ir_.CreateURem(rest, I64(kernel_.rows[i])));
    if (i > 0) rest = ir_.CreateUDiv(rest, I64(kernel_.rows[i]));
  }
  Loop(row_, function_->getArg(2), 1, [&] {
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

void KernelEmitter::EmitRounds(size_t loop, const Body& body) {
  if (loop + 1 == kernel_.walked.size()) {
    EmitNodes(kRound);
    return body();
  }
  Slot slot = loops_[kernel_.rows.size() + loop];
  Set(slot, I64(0));
  Loop(slot, I64(kernel_.walked[loop]), 1, [&] { EmitRounds(loop + 1, body); });
}

void KernelEmitter::EmitLanes(const Body& body) {
  Slot lane = loops_.back();
  Set(lane, function_->getArg(3));
  for (lanes_ = widest_;; lanes_ = 1) {
    Loop(lane, function_->getArg(4), lanes_, body);
    if (lanes_ == 1) return;
  }
}

void KernelEmitter::EmitElementwiseRow() {
  EmitRounds(0, [this] {
    EmitLanes([this] {
      EmitNodes(kLane);
      EmitStores();
    });
  });
}

void KernelEmitter::EmitReducedRow() {
  const KernelReduction& reduction = kernel_.reductions[0];
  const auto element = static_cast<size_t>(reduction.elements[0]);
  const ElementType type = kernel_.nodes[element].type;
  const Num init = scalars_[static_cast<size_t>(reduction.inits[0])];
  Slot sums = NewSlot(builder_.Computed(type, widest_), "sums");
  Slot sum = NewSlot(builder_.Computed(type, 1), "sum");
  lanes_ = widest_;
  Set(sums, Splat(init.value));
  Set(sum, init.value);
  EmitRounds(0, [&] {
    EmitLanes([&] {
      EmitNodes(kLane);
      Slot into = lanes_ == 1 ? sum : sums;
      Set(into, ApplyBinary(builder_, reduction.binary, {Get(into), type}, Operand(static_cast<int>(element))).value);
    });
  });
  Value* total = Get(sum);
  if (widest_ > 1) {
    Value* folded = Horizontal(reduction.binary, {Get(sums), type});
    total = ApplyBinary(builder_, reduction.binary, {folded, type}, {total, type}).value;
  }
  for (const KernelStore& store : kernel_.stores) {
    Value* at = Address(buffers_[kernel_.inputs.size() + static_cast<size_t>(store.output)], type, Scalar(store.index));
    ir_.CreateStore(builder_.ToMemory({total, type}), at);
  }
}

Value* KernelEmitter::Horizontal(Opcode op, Num vector) {
  for (int lanes = VectorBuilder::LanesOf(vector.value); lanes > 1; lanes /= 2) {
    std::vector<int> low, high;
    for (int i = 0; i < lanes / 2; ++i) {
      low.push_back(i);
      high.push_back(i + lanes / 2);
    }
    Value* a = ir_.CreateShuffleVector(vector.value, low);
    Value* b = ir_.CreateShuffleVector(vector.value, high);
    vector = ApplyBinary(builder_, op, {a, vector.type}, {b, vector.type});
  }
  return ir_.CreateExtractElement(vector.value, uint64_t{0});
}

void KernelEmitter::EmitReducedColumns() {
  const KernelReduction& reduction = kernel_.reductions[0];
  const int element = reduction.elements[0];
  const ElementType type = kernel_.nodes[static_cast<size_t>(element)].type;
  const Num init = scalars_[static_cast<size_t>(reduction.inits[0])];
  EmitLanes([&] {
    Slot sums = NewSlot(builder_.Computed(type, lanes_), "sums");
    Set(sums, Splat(init.value));
    EmitRounds(0, [&] {
      EmitNodes(kLane);
      Set(sums, ApplyBinary(builder_, reduction.binary, {Get(sums), type}, Operand(element)).value);
    });
    for (const KernelStore& store : kernel_.stores) {
      Value* at = Address(buffers_[kernel_.inputs.size() + static_cast<size_t>(store.output)], type, Scalar(store.index));
      ir_.CreateAlignedStore(builder_.ToMemory({Get(sums), type}), at, llvm::Align(1));
    }
  });
}

}  // namespace shoal
