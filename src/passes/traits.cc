#include "passes/traits.h"

#include <algorithm>
#include <cstring>

#include "ops/index_maps.h"
#include "ops/working_types.h"

namespace shoal {
namespace {

bool IsStaticArray(const Shape& shape) { return shape.IsArray() && !shape.has_dynamic(); }

bool IsRowMajor(const Shape& shape) {
  const Layout* layout = shape.layout();
  if (layout == nullptr) return true;
  for (size_t i = 0; i < layout->minor_to_major.size(); ++i)
    if (layout->minor_to_major[i] != static_cast<int64_t>(layout->minor_to_major.size() - 1 - i)) return false;
  return layout->plain() || layout->tiles.empty();
}

// Row-major on both sides and of one type: a reshape, and else something only the interpreter works out.
bool IsPlainBitcast(const Instruction& hlo) {
  return hlo.shape().element_type() == hlo.operand_shape(0).element_type() && IsRowMajor(hlo.shape()) &&
         IsRowMajor(hlo.operand_shape(0)) && hlo.shape().ElementCount() == hlo.operand_shape(0).ElementCount();
}

bool HasLoopTypes(const Instruction& hlo) {
  if (!IsStaticArray(hlo.shape()) || !IsLoopType(hlo.shape().element_type())) return false;
  return std::all_of(hlo.operands.begin(), hlo.operands.end(), [](const Instruction* operand) {
    return IsStaticArray(operand->shape()) && IsLoopType(operand->shape().element_type());
  });
}

// XLA lets floats of different precision meet; loops of ours do not. A predicate may choose among anything.
bool HasEqualTypes(const Instruction& hlo) {
  const size_t first = hlo.opcode == Opcode::kSelect ? 1 : 0;
  for (size_t i = first + 1; i < hlo.operand_count(); ++i)
    if (hlo.operand_shape(i).element_type() != hlo.operand_shape(first).element_type()) return false;
  const ElementType type = hlo.shape().element_type();
  return type == hlo.operand_shape(first).element_type() || type == ElementType::kPred ||
         hlo.opcode == Opcode::kConvert;
}

// To f16 and bf16 from what f32 does not hold exactly would be rounded twice.
bool RoundsTwice(const Instruction& hlo) {
  const ElementType from = hlo.operand_shape(0).element_type(), to = hlo.shape().element_type();
  return hlo.opcode == Opcode::kConvert && IsFloat(to) && BitWidth(to) == 16 &&
         (from == ElementType::kF64 || (IsInteger(from) && BitWidth(from) >= 32));
}

template <Opcode op>
constexpr bool HasIndexMap() {
  return requires { sizeof(IndexMapOf<op>); };
}
constexpr bool kHasIndexMap[] = {
#define OP(Name, text, arity) HasIndexMap<Opcode::k##Name>(),
#include "ops/ops.def"
#undef OP
    false};

template <Opcode op>
constexpr bool IsTranscendental() {
  return requires { Op<op>::kTranscendental; };
}
constexpr bool kIsTranscendental[] = {
#define OP(Name, text, arity) IsTranscendental<Opcode::k##Name>(),
#include "ops/ops.def"
#undef OP
    false};

bool IsLoopIndexMap(const Instruction& hlo) {
  if (!kHasIndexMap[static_cast<size_t>(hlo.opcode)]) return hlo.opcode == Opcode::kIota;
  if (hlo.opcode == Opcode::kBitcast) return IsPlainBitcast(hlo);
  return true;
}

// Neutral, or such that taking it in more often than once changes nothing.
bool IsHarmlessInit(Opcode op, const Instruction& init, ElementType type) {
  if (op == Opcode::kMaximum || op == Opcode::kMinimum || op == Opcode::kAnd || op == Opcode::kOr) return true;
  const Literal* literal = init.opcode == Opcode::kConstant ? init[kConstantValue] : nullptr;
  if (literal == nullptr || literal->elided) return false;
  const auto bytes = static_cast<size_t>(StorageBytes(type));
  uint64_t bits = 0, one = 1;
  if (!literal->data.empty()) std::memcpy(&bits, literal->data.data(), std::min(bytes, literal->data.size()));
  if (op == Opcode::kAdd || op == Opcode::kXor) return bits == 0;
  if (type == ElementType::kF32) one = 0x3f800000;
  if (type == ElementType::kF64) one = 0x3ff0000000000000;
  return op == Opcode::kMultiply && bits == one;
}

}  // namespace

bool IsFunction(const Instruction& hlo) {
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (op_class == OpClass::kControlFlow) {
    for (const Computation* callee : CalledComputations(hlo))
      for (const Instruction* inside : callee->instructions)
        if (inside->opcode != Opcode::kParameter && !IsFunction(*inside)) return false;
    return true;
  }
  if (hlo.opcode == Opcode::kRngBitGenerator) return true;  // keeps its state in its operand
  return op_class != OpClass::kRandom && op_class != OpClass::kCollective && op_class != OpClass::kTransfer &&
         op_class != OpClass::kOpaque && hlo.opcode != Opcode::kParameter &&
         hlo.opcode != Opcode::kOptimizationBarrier && hlo.opcode != Opcode::kAfterAll &&
         hlo.opcode != Opcode::kAddDependency && hlo.opcode != Opcode::kDomain;
}

bool IsDear(Opcode opcode) {
  static constexpr Opcode kSlow[] = {Opcode::kDivide, Opcode::kRemainder, Opcode::kPower, Opcode::kAtan2};
  return kIsTranscendental[static_cast<size_t>(opcode)] ||
         std::find(std::begin(kSlow), std::end(kSlow), opcode) != std::end(kSlow);
}

bool IsLoopType(ElementType type) {
  const int bits = BitWidth(type);
  if (type == ElementType::kPred || type == ElementType::kBf16) return true;
  if (IsInteger(type)) return bits >= 8;
  return IsFloat(type) && bits >= 16;
}

bool IsLoopOp(const Instruction& hlo) {
  if (!HasLoopTypes(hlo) || hlo.shape().ElementCount().value_or(0) <= 0) return false;
  if (!hlo[kControlPredecessors].empty() || WorkingTypesOf(hlo).mixed) return false;
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (op_class == OpClass::kIndexMap) {
    if (hlo.opcode == Opcode::kBitcastConvert)
      return BitWidth(hlo.shape().element_type()) == BitWidth(hlo.operand_shape(0).element_type()) &&
             hlo.shape().element_type() != ElementType::kPred && hlo.operand_shape(0).element_type() != ElementType::kPred;
    return IsLoopIndexMap(hlo);
  }
  if (op_class != OpClass::kElementwise || !HasEqualTypes(hlo)) return false;
  return !RoundsTwice(hlo) && hlo.opcode != Opcode::kStochasticConvert && hlo.opcode != Opcode::kReducePrecision &&
         hlo.opcode != Opcode::kComplex;
}

namespace {

// Starts that become numbers of 64 bits with a sign without a second thought.
bool HasPlainStarts(const Instruction& hlo, size_t first) {
  for (size_t i = first; i < hlo.operand_count(); ++i) {
    const ElementType type = hlo.operand_shape(i).element_type();
    if (!IsInteger(type) || type == ElementType::kU64) return false;
  }
  return hlo.operand_count() > first;
}

}  // namespace

bool IsIndexedRead(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kDynamicSlice && hlo.opcode != Opcode::kGather) return false;
  if (!HasLoopTypes(hlo) || hlo.shape().ElementCount().value_or(0) <= 0 || !hlo[kControlPredecessors].empty()) return false;
  if (hlo.operand_shape(0).ElementCount().value_or(0) <= 0) return false;
  // One operand for each start.
  if (hlo.opcode == Opcode::kDynamicSlice && hlo.operand_count() != hlo.operand_shape(0).dims().size() + 1) return false;
  return hlo.shape().element_type() == hlo.operand_shape(0).element_type() && HasPlainStarts(hlo, 1);
}

