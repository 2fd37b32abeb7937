// Reductions of rows and columns.
#include <algorithm>

#include "compile/codegen/kernel_emitter.h"

namespace shoal::internal {

using llvm::Value;

namespace {

// Float maximum and minimum are computed on integer keys that order -0 before 0 and map NaN to the winning value. This
// takes one instruction per step instead of several. Keys are held in values of the float type as raw bits.
bool IsKeyed(const KernelReduction& reduction, ElementType type) {
  return reduction.kind == KernelReduction::Kind::kBinary && IsFloat(type) &&
         (reduction.op == Opcode::kMaximum || reduction.op == Opcode::kMinimum);
}

// Inverts the bits below the sign bit if the sign bit is set. It is its own inverse.
Value* FlipNegative(llvm::IRBuilder<>& ir, Value* bits) {
  const unsigned width = bits->getType()->getScalarSizeInBits();
  Value* below = ir.CreateLShr(ir.CreateAShr(bits, width - 1), 1);
  return ir.CreateXor(bits, below);
}

llvm::Type* KeyType(Value* floats) {
  llvm::Type* type = floats->getType();
  const unsigned width = type->getScalarSizeInBits();
  llvm::Type* key = llvm::Type::getIntNTy(type->getContext(), width);
  const int lanes = VectorBuilder::LanesOf(floats);
  return lanes == 1 ? key : llvm::FixedVectorType::get(key, static_cast<unsigned>(lanes));
}

Num ToKey(llvm::IRBuilder<>& ir, Opcode op, Num x) {
  llvm::Type* type = KeyType(x.value);
  const unsigned width = type->getScalarSizeInBits();
  const llvm::APInt wins = op == Opcode::kMaximum ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getSignedMinValue(width);
  Value* key = FlipNegative(ir, ir.CreateBitCast(x.value, type));
  key = ir.CreateSelect(ir.CreateFCmpUNO(x.value, x.value), llvm::ConstantInt::get(type, wins), key);
  return {ir.CreateBitCast(key, x.value->getType()), x.type};
}

Num FromKey(llvm::IRBuilder<>& ir, Num x) {
  Value* found = ir.CreateBitCast(FlipNegative(ir, ir.CreateBitCast(x.value, KeyType(x.value))), x.value->getType());
  Value* nan = llvm::ConstantFP::getNaN(x.value->getType());
  return {ir.CreateSelect(ir.CreateFCmpUNO(found, found), nan, found), x.type};
}

Num CombineKeys(llvm::IRBuilder<>& ir, Opcode op, Num a, Num b) {
  llvm::Type* type = KeyType(a.value);
  const auto id = op == Opcode::kMaximum ? llvm::Intrinsic::smax : llvm::Intrinsic::smin;
  Value* chosen = ir.CreateBinaryIntrinsic(id, ir.CreateBitCast(a.value, type), ir.CreateBitCast(b.value, type));
  return {ir.CreateBitCast(chosen, a.value->getType()), a.type};
}

}  // namespace

KernelEmitter::Nums KernelEmitter::InitsOf(const KernelReduction& reduction) {
  Nums inits;
  for (int init : reduction.inits) {
    const Num& value = scalars_[static_cast<size_t>(init)];
    inits.push_back({Splat(value.value), value.type});
    if (IsKeyed(reduction, value.type)) inits.back() = ToKey(ir_, reduction.op, inits.back());
  }
  return inits;
}

KernelEmitter::Nums KernelEmitter::ElementsOf(const KernelReduction& reduction) {
  Nums elements;
  for (int element : reduction.elements) elements.push_back(Operand(element));
  return elements;
}

namespace {

// The predicate that `b` is chosen over `a`: b is larger (smaller if `op` is not a maximum), or only b is NaN or, with
// `ties`, both are equal and b's index is smaller.
Num ChoosesSecond(VectorBuilder& builder, Opcode op, const std::vector<Num>& a, const std::vector<Num>& b, bool ties) {
  using D = ComparisonDirection;
  Num beyond = builder.Compare(op == Opcode::kMaximum ? D::kGt : D::kLt, b[0], a[0]);
  Num equal = builder.Compare(D::kEq, a[0], b[0]);
  if (IsFloat(a[0].type)) {
    const Num a_nan = builder.Compare(D::kNe, a[0], a[0]), b_nan = builder.Compare(D::kNe, b[0], b[0]);
    beyond = builder.Or(beyond, builder.And(b_nan, builder.Not(a_nan)));
    equal = builder.Or(equal, builder.And(a_nan, b_nan));
  }
  if (!ties) return beyond;
  return builder.Or(beyond, builder.And(equal, builder.Compare(D::kLt, b[1], a[1])));
}

}  // namespace

KernelEmitter::Nums KernelEmitter::Accumulate(const KernelReduction& reduction, const Nums& sums, const Nums& elements) {
  if (IsKeyed(reduction, elements[0].type))
    return {CombineKeys(ir_, reduction.op, sums[0], ToKey(ir_, reduction.op, elements[0]))};
  if (reduction.kind == KernelReduction::Kind::kBinary)
    return {ApplyBinary(builder_, reduction.op, sums[0], elements[0])};
  if (reduction.kind == KernelReduction::Kind::kFunction) return ApplyFunction(reduction, sums, elements);
  const Num chosen = ChoosesSecond(builder_, reduction.op, sums, elements, false);
  return {builder_.Select(chosen, elements[0], sums[0]), builder_.Select(chosen, elements[1], sums[1])};
}

KernelEmitter::Nums KernelEmitter::ApplyFunction(const KernelReduction& reduction, const Nums& sums, const Nums& elements) {
  Nums values;
  for (const KernelNode& node : reduction.function) {
    if (node.kind == KernelNode::Kind::kLoad) {
      const auto i = static_cast<size_t>(node.input);
      values.push_back(i < sums.size() ? sums[i] : elements[i - sums.size()]);
    } else if (node.kind == KernelNode::Kind::kConstant) {
      values.push_back({Splat(EmitConstant(node).value), node.type});
    } else {
      Nums operands;
      for (int operand : node.operands)
        if (operand >= 0) operands.push_back(values[static_cast<size_t>(operand)]);
      values.push_back(ApplyNode(builder_, node, operands));
    }
  }
  Nums results;
  for (size_t k = 0; k < sums.size(); ++k) {
    const Num& result = values[static_cast<size_t>(reduction.results[k])];
    results.push_back(reduction.is_element < 0 ? result : builder_.Select(Operand(reduction.is_element), result, sums[k]));
  }
  return results;
}

KernelEmitter::Nums KernelEmitter::CombinePartials(const KernelReduction& reduction, const Nums& a, const Nums& b) {
  if (IsKeyed(reduction, a[0].type)) return {CombineKeys(ir_, reduction.op, a[0], b[0])};
  if (reduction.kind == KernelReduction::Kind::kBinary) return Accumulate(reduction, a, b);
  const Num chosen = ChoosesSecond(builder_, reduction.op, a, b, true);
  return {builder_.Select(chosen, b[0], a[0]), builder_.Select(chosen, b[1], a[1])};
}

KernelEmitter::Nums KernelEmitter::Horizontal(const KernelReduction& reduction, Nums vectors) {
  for (int lanes = VectorBuilder::LanesOf(vectors[0].value); lanes > 1; lanes /= 2) {
    std::vector<int> low, high;
    for (int i = 0; i < lanes / 2; ++i) {
      low.push_back(i);
      high.push_back(i + lanes / 2);
    }
    Nums a, b;
    for (const Num& vector : vectors) {
      a.push_back({ir_.CreateShuffleVector(vector.value, low), vector.type});
      b.push_back({ir_.CreateShuffleVector(vector.value, high), vector.type});
    }
    vectors = CombinePartials(reduction, a, b);
  }
  for (Num& vector : vectors)
    if (vector.value->getType()->isVectorTy()) vector.value = ir_.CreateExtractElement(vector.value, uint64_t{0});
  return vectors;
}

// Creates a slot with the initial value for each element of each reduction.
std::vector<std::vector<KernelEmitter::Slot>> KernelEmitter::NewSums(int lanes) {
  std::vector<std::vector<Slot>> sums;
  lanes_ = lanes;
  for (const KernelReduction& reduction : kernel_.reductions) {
    std::vector<Slot>& slots = sums.emplace_back();
    if (reduction.stage != static_cast<int>(pass_)) continue;
    for (const Num& init : InitsOf(reduction)) {
      slots.push_back(NewSlot(init.value->getType(), "sum"));
      Set(slots.back(), init.value);
    }
  }
  return sums;
}

void KernelEmitter::SetResults(size_t number, const Nums& results) {
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    const KernelNode& node = kernel_.nodes[i];
    if (node.kind != KernelNode::Kind::kResult || node.reduction != static_cast<int>(number)) continue;
    Num result = results[static_cast<size_t>(node.input)];
    if (IsKeyed(kernel_.reductions[number], result.type)) result = FromKey(ir_, result);
    (levels_[i] == kLane ? values_ : scalars_)[i] = result;
  }
}

