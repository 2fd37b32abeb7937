// Emits the values of a kernel's nodes.
#include <algorithm>
#include <bit>

#include "compile/codegen/complex_builder.h"
#include "compile/codegen/kernel_emitter.h"
#include "llvm/Analysis/VectorUtils.h"

namespace shoal::internal {

using llvm::Value;
using Kind = KernelNode::Kind;

Value* KernelEmitter::LoopValue(int loop) {
  Value* fixed = fixed_[static_cast<size_t>(loop)];
  return fixed != nullptr ? fixed : Get(loops_[static_cast<size_t>(loop)]);
}

Value* KernelEmitter::Splat(Value* value) {
  return lanes_ == 1 ? value : ir_.CreateVectorSplat(static_cast<unsigned>(lanes_), value);
}

Value* KernelEmitter::Address(Value* buffer, ElementType type, Value* index) {
  return ir_.CreateGEP(builder_.Stored(type, 1), buffer, index);
}

Value* KernelEmitter::Scalar(const IndexExpr& index, int without_loop) {
  Value* sum = I64(index.constant);
  for (const IndexExprTerm& term : index.terms) {
    Value* value = nullptr;
    switch (term.kind) {
      case IndexExprTerm::Kind::kLoop:
        if (term.number == without_loop) continue;
        value = LoopValue(term.number);
        break;
      case IndexExprTerm::Kind::kQuotient:
        value = ir_.CreateUDiv(Scalar(*term.inner), I64(term.divisor));
        break;
      case IndexExprTerm::Kind::kRemainder:
        value = ir_.CreateURem(Scalar(*term.inner), I64(term.divisor));
        break;
      case IndexExprTerm::Kind::kData:
        value = levels_[static_cast<size_t>(term.number)] == kLane ? values_[static_cast<size_t>(term.number)].value
                                                               : scalars_[static_cast<size_t>(term.number)].value;
        value = ir_.CreateSExtOrTrunc(value, ir_.getInt64Ty());
        break;
    }
    sum = ir_.CreateAdd(sum, ir_.CreateMul(value, I64(term.factor)));
  }
  return sum;
}

// The vector 0, 1, 2, …
Value* KernelEmitter::LaneNumbers(llvm::Type* element) {
  if (lanes_ == 1) return llvm::ConstantInt::get(element, 0);
  std::vector<llvm::Constant*> numbers;
  for (int i = 0; i < lanes_; ++i) numbers.push_back(llvm::ConstantInt::get(element, static_cast<uint64_t>(i)));
  return llvm::ConstantVector::get(numbers);
}

// True if the index and all its subexpressions fit in 32 bits.
static bool IsNarrow(const IndexExpr& index) {
  if (index.Min() < 0 || index.Max() > INT32_MAX) return false;
  return std::all_of(index.terms.begin(), index.terms.end(),
                     [](const IndexExprTerm& term) { return term.inner == nullptr || IsNarrow(*term.inner); });
}

Value* KernelEmitter::PerLane(const IndexExpr& index, llvm::IntegerType* type) {
  auto number = [&](int64_t value) { return Splat(llvm::ConstantInt::get(type, static_cast<uint64_t>(value))); };
  Value* sum = number(index.constant);
  for (const IndexExprTerm& term : index.terms) {
    Value* value = nullptr;
    switch (term.kind) {
      case IndexExprTerm::Kind::kLoop:
        value = Splat(ir_.CreateTrunc(LoopValue(term.number), type));
        if (term.number == kernel_.lane_loop()) value = ir_.CreateAdd(value, LaneNumbers(type));
        break;
      case IndexExprTerm::Kind::kQuotient:
        value = ir_.CreateUDiv(PerLane(*term.inner, type), number(term.divisor));
        break;
      case IndexExprTerm::Kind::kRemainder:
        value = ir_.CreateURem(PerLane(*term.inner, type), number(term.divisor));
        break;
      case IndexExprTerm::Kind::kData:
        value = Operand(term.number).value;
        value = ir_.CreateSExtOrTrunc(value, value->getType()->getWithNewType(type));
        break;
    }
    sum = ir_.CreateAdd(sum, ir_.CreateMul(value, number(term.factor)));
  }
  return sum;
}

Value* KernelEmitter::PerLane(const IndexExpr& index) {
  return PerLane(index, IsNarrow(index) ? ir_.getInt32Ty() : ir_.getInt64Ty());
}

void KernelEmitter::EmitNodes(Level level) {
  values_.resize(kernel_.nodes.size());
  const int saved_lanes = lanes_;
  if (level != kLane) lanes_ = 1;
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    const KernelNode& node = kernel_.nodes[i];
    const int number = static_cast<int>(i);
    const bool is_needed = levels_[i] == kRow ? stages_[i] == static_cast<int>(pass_) : needed_[pass_][i];
    if (!is_needed || node.kind == Kind::kResult) continue;
    if (levels_[i] == level) {
      if (level == kLane && IsSaved(number)) {
        values_[i] = Saved(number);
        continue;
      }
      (level == kLane ? values_ : scalars_)[i] = EmitNode(number);
      if (level == kLane && saved_.contains(number)) Save(number, values_[i]);
    } else if (levels_[i] == kLane && node.kind == Kind::kLoad && level != kLane && InLane(node.index).is_linear) {
      IndexExpr base = node.index;
      std::erase_if(base.terms, [&](const IndexExprTerm& term) {
        return term.kind == IndexExprTerm::Kind::kLoop && term.number == kernel_.lane_loop();
      });
      if (LevelOf(base) == level) bases_[number] = Address(buffers_[static_cast<size_t>(node.input)], node.type, Scalar(base));
    }
  }
  lanes_ = saved_lanes;
}

