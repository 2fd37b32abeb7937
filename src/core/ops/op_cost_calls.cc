// The cost of ops that run other computations, as XLA's HloCostAnalysis counts it.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// The fused computation; null if loose text omits a part of it.
const Computation* Callee(const Instruction& fusion) {
  const Computation* callee = fusion[kCalls];
  if (callee == nullptr || callee->root == nullptr) return nullptr;
  const auto& parameters = callee->parameters;
  const bool missing = std::find(parameters.begin(), parameters.end(), nullptr) != parameters.end();
  return missing || parameters.size() < fusion.operand_count() ? nullptr : callee;
}

// Bytes of a fused parameter that its users read. Users that need all of it share one read.
class ParameterReads {
 public:
  explicit ParameterReads(OpCostBuilder& builder) : builder_(builder) {}

  int64_t Of(const Instruction& value) {
    int64_t bytes = 0;
    bool shared = false;
    for (const Instruction* user : builder_.UsersOf(value)) {
      if (user->opcode == Opcode::kFusion) {
        bytes += ReadByNestedFusion(value, *user);
      } else if (std::optional<int64_t> part = PartialRead(value, *user, shared)) {
        bytes += *part;
      } else if (user->opcode == Opcode::kBroadcast || user->opcode == Opcode::kReshape) {
        bytes += BytesOf(value.shape());
      } else {
        bytes += ReadOnce(value, shared);
      }
    }
    return bytes;
  }

 private:
  static int64_t ReadOnce(const Instruction& value, bool& shared) {
    return std::exchange(shared, true) ? 0 : BytesOf(value.shape());
  }

  // Slices read only the elements they return; an in-place update does not read the array that it updates.
  static std::optional<int64_t> PartialRead(const Instruction& value, const Instruction& user, bool& shared) {
    const bool is_first = !user.operands.empty() && user.operands[0] == &value;
    if (user.opcode == Opcode::kSlice) return BytesOf(user.shape());
    if (user.opcode == Opcode::kDynamicSlice) return is_first ? BytesOf(user.shape()) : ReadOnce(value, shared);
    if (user.opcode == Opcode::kDynamicUpdateSlice) return is_first ? 0 : ReadOnce(value, shared);
    return std::nullopt;
  }

  // For a nested fusion: if the parameter is operand 0 of its root, the fusion's users determine the bytes.
  int64_t ReadByNestedFusion(const Instruction& value, const Instruction& fusion) {
    int64_t bytes = 0;
    if (Callee(fusion) == nullptr) return BytesOf(value.shape());
    const Computation& callee = *Callee(fusion);
    for (size_t i = 0; i < fusion.operand_count(); ++i) {
      if (fusion.operands[i] != &value) continue;
      const Instruction* parameter = callee.parameters[i];
      const bool simple = callee.root->operands.empty() || callee.root->operands[0] == parameter;
      bool shared = false;
      for (const Instruction* user : builder_.UsersOf(fusion)) {
        std::optional<int64_t> part = simple ? PartialRead(fusion, *user, shared) : std::nullopt;
        if (part) {
          bytes += *part;
        } else if (!std::exchange(shared, true)) {
          bytes += Of(*parameter);
        }
      }
    }
    return bytes;
  }

  OpCostBuilder& builder_;
};

// Bytes that are read from a fused parameter; for a tuple, from its get-tuple-elements.
int64_t BytesReadOf(const Instruction& parameter, const Shape& shape, ParameterReads& reads, OpCostBuilder& builder) {
  if (!shape.IsTuple()) return reads.Of(parameter);
  int64_t bytes = 0;
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    const Instruction* element = &parameter;
    for (const Instruction* user : builder.UsersOf(parameter))
      if (user->opcode == Opcode::kGetTupleElement &&
          (*user)[Op<Opcode::kGetTupleElement>::kIndex] == static_cast<int64_t>(i))
        element = user;
    bytes += BytesReadOf(*element, shape.element(static_cast<int64_t>(i)), reads, builder);
  }
  return bytes;
}

// Adds the bytes that a fusion writes to its result; for an in-place update, only the update.
void AddWritten(const Shape& shape, const Instruction* root, bool top, OpCost& cost) {
  if (shape.IsTuple()) {
    for (size_t i = 0; i < shape.elements().size(); ++i) {
      const bool from_tuple = top && root->opcode == Opcode::kTuple && i < root->operand_count();
      AddWritten(shape.element(static_cast<int64_t>(i)), from_tuple ? root->operands[i] : root, false, cost);
    }
    return;
  }
  if (!shape.IsArray()) return;
  const bool in_place = root->opcode == Opcode::kDynamicUpdateSlice && HasCostInputs(*root);
  const int64_t bytes = BytesOf(in_place ? root->operand_shape(1) : shape);
  cost.bytes += static_cast<float>(bytes);
  cost.written += static_cast<double>(bytes);
}

void AddRead(double bytes, OpCost& cost) {
  cost.bytes += static_cast<float>(bytes);
  cost.read += bytes;
}

}  // namespace

void Op<Opcode::kCall>::Cost(const Instruction& hlo, OpCostBuilder& builder) { builder.cost = builder.Of(*hlo[kToApply]); }

void Op<Opcode::kAsyncStart>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  builder.cost = builder.Of(*hlo[kCalls]);
}

// The cost of one iteration.
void Op<Opcode::kWhile>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  builder.cost = builder.Of(*hlo[kBody]);
  builder.cost.Add(builder.Of(*hlo[kCondition]));
}

void Op<Opcode::kConditional>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  builder.cost = {};
  bool first = true;
  for (const Computation* branch : CalledComputations(hlo)) {
    if (std::exchange(first, false)) {
      builder.cost = builder.Of(*branch);
    } else {
      builder.cost.Max(builder.Of(*branch));
    }
  }
}

// The flops of the fused ops, and the memory traffic of parameters and result. A custom fusion costs as much as the
// gather or scatter in it.
void Op<Opcode::kFusion>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  if (Callee(hlo) == nullptr) return;
  const Computation& callee = *Callee(hlo);
  if (hlo[kKind] == FusionKind::kCustom) {
    for (const Instruction* fused : callee.instructions) {
      if (!HasCostInputs(*fused)) continue;
      if (fused->opcode == Opcode::kGather) return Op<Opcode::kGather>::Cost(*fused, builder);
      if (fused->opcode == Opcode::kScatter) return Op<Opcode::kScatter>::Cost(*fused, builder);
    }
  }
  builder.cost = builder.Of(callee);
  builder.NoTraffic();
  AddWritten(hlo.shape(), callee.root, true, builder.cost);
  for (const Instruction* fused : callee.instructions) {
    const bool constant = fused->opcode == Opcode::kConstant && fused->shape().IsArray();
    if (constant && fused->shape().ElementCount().value_or(0) > 1)
      AddRead(static_cast<double>(BytesOf(fused->shape())), builder.cost);
  }
  ParameterReads reads(builder);
  for (const Instruction* parameter : callee.parameters)
    AddRead(static_cast<double>(BytesReadOf(*parameter, parameter->shape(), reads, builder)), builder.cost);
}

// XLA treats the cost of every custom call as unknown, which it writes as -1.
void Op<Opcode::kCustomCall>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  const std::string_view target = hlo[kTarget];
  const bool marker = target == "__xla_internal_call_marker_before" || target == "__xla_internal_call_marker_after";
  builder.cost = {};
  builder.cost.flops = builder.cost.bytes = marker ? 0.0f : -1.0f;
}

}  // namespace shoal::internal