// Emits the reductions of this stage over one row.
void KernelEmitter::EmitRowPass() {
  std::map<int, std::vector<std::vector<Slot>>> sums;  // keyed by number of lanes
  for (int width : widths_) sums[width] = NewSums(width);
  const auto& reductions = kernel_.reductions;
  const auto lanes = kernel_.inner_loops.size() == 1 ? FirstInnerLoop() : std::pair(range_.lane_begin, range_.lane_end);
  EmitInnerLoops(0, [&] {
    EmitLanes(lanes.first, lanes.second, [&] {
      EmitNodes(kLane);
      for (size_t r = 0; r < reductions.size(); ++r) {
        const std::vector<Slot>& slots = sums[lanes_][r];
        if (slots.empty()) continue;
        const Nums elements = ElementsOf(reductions[r]);
        Nums before;
        for (size_t k = 0; k < slots.size(); ++k) before.push_back({Get(slots[k]), elements[k].type});
        const Nums after = Accumulate(reductions[r], before, elements);
        for (size_t k = 0; k < slots.size(); ++k) Set(slots[k], after[k].value);
      }
    });
  });
  lanes_ = 1;
  for (size_t r = 0; r < reductions.size(); ++r) {
    Nums total;
    for (int width : widths_) {
      const std::vector<Slot>& slots = sums[width][r];
      if (slots.empty()) break;
      Nums part;
      for (size_t k = 0; k < slots.size(); ++k)
        part.push_back({Get(slots[k]), kernel_.nodes[static_cast<size_t>(reductions[r].elements[k])].type});
      part = Horizontal(reductions[r], std::move(part));
      total = total.empty() ? part : CombinePartials(reductions[r], total, part);
    }
    if (!total.empty()) SetResults(r, total);
  }
}