// The offset of the current lanes in a row of saved values.
static IndexExpr OffsetInRow(const FusedKernel& kernel) {
  IndexExpr offset;
  int64_t stride = 1;
  for (size_t i = kernel.inner_loops.size(); i-- > 0; stride *= kernel.inner_loops[i])
    offset = offset + IndexExpr::Loop(static_cast<int>(kernel.rows.size() + i), kernel.inner_loops[i]) * stride;
  return offset;
}

void KernelEmitter::Save(int node, Num value) {
  Value* at = ir_.CreateGEP(value.value->getType()->getScalarType(), saved_.at(node), Scalar(OffsetInRow(kernel_)));
  ir_.CreateAlignedStore(value.value, at, llvm::Align(static_cast<uint64_t>(StorageBytes(value.type))));
}

Num KernelEmitter::Saved(int node) {
  const ElementType type = kernel_.nodes[static_cast<size_t>(node)].type;
  Value* at = ir_.CreateGEP(builder_.Computed(type, 1), saved_.at(node), Scalar(OffsetInRow(kernel_)));
  return {ir_.CreateAlignedLoad(builder_.Computed(type, lanes_), at, llvm::Align(static_cast<uint64_t>(StorageBytes(type)))), type};
}

Num KernelEmitter::Operand(int node) {
  const auto i = static_cast<size_t>(node);
  if (levels_[i] == kLane) return values_[i];
  return {Splat(scalars_[i].value), scalars_[i].type, scalars_[i].imaginary == nullptr ? nullptr : Splat(scalars_[i].imaginary)};
}

Num KernelEmitter::EmitConstant(const KernelNode& node) {
  if (IsComplex(node.type)) return builder_.FromMemory(ComplexConstant(node), node.type);
  llvm::Type* bits = ir_.getIntNTy(static_cast<unsigned>(8 * StorageBytes(node.type)));
  Value* stored = ir_.CreateBitCast(llvm::ConstantInt::get(bits, node.bits[0]), builder_.Stored(node.type, 1));
  return builder_.FromMemory(stored, node.type);
}