bool IsLoopUpdate(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kDynamicUpdateSlice || !HasLoopTypes(hlo) || !hlo[kControlPredecessors].empty()) return false;
  if (hlo.operand_count() != hlo.shape().dims().size() + 2 || hlo.operand_shape(1).ElementCount().value_or(0) <= 0) return false;
  return hlo.shape().element_type() == hlo.operand_shape(0).element_type() &&
         hlo.shape().element_type() == hlo.operand_shape(1).element_type() && HasPlainStarts(hlo, 2);
}

const Instruction* OnlyOpOf(const Computation& computation) {
  const Instruction* root = computation.root;
  if (computation.parameters.size() != 2 || root == nullptr || root->operand_count() != 2) return nullptr;
  const bool straight = root->operands[0] == computation.parameters[0] && root->operands[1] == computation.parameters[1];
  const bool crossed = root->operands[0] == computation.parameters[1] && root->operands[1] == computation.parameters[0];
  return straight || crossed ? root : nullptr;
}

bool IsLoopReduction(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kReduce || hlo.operand_count() != 2 || !HasLoopTypes(hlo)) return false;
  if (!hlo[kControlPredecessors].empty()) return false;
  const ElementType type = hlo.shape().element_type();
  if (type != hlo.operand_shape(0).element_type() || type != hlo.operand_shape(1).element_type()) return false;
  if (IsFloat(type) && BitWidth(type) < 32) return false;  // rounds at every step, in an order of its own
  if (hlo.shape().ElementCount().value_or(0) <= 0 || hlo.operand_shape(0).ElementCount().value_or(0) <= 0) return false;
  const Instruction* op = OnlyOpOf(*hlo[kToApply]);
  static constexpr Opcode kOps[] = {Opcode::kAdd, Opcode::kMultiply, Opcode::kMaximum, Opcode::kMinimum,
                                    Opcode::kAnd, Opcode::kOr,       Opcode::kXor};
  if (op == nullptr || op->shape().element_type() != type) return false;
  if (std::find(std::begin(kOps), std::end(kOps), op->opcode) == std::end(kOps)) return false;
  return IsHarmlessInit(op->opcode, *hlo.operands[1], type);
}

bool IsUniformConstant(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kConstant || !IsStaticArray(hlo.shape()) || !IsLoopType(hlo.shape().element_type()))
    return false;
  const Literal* literal = hlo[kConstantValue];
  return literal != nullptr && !literal->elided && hlo.shape().ElementCount() == 1;
}

}  // namespace shoal