// With many iterations, reads rows of memory and keeps the sums of a tile of columns in the L1 cache. With few
// iterations or few columns, keeps the sums in registers.
void KernelEmitter::EmitReducedColumns() {
  const int64_t iterations = kernel_.InnerIterations() / kernel_.inner_loops.back();
  const bool has_function = std::any_of(kernel_.reductions.begin(), kernel_.reductions.end(), [](const KernelReduction& reduction) {
    return reduction.kind == KernelReduction::Kind::kFunction;
  });
  if (iterations > 16 && !has_function && kernel_.inner_loops.back() >= 4 * widths_[0] && !kernel_.contracts)
    EmitColumnsInMemory();
  else
    EmitColumnsInRegisters();
}

// Emits the lane-level nodes that depend on the reductions, and the stores.
void KernelEmitter::FinishColumns() {
  const size_t saved_pass = pass_;
  pass_ = static_cast<size_t>(last_pass_);
  EmitNodes(kRow);  // addresses
  EmitNodes(kLane);
  EmitStores(false);
  pass_ = saved_pass;
}

void KernelEmitter::EmitColumnsInRegisters() {
  EmitLanes(range_.lane_begin, range_.lane_end, [&] {
    const auto sums = NewSums(lanes_);
    EmitInnerLoops(0, [&] {
      EmitNodes(kLane);
      for (size_t r = 0; r < sums.size(); ++r) {
        const Nums elements = ElementsOf(kernel_.reductions[r]);
        Nums before;
        for (size_t k = 0; k < elements.size(); ++k) before.push_back({Get(sums[r][k]), elements[k].type});
        const Nums after = Accumulate(kernel_.reductions[r], before, elements);
        for (size_t k = 0; k < elements.size(); ++k) Set(sums[r][k], after[k].value);
      }
    });
    for (size_t r = 0; r < sums.size(); ++r) {
      Nums results;
      for (size_t k = 0; k < sums[r].size(); ++k)
        results.push_back({Get(sums[r][k]), kernel_.nodes[static_cast<size_t>(kernel_.reductions[r].elements[k])].type});
      SetResults(r, results);
    }
    FinishColumns();
  });
}