Num KernelEmitter::EmitNode(int number) {
  const KernelNode& node = kernel_.nodes[static_cast<size_t>(number)];
  switch (node.kind) {
    case Kind::kLoad:
      return EmitLoad(node, number);
    case Kind::kIndex:
      return EmitIndex(node);
    case Kind::kConstant:
      return EmitConstant(node);
    default: {
      Num operands[3];
      size_t count = 0;
      for (; count < 3 && node.operands[count] >= 0; ++count)
        operands[count] = levels_[static_cast<size_t>(number)] == kLane
                              ? Operand(node.operands[count])
                              : scalars_[static_cast<size_t>(node.operands[count])];
      return ApplyNode(builder_, node, {operands, count});
    }
  }
}

// The parts of a complex constant, in memory layout.
Value* KernelEmitter::ComplexConstant(const KernelNode& node) {
  const bool is_wide = BitWidth(node.type) == 128;
  const uint64_t parts[] = {is_wide ? node.bits[0] : node.bits[0] & 0xffffffff, is_wide ? node.bits[1] : node.bits[0] >> 32};
  llvm::Type* part = is_wide ? ir_.getInt64Ty() : ir_.getInt32Ty();
  auto* bits = llvm::ConstantVector::get({llvm::ConstantInt::get(part, parts[0]), llvm::ConstantInt::get(part, parts[1])});
  return ir_.CreateBitCast(bits, builder_.Stored(node.type, 1));
}

// Alignment of loads and stores. A complex number has the alignment of its parts.
static llvm::Align AlignOf(ElementType type) { return llvm::Align(static_cast<uint64_t>(StorageBytes(PartType(type)))); }

// With larger strides, vector loads would read too many unused elements.
constexpr int64_t kMaxStride = 4;

// Loads every `stride`-th element: loads whole vectors and shuffles the elements out of them. The last vector ends at
// the last lane's element, because the memory after it may not belong to the array.
Value* KernelEmitter::EmitStridedLoad(const KernelNode& node, Value* base, int64_t stride) {
  Value* first = ir_.CreateMul(LoopValue(kernel_.lane_loop()), I64(stride));
  const int64_t last_begin = (stride - 1) * (lanes_ - 1);
  std::vector<Value*> vectors;
  for (int64_t i = 0; i < stride; ++i) {
    Value* at = ir_.CreateAdd(first, I64(i + 1 < stride ? i * lanes_ : last_begin));
    vectors.push_back(ir_.CreateAlignedLoad(builder_.Stored(node.type, lanes_), Address(base, node.type, at), AlignOf(node.type)));
  }
  while (!std::has_single_bit(vectors.size())) vectors.push_back(llvm::PoisonValue::get(vectors[0]->getType()));
  Value* all = llvm::concatenateVectors(ir_, vectors);
  std::vector<int> picked;
  for (int64_t i = 0; i < lanes_; ++i) {
    const int64_t at = i * stride, in_last = (stride - 1) * lanes_;
    picked.push_back(static_cast<int>(at < in_last ? at : in_last + at - last_begin));
  }
  return ir_.CreateShuffleVector(all, picked);
}

