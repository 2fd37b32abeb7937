#include "analyze/facts/known_values.h"

#include <algorithm>
#include <cstring>

#include "core/ops/collective_kinds.h"
#include "core/ops/traits.h"
#include "core/ops/fusion_label_ops.h"
#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {
namespace {

constexpr int kMaxDepth = 400;

// Ops that do not change the value of a scalar or of a one-element array.
constexpr Forwarding kKeepsScalar = Forwarding::kSame | Forwarding::kAddDependency | Forwarding::kDomain |
                                    Forwarding::kBitcast | Forwarding::kReshaped | Forwarding::kRearranged |
                                    Forwarding::kCopied;

bool SameBytes(const Array& a, const Array& b) {
  return a.type() == b.type() && a.bytes() == b.bytes() && std::equal(a.data(), a.data() + a.bytes(), b.data());
}

std::optional<Array> ConstantAt(const Instruction& hlo, const ShapeIndex& path) {
  const Literal* literal = hlo[kConstantValue];
  for (int64_t i : path) {
    if (literal == nullptr || i >= static_cast<int64_t>(literal->elements.size())) return std::nullopt;
    literal = literal->elements[static_cast<size_t>(i)];
  }
  if (literal == nullptr || literal->elided || !literal->shape->IsArray()) return std::nullopt;
  if (literal->shape->ElementCount().value_or(0) != 1) return std::nullopt;
  return Array::FromLiteral(*literal).WithDims({});
}

// Returns the value of a scalar of integer or pred type.
std::optional<int64_t> IntegerIn(const std::optional<Array>& scalar) {
  if (!scalar || scalar->count() != 1 || scalar->bytes() > 8) return std::nullopt;
  if (!IsInteger(scalar->type()) && scalar->type() != ElementType::kPred) return std::nullopt;
  int64_t value = 0;
  std::memcpy(&value, scalar->data(), static_cast<size_t>(scalar->bytes()));
  const auto unused = static_cast<unsigned>(64 - 8 * scalar->bytes());
  return IsSigned(scalar->type()) ? (value << unused) >> unused : value;
}

std::optional<Array> IdAsArray(ElementType type, int64_t id) {
  if (type != ElementType::kU32) return std::nullopt;
  Array array(type, Dims{});
  const auto value = static_cast<uint32_t>(id);
  std::memcpy(array.mutable_data(), &value, sizeof(value));
  return array;
}

}  // namespace

// Evaluates values, either within one loop iteration or outside of loops.
class KnownValues::Evaluation {
 public:
  Evaluation(KnownValues& known, const State* state, const Computation* in_iteration)
      : known_(known), state_(state), in_iteration_(in_iteration) {}

  std::optional<Array> At(const ValueRef& position) {
    if (auto found = values_.find(position); found != values_.end()) return found->second;
    if (++known_.depth_ > kMaxDepth) {
      --known_.depth_;
      return std::nullopt;
    }
    values_[position] = std::nullopt;  // ends the recursion in a cycle
    std::optional<Array> value = Evaluate(*position.hlo, position.path);
    --known_.depth_;
    return values_[position] = std::move(value);
  }

 private:
  std::optional<Array> Evaluate(const Instruction& hlo, const ShapeIndex& path) {
    if (IsConstant(hlo)) return ConstantAt(hlo, path);
    const Forwarding forwarding = ForwardingOf(hlo);
    if (forwarding == Forwarding::kArgument) return ParameterOf(hlo, path);
    if (forwarding == Forwarding::kTuple || forwarding == Forwarding::kTupleElement) {
      ValueRef position{&hlo, path};
      return TraceToOperand(position, forwarding) ? At(position) : std::nullopt;
    }
    if (Has(kKeepsScalar, forwarding)) return Forwarded(hlo, path);
    if (Has(Forwarding::kCalled | Forwarding::kFused, forwarding)) return CalleeResult(hlo, path);
    if (forwarding == Forwarding::kLoopState)
      return known_.IsInvariant(hlo, path) ? At({hlo.operands[0], path}) : std::nullopt;
    if (Info(hlo.opcode).op_class == OpClass::kElementwise && path.empty()) return Elementwise(hlo);
    if (IsIndexedRead(hlo)) return TableElement(hlo);
    if (known_.device_ && IsPartitionId(hlo))
      return IdAsArray(hlo.shape().element_type(), known_.device_->partition);
    if (known_.device_ && IsReplicaId(hlo))
      return IdAsArray(hlo.shape().element_type(), known_.device_->replica);
    return std::nullopt;
  }

