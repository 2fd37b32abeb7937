#include "transform/loops/loop_ops.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/ops/index_maps.h"
#include "core/ops/concat_like.h"
#include "core/ops/working_types.h"

namespace shoal::internal {
namespace {

bool IsStaticArray(const Shape& shape) { return shape.IsArray() && !shape.has_dynamic(); }

bool IsRowMajor(const Shape& shape) {
  const Layout* layout = shape.layout();
  if (layout == nullptr) return true;
  for (size_t i = 0; i < layout->minor_to_major.size(); ++i)
    if (layout->minor_to_major[i] != static_cast<int64_t>(layout->minor_to_major.size() - 1 - i)) return false;
  return layout->plain() || layout->tiles.empty();
}

// True for a bitcast that is a reshape: operand and result are row-major and have the same element type.
bool IsPlainBitcast(const Instruction& hlo) {
  return hlo.shape().element_type() == hlo.operand_shape(0).element_type() && IsRowMajor(hlo.shape()) &&
         IsRowMajor(hlo.operand_shape(0)) && hlo.shape().ElementCount() == hlo.operand_shape(0).ElementCount();
}

bool HasLoopTypes(const Instruction& hlo) {
  auto has = [](const Shape& shape) {
    return IsStaticArray(shape) && IsLoopOrComplexType(shape.element_type());
  };
  return has(hlo.shape()) && std::all_of(hlo.operands.begin(), hlo.operands.end(),
                                         [&](const Instruction* operand) { return has(operand->shape()); });
}

// XLA allows operands of different float precision, but fused kernels do not. Ignores the predicate of a select.
bool HasEqualTypes(const Instruction& hlo) {
  const size_t first = hlo.opcode == Opcode::kSelect ? 1 : 0;
  for (size_t i = first + 1; i < hlo.operand_count(); ++i)
    if (hlo.operand_shape(i).element_type() != hlo.operand_shape(first).element_type()) return false;
  const ElementType type = hlo.shape().element_type();
  return type == hlo.operand_shape(first).element_type() || type == ElementType::kPred ||
         hlo.opcode == Opcode::kConvert;
}

template <Opcode op>
constexpr bool HasIndexMap() {
  return requires { sizeof(IndexMapOf<op>); };
}
constexpr bool kHasIndexMap[] = {
#define OP(Name, text, arity) HasIndexMap<Opcode::k##Name>(),
#include "core/ops/ops.def"
#undef OP
    false};

template <Opcode op>
constexpr bool IsTranscendental() {
  return requires { Op<op>::kTranscendental; };
}
constexpr bool kIsTranscendental[] = {
#define OP(Name, text, arity) IsTranscendental<Opcode::k##Name>(),
#include "core/ops/ops.def"
#undef OP
    false};

// True if a FusedKernel can compute this dynamic-slice: its start indices must be integers.
bool IsLoopSlice(const Instruction& hlo) {
  for (size_t i = 1; i < hlo.operand_count(); ++i) {
    const Shape& start = hlo.operand_shape(i);
    if (!start.IsScalar() || !IsInteger(start.element_type()) || start.element_type() == ElementType::kU64) return false;
  }
  return hlo.operand_count() == static_cast<size_t>(hlo.shape().rank()) + 1;
}

bool IsLoopIndexMap(const Instruction& hlo) {
  if (hlo.opcode == Opcode::kDynamicSlice) return IsLoopSlice(hlo);
  if (!kHasIndexMap[static_cast<size_t>(hlo.opcode)]) return hlo.opcode == Opcode::kIota;
  if (hlo.opcode == Opcode::kBitcast) return IsPlainBitcast(hlo);
  return true;
}

// True if a FusedKernel can compute this gather: it must support the type of the start indices.
bool IsLoopGather(const Instruction& hlo) {
  const ElementType indices = hlo.operand_shape(1).element_type();
  return IsInteger(indices) && indices != ElementType::kU64 &&
         hlo.shape().element_type() == hlo.operand_shape(0).element_type() &&
         hlo.operand_shape(0).ElementCount().value_or(0) > 0;
}

// True if combining the initial value repeatedly changes nothing: it is the identity of `op`, or `op` is idempotent.
bool IsNeutralOrIdempotentInit(Opcode op, const Instruction& init, ElementType type) {
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

bool IsExpensive(Opcode opcode) {
  static constexpr Opcode kSlow[] = {Opcode::kDivide, Opcode::kRemainder, Opcode::kPower, Opcode::kAtan2};
  return kIsTranscendental[static_cast<size_t>(opcode)] ||
         std::find(std::begin(kSlow), std::end(kSlow), opcode) != std::end(kSlow);
}

bool IsLoopType(ElementType type) {
  const int bits = BitWidth(type);
  if (type == ElementType::kPred || type == ElementType::kBf16) return true;
  if (IsInteger(type)) return true;
  return IsFloat(type) && bits >= 16;
}

bool IsLoopOp(const Instruction& hlo) {
  if (!HasLoopTypes(hlo) || hlo.shape().ElementCount().value_or(0) <= 0) return false;
  if (!hlo[kControlPredecessors].empty() || WorkingTypesOf(hlo).mixed) return false;
  const OpClass op_class = Info(hlo.opcode).op_class;
  if (op_class == OpClass::kIndexMap) {
    if (hlo.opcode == Opcode::kBitcastConvert)
      return !HasComplex(hlo) && BitWidth(hlo.shape().element_type()) == BitWidth(hlo.operand_shape(0).element_type()) &&
             hlo.shape().element_type() != ElementType::kPred && hlo.operand_shape(0).element_type() != ElementType::kPred;
    return IsLoopIndexMap(hlo);
  }
  if (hlo.opcode == Opcode::kGather) return IsLoopGather(hlo);
  if (op_class != OpClass::kElementwise) return false;
  if (HasComplex(hlo)) return IsSimpleComplexOp(hlo);
  if (!HasEqualTypes(hlo)) return false;
  return hlo.opcode != Opcode::kStochasticConvert && hlo.opcode != Opcode::kComplex;
}

bool IsSplittableConcat(const Instruction& hlo) {
  if (!IsConcatLike(hlo) || !HasLoopTypes(hlo) || ElementsOf(hlo) <= 0 || !hlo[kControlPredecessors].empty()) return false;
  return std::all_of(hlo.operands.begin(), hlo.operands.end(), [&](const Instruction* operand) {
    return operand->shape().element_type() == hlo.shape().element_type();
  });
}

const Instruction* OnlyOpOf(const Computation& computation) {
  const Instruction* root = computation.root;
  if (computation.parameters.size() != 2 || root == nullptr || root->operand_count() != 2) return nullptr;
  const bool straight = root->operands[0] == computation.parameters[0] && root->operands[1] == computation.parameters[1];
  const bool crossed = root->operands[0] == computation.parameters[1] && root->operands[1] == computation.parameters[0];
  return (straight || crossed) && !HasEffects(computation) ? root : nullptr;
}

namespace {

// True if each element equals its own index along dimension `d`.
bool IsIndexAlong(const Instruction& hlo, int64_t d) {
  if (hlo.opcode == Opcode::kIota) return hlo[Op<Opcode::kIota>::kIotaDimension] == d;
  if (hlo.opcode != Opcode::kBroadcast) return false;
  const Ints dimensions = hlo[kDimensions];
  const auto from = std::find(dimensions.begin(), dimensions.end(), d);
  return from != dimensions.end() && IsIndexAlong(*hlo.operands[0], from - dimensions.begin());
}

// True for an initial value that no number can lose to: the type's minimum in an argmax, its maximum in an argmin.
bool IsWorstValue(const Instruction& init, Opcode op) {
  const Literal* literal = init.opcode == Opcode::kConstant ? init[kConstantValue] : nullptr;
  if (literal == nullptr || literal->elided) return false;
  const ElementType type = init.shape().element_type();
  const auto bytes = static_cast<size_t>(StorageBytes(type));
  uint64_t bits = 0;
  if (!literal->data.empty()) std::memcpy(&bits, literal->data.data(), std::min(bytes, literal->data.size()));
  const bool low = op == Opcode::kMaximum;
  if (IsFloat(type)) {
    const double number = DecodeFloat(type, bits);
    return number == (low ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
  }
  const int width = BitWidth(type);
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1, top = uint64_t{1} << (width - 1);
  if (IsSigned(type)) return (bits & mask) == (low ? top : top - 1);
  return (bits & mask) == (low ? 0 : mask);
}

bool IsZero(const Instruction& init) {
  const Literal* literal = init.opcode == Opcode::kConstant ? init[kConstantValue] : nullptr;
  return literal != nullptr && !literal->elided &&
         std::all_of(literal->data.begin(), literal->data.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

// True for a reduction that computes an argmax or argmin: each row's largest or smallest number, and its index.
bool IsLoopArgMinMax(const Instruction& hlo) {
  if (hlo.operand_count() != 4 || !hlo.shape().IsTuple() || hlo[kDimensions].size() != 1) return false;
  for (size_t i = 0; i < 4; ++i) {
    const Shape& shape = hlo.operand_shape(i);
    if (!IsStaticArray(shape) || !IsLoopType(shape.element_type()) || shape.ElementCount().value_or(0) <= 0) return false;
    if (shape.element_type() != hlo[kToApply]->parameters[i]->shape().element_type()) return false;
    if (i < 2 && shape.element_type() != hlo.shape().element(static_cast<int64_t>(i)).element_type()) return false;
  }
  const std::optional<Opcode> op = MatchArgMinMax(*hlo[kToApply]);
  return op && IsIndexAlong(*hlo.operands[1], hlo[kDimensions][0]) && IsWorstValue(*hlo.operands[2], *op) && IsZero(*hlo.operands[3]);
}

}  // namespace

namespace {

// True for a reduction with one operand, one reorderable op, and a neutral initial value.
bool IsLoopReducer(const Instruction& hlo, const Instruction& init) {
  if (hlo.operand_count() != 2 || !HasLoopTypes(hlo) || HasComplex(hlo)) return false;
  const ElementType type = hlo.shape().element_type();
  if (type != hlo.operand_shape(0).element_type() || type != hlo.operand_shape(1).element_type()) return false;
  if (hlo.shape().ElementCount().value_or(0) <= 0 || hlo.operand_shape(0).ElementCount().value_or(0) <= 0) return false;
  const Instruction* op = OnlyOpOf(*hlo[kToApply]);
  static constexpr Opcode kOps[] = {Opcode::kAdd, Opcode::kMultiply, Opcode::kMaximum, Opcode::kMinimum,
                                    Opcode::kAnd, Opcode::kOr,       Opcode::kXor};
  if (op == nullptr || op->shape().element_type() != type) return false;
  if (std::find(std::begin(kOps), std::end(kOps), op->opcode) == std::end(kOps)) return false;
  // Sums and products of narrow floats round at each step, so their order must not change.
  const bool chooses = op->opcode == Opcode::kMaximum || op->opcode == Opcode::kMinimum;
  if (IsFloat(type) && BitWidth(type) < 32 && !chooses) return false;
  return IsNeutralOrIdempotentInit(op->opcode, init, type);
}

}  // namespace

bool IsLoopReduction(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kReduce || !hlo[kControlPredecessors].empty()) return false;
  return IsLoopArgMinMax(hlo) || (hlo.operand_count() == 2 && IsLoopReducer(hlo, *hlo.operands[1]));
}

bool IsLoopReduction(const Instruction& hlo, const Instruction& init) {
  return hlo.opcode == Opcode::kReduce && hlo[kControlPredecessors].empty() && IsLoopReducer(hlo, init);
}

bool IsEfficientWindow(const Window& window, const Shape& result) {
  constexpr int64_t kMaxElements = 256, kMinDilatedLanes = 16;
  int64_t size = 1, lanes = 1;
  bool is_dilated = false;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    const WindowDim& dim = window.dims[d];
    if (dim.reversal || dim.size > kMaxElements || (size *= dim.size) > kMaxElements) return false;
    is_dilated |= dim.base_dilation != 1;
    if (result.dims()[d] > 1) lanes = result.dims()[d];
  }
  return !is_dilated || lanes >= kMinDilatedLanes;
}

bool IsLoopWindow(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kReduceWindow || !hlo[kControlPredecessors].empty() || hlo.operand_count() != 2 || !IsLoopReducer(hlo, *hlo.operands[1]))
    return false;
  const Window* window = hlo[kWindow];
  if (window == nullptr || window->dims.empty() || std::ssize(window->dims) != hlo.shape().rank()) return false;
  // Excludes prefix sums, whose windows contain all preceding elements.
  const bool is_scan = std::any_of(window->dims.begin(), window->dims.end(), [](const WindowDim& dim) {
    return dim.size > 2 && std::max(dim.pad_low, dim.pad_high) >= dim.size - 1;
  });
  return !is_scan && IsEfficientWindow(*window, hlo.shape());
}

bool IsSingleElementConstant(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kConstant || !IsStaticArray(hlo.shape()) || !IsLoopType(hlo.shape().element_type()))
    return false;
  const Literal* literal = hlo[kConstantValue];
  return literal != nullptr && !literal->elided && hlo.shape().ElementCount() == 1;
}

}  // namespace shoal::internal