Num KernelEmitter::EmitLoad(const KernelNode& node, int number) {
  Value* buffer = buffers_[static_cast<size_t>(node.input)];
  llvm::Type* element = builder_.Stored(node.type, 1);
  const llvm::Align align = AlignOf(node.type);
  const LinearPart lane = InLane(node.index);
  if (lanes_ == 1) {
    Value* at = nullptr;
    if (auto base = bases_.find(number); base != bases_.end())
      at = Address(base->second, node.type, ir_.CreateMul(LoopValue(kernel_.lane_loop()), I64(lane.factor)));
    else
      at = Address(buffer, node.type, levels_[static_cast<size_t>(number)] == kLane ? PerLane(node.index) : Scalar(node.index));
    return builder_.FromMemory(ir_.CreateAlignedLoad(element, at, align), node.type);
  }
  llvm::Type* vector = builder_.Stored(node.type, lanes_);
  if (lane.is_linear && (lane.factor == 1 || lane.factor == -1)) {
    // With factor -1, the element of the last lane comes first in memory.
    Value* first = LoopValue(kernel_.lane_loop());
    if (lane.factor == -1) first = ir_.CreateNeg(ir_.CreateAdd(first, I64(lanes_ - 1)));
    Num loaded = builder_.FromMemory(ir_.CreateAlignedLoad(vector, Address(bases_.at(number), node.type, first), align), node.type);
    if (lane.factor == 1) return loaded;
    loaded.value = ir_.CreateVectorReverse(loaded.value);
    if (loaded.imaginary != nullptr) loaded.imaginary = ir_.CreateVectorReverse(loaded.imaginary);
    return loaded;
  }
  if (lane.is_linear && lane.factor > 1 && lane.factor <= kMaxStride && !IsComplex(node.type))
    return builder_.FromMemory(EmitStridedLoad(node, bases_.at(number), lane.factor), node.type);
  const ElementType part = PartType(node.type);
  Value* index = PerLane(node.index);
  Value* loaded = llvm::PoisonValue::get(builder_.Stored(part, lanes_));
  Value* imaginary = IsComplex(node.type) ? loaded : nullptr;
  for (int i = 0; i < lanes_; ++i) {
    Value* offset = ir_.CreateSExt(ir_.CreateExtractElement(index, static_cast<uint64_t>(i)), ir_.getInt64Ty());
    Value* at = Address(buffer, node.type, offset);
    auto insert = [&](Value* into, Value* from) {
      return ir_.CreateInsertElement(into, ir_.CreateAlignedLoad(builder_.Stored(part, 1), from, align), static_cast<uint64_t>(i));
    };
    loaded = insert(loaded, at);
    if (imaginary != nullptr) imaginary = insert(imaginary, Address(at, part, I64(1)));
  }
  if (imaginary != nullptr) return {loaded, node.type, imaginary};
  return builder_.FromMemory(loaded, node.type);
}

Num KernelEmitter::EmitIndex(const KernelNode& node) {
  const bool in_lanes = LevelOf(node.index) == kLane && lanes_ > 1;
  Value* index = in_lanes ? PerLane(node.index, ir_.getInt64Ty()) : Scalar(node.index);
  Num number{index, ElementType::kS64};
  if (node.index.Max() < INT32_MAX && node.index.Min() > INT32_MIN) {
    const int lanes = VectorBuilder::LanesOf(index);
    number = {ir_.CreateTrunc(index, builder_.Computed(ElementType::kS32, lanes)), ElementType::kS32};
  }
  return IsComplex(node.type) ? ComplexBuilder(builder_).Convert(number, node.type) : builder_.Convert(number, node.type);
}

void KernelEmitter::EmitStores(bool per_row) {
  for (const KernelStore& store : kernel_.stores) {
    if (store.per_row != per_row) continue;
    const Num value = Operand(store.node);
    Value* buffer = buffers_[kernel_.inputs.size() + static_cast<size_t>(store.output)];
    const llvm::Align align = AlignOf(value.type);
    Value* stored = builder_.ToMemory(value);
    Value* at = Address(buffer, value.type, Scalar(store.index));
    const LinearPart lane = InLane(store.index);
    if (lanes_ == 1 || (lane.is_linear && lane.factor == 1)) {
      ir_.CreateAlignedStore(stored, at, align);
      continue;
    }
    const int parts = IsComplex(value.type) ? 2 : 1;
    for (int i = 0; i < lanes_ * parts; ++i) {  // not contiguous
      Value* address = Address(at, value.type, I64(lane.factor * (i / parts)));
      if (i % parts != 0) address = Address(address, PartType(value.type), I64(1));
      ir_.CreateAlignedStore(ir_.CreateExtractElement(stored, static_cast<uint64_t>(i)), address, align);
    }
  }
}

}  // namespace shoal::internal