void KernelEmitter::EmitColumnsInMemory() {
  constexpr int64_t kTile = 1024;  // columns
  const int64_t tile = std::min(kTile, (kernel_.inner_loops.back() + 63) / 64 * 64);
  struct Sum {
    size_t reduction, element;
    ElementType type;
    Slot slot;
  };
  std::vector<Sum> sums;
  for (size_t r = 0; r < kernel_.reductions.size(); ++r) {
    for (size_t k = 0; k < kernel_.reductions[r].elements.size(); ++k) {
      const ElementType type = kernel_.nodes[static_cast<size_t>(kernel_.reductions[r].elements[k])].type;
      // Sums are kept in the type used for computing, except for pred.
      llvm::Type* each = type == ElementType::kPred ? builder_.Stored(type, 1) : builder_.Computed(type, 1);
      sums.push_back({r, k, type, NewSlot(llvm::ArrayType::get(each, static_cast<uint64_t>(tile)), "sums")});
      sums.back().slot->setAlignment(llvm::Align(64));
    }
  }
  loops_.push_back(NewSlot(ir_.getInt64Ty(), "tile"));
  fixed_.push_back(nullptr);
  const int tile_loop = static_cast<int>(loops_.size()) - 1;
  // Extend the end, so that the last tile may be shorter.
  Value* past = ir_.CreateAdd(range_.lane_end, I64(tile - 1));
  Loop(tile_loop, range_.lane_begin, past, tile, [&] {
    Value* begin = LoopValue(tile_loop);
    Value* end = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, ir_.CreateAdd(begin, I64(tile)), range_.lane_end);
    auto address = [&](const Sum& sum) {
      Value* at = ir_.CreateSub(LoopValue(kernel_.lane_loop()), begin);
      return ir_.CreateGEP(sum.slot->getAllocatedType()->getArrayElementType(), sum.slot, at);
    };
    auto get = [&](const Sum& sum) -> Num {
      const bool bits = sum.type == ElementType::kPred;
      llvm::Type* type = bits ? builder_.Stored(sum.type, lanes_) : builder_.Computed(sum.type, lanes_);
      Value* loaded = ir_.CreateAlignedLoad(type, address(sum), llvm::Align(1));
      return bits ? builder_.FromMemory(loaded, sum.type) : Num{loaded, sum.type};
    };
    auto set = [&](const Sum& sum, const Num& value) {
      Value* stored = sum.type == ElementType::kPred ? builder_.ToMemory(value) : value.value;
      ir_.CreateAlignedStore(stored, address(sum), llvm::Align(1));
    };
    EmitLanes(begin, end, [&] {
      for (const Sum& sum : sums) set(sum, InitsOf(kernel_.reductions[sum.reduction])[sum.element]);
    });
    EmitInnerLoops(0, [&] {
      EmitLanes(begin, end, [&] {
        EmitNodes(kLane);
        for (size_t s = 0; s < sums.size(); s += kernel_.reductions[sums[s].reduction].elements.size()) {
          const KernelReduction& reduction = kernel_.reductions[sums[s].reduction];
          Nums before;
          for (size_t k = 0; k < reduction.elements.size(); ++k) before.push_back(get(sums[s + k]));
          const Nums after = Accumulate(reduction, before, ElementsOf(reduction));
          for (size_t k = 0; k < after.size(); ++k) set(sums[s + k], after[k]);
        }
      });
    });
    EmitLanes(begin, end, [&] {
      for (size_t s = 0; s < sums.size(); s += kernel_.reductions[sums[s].reduction].elements.size()) {
        Nums results;
        for (size_t k = 0; k < kernel_.reductions[sums[s].reduction].elements.size(); ++k) results.push_back(get(sums[s + k]));
        SetResults(sums[s].reduction, results);
      }
      FinishColumns();
    });
  });
}

}  // namespace shoal::internal