  // Reads one element of a constant table. The SPMD partitioner creates such tables for per-device values.
  std::optional<Array> TableElement(const Instruction& hlo) {
    const Instruction& table = *hlo.operands[0];
    const Literal* literal = IsConstant(table) ? table[kConstantValue] : nullptr;
    if (literal == nullptr || literal->elided || !hlo.shape().IsArray() || hlo.shape().ElementCount() != 1)
      return std::nullopt;
    const Shape& shape = table.shape();
    if (!shape.IsArray() || hlo.operand_count() != static_cast<size_t>(shape.rank()) + 1) return std::nullopt;
    int64_t offset = 0;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      const std::optional<int64_t> index = IntegerIn(At({hlo.operands[static_cast<size_t>(d) + 1], {}}));
      if (!index || shape.dim(d) < 1) return std::nullopt;
      offset = offset * shape.dim(d) + std::clamp<int64_t>(*index, 0, shape.dim(d) - 1);
    }
    const Array values = Array::FromLiteral(*literal);
    Array element(values.type(), Dims{});
    const int64_t size = element.element_bytes();
    std::memcpy(element.mutable_data(), values.data() + offset * size, static_cast<size_t>(size));
    return element;
  }

  // Returns the value of a scalar or one-element array that the op forwards unchanged.
  std::optional<Array> Forwarded(const Instruction& hlo, const ShapeIndex& path) {
    const Shape* from = hlo.operand_shape(0).At(path);
    const Shape* to = hlo.shape().At(path);
    if (from == nullptr || to == nullptr || !from->IsArray() || !to->IsArray()) return std::nullopt;
    if (from->element_type() != to->element_type() || from->ElementCount() != 1) return std::nullopt;
    return At({hlo.operands[0], path});
  }

  std::optional<Array> CalleeResult(const Instruction& hlo, const ShapeIndex& path) {
    const Computation* callee = CalleeRunOnce(hlo);
    if (callee == nullptr) return std::nullopt;
    Evaluation inner(known_, nullptr, nullptr);
    inner.caller_ = &hlo;
    inner.callee_ = callee;
    inner.outer_ = this;
    return inner.At({callee->root, path});
  }

  std::optional<Array> ParameterOf(const Instruction& hlo, const ShapeIndex& path) {
    if (hlo.parent == callee_ && caller_ != nullptr) {
      const Instruction* argument = ArgumentOf(*caller_, *callee_, hlo[kParameterNumber]);
      return argument == nullptr ? std::nullopt : outer_->At({argument, path});
    }
    if (hlo.parent == in_iteration_ && state_ != nullptr) return (*state_)(path);
    return known_.ParameterValue(hlo, path);
  }

  std::optional<Array> Elementwise(const Instruction& hlo) {
    if (!hlo.shape().IsArray() || hlo.shape().ElementCount() != 1 || hlo.operand_count() > 3) return std::nullopt;
    for (size_t i = 0; i < hlo.operand_count(); ++i)
      if (!hlo.operand_shape(i).IsArray()) return std::nullopt;
    const ElementLoop kernel = ElementLoopFor(hlo);
    if (kernel.loop == nullptr) return std::nullopt;
    std::optional<Array> operands[3];
    const std::byte* in[3] = {};
    for (size_t i = 0; i < hlo.operand_count(); ++i) {
      operands[i] = At({hlo.operands[i], {}});
      if (!operands[i] || operands[i]->count() != 1) return std::nullopt;
      in[i] = std::as_const(*operands[i]).data();
    }
    Array out(kernel.result, Dims{});
    kernel.Run(out.mutable_data(), in, 1);
    return out;
  }

  KnownValues& known_;
  const State* state_;
  const Computation* in_iteration_;
  const Instruction* caller_ = nullptr;
  const Computation* callee_ = nullptr;
  Evaluation* outer_ = nullptr;
  std::map<ValueRef, std::optional<Array>> values_;
};

std::optional<Array> KnownValues::Of(const ValueRef& position) {
  if (auto found = cache_.find(position); found != cache_.end()) return found->second;
  cache_[position] = std::nullopt;
  return cache_[position] = Evaluation(*this, nullptr, nullptr).At(position);
}

std::optional<int64_t> KnownValues::IntegerAt(const ValueRef& position) { return IntegerIn(Of(position)); }

std::optional<Array> KnownValues::InIteration(const ValueRef& position, const State& state) {
  return Evaluation(*this, &state, position.hlo->parent).At(position);
}

// Returns the value of the argument if all callers pass the same value.
std::optional<Array> KnownValues::ParameterValue(const Instruction& parameter, const ShapeIndex& path) {
  std::optional<Array> common;
  for (const Instruction* caller : calls_.CallersOf(*parameter.parent)) {
    const Instruction* argument = ArgumentOf(*caller, *parameter.parent, parameter[kParameterNumber]);
    if (IsLoop(*caller) && IsInvariant(*caller, path)) argument = caller->operands[0];
    if (argument == nullptr) return std::nullopt;
    std::optional<Array> value = Of({argument, path});
    if (!value || (common && !SameBytes(*common, *value))) return std::nullopt;
    common = std::move(value);
  }
  return common;
}

// The element at `path` is invariant if the body's root forwards it from the same element of the body's parameter.
bool KnownValues::IsInvariant(const Instruction& loop, const ShapeIndex& path) {
  const Computation* body = BodyOf(loop);
  if (body == nullptr || body->root == nullptr) return false;
  constexpr Forwarding kForwards =
      Forwarding::kSame | Forwarding::kCopied | Forwarding::kTupleElement | Forwarding::kTuple;
  ValueRef position{body->root, path};
  for (int steps = 0; steps < kMaxDepth && TraceToOperand(position, kForwards); ++steps) {
  }
  return IsParameter(*position.hlo) && position.hlo->parent == body && position.path == path;
}

}  // namespace shoal::internal
