// The prices of ops that run other computations, as XLA's HloCostAnalysis counts them.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Null where loose text leaves out something of what is fused.
const Computation* Callee(const Instruction& fusion) {
  const Computation* callee = fusion[kCalls];
  if (callee == nullptr || callee->root == nullptr) return nullptr;
  const auto& parameters = callee->parameters;
  const bool missing = std::find(parameters.begin(), parameters.end(), nullptr) != parameters.end();
  return missing || parameters.size() < fusion.operand_count() ? nullptr : callee;
}

// How many bytes of a fused parameter are read: what its users take of it. Users that need all of it share one read.
class ParameterReads {
 public:
  explicit ParameterReads(OpCostBuilder& builder) : builder_(builder) {}

  int64_t Of(const Instruction& value) {
    int64_t bytes = 0;
    bool shared = false;
    for (const Instruction* user : builder_.UsersOf(value)) {
      if (user->opcode == Opcode::kFusion) {
        bytes += ByNestedFusion(value, *user);
      } else if (std::optional<int64_t> part = PartTaken(value, *user, shared)) {
        bytes += *part;
      } else if (user->opcode == Opcode::kBroadcast || user->opcode == Opcode::kReshape) {
        bytes += BytesOf(value.shape());
      } else {
        bytes += Shared(value, shared);
      }
    }
    return bytes;
  }

 private:
  static int64_t Shared(const Instruction& value, bool& shared) {
    return std::exchange(shared, true) ? 0 : BytesOf(value.shape());
  }

  // Slices read what they give; an update in place does not read what it updates.
  static std::optional<int64_t> PartTaken(const Instruction& value, const Instruction& user, bool& shared) {
    const bool is_first = !user.operands.empty() && user.operands[0] == &value;
    if (user.opcode == Opcode::kSlice) return BytesOf(user.shape());
    if (user.opcode == Opcode::kDynamicSlice) return is_first ? BytesOf(user.shape()) : Shared(value, shared);
    if (user.opcode == Opcode::kDynamicUpdateSlice) return is_first ? 0 : Shared(value, shared);
    return std::nullopt;
  }

  // A fusion within: where the parameter goes straight to its root, the users of the fusion decide.
  int64_t ByNestedFusion(const Instruction& value, const Instruction& fusion) {
    int64_t bytes = 0;
    if (Callee(fusion) == nullptr) return BytesOf(value.shape());
    const Computation& callee = *Callee(fusion);
    for (size_t i = 0; i < fusion.operand_count(); ++i) {
      if (fusion.operands[i] != &value) continue;
      const Instruction* parameter = callee.parameters[i];
      const bool simple = callee.root->operands.empty() || callee.root->operands[0] == parameter;
      bool shared = false;
      for (const Instruction* user : builder_.UsersOf(fusion)) {
        std::optional<int64_t> part = simple ? PartTaken(fusion, *user, shared) : std::nullopt;
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

// What a fused parameter's arrays come to; of a tuple, what its get-tuple-elements read.
int64_t ReadOfParameter(const Instruction& parameter, const Shape& shape, ParameterReads& reads, OpCostBuilder& builder) {
  if (!shape.IsTuple()) return reads.Of(parameter);
  int64_t bytes = 0;
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    const Instruction* element = &parameter;
    for (const Instruction* user : builder.UsersOf(parameter))
      if (user->opcode == Opcode::kGetTupleElement &&
          (*user)[Op<Opcode::kGetTupleElement>::kIndex] == static_cast<int64_t>(i))
        element = user;
    bytes += ReadOfParameter(*element, shape.element(static_cast<int64_t>(i)), reads, builder);
  }
  return bytes;
}

// What a fusion's result writes: of an update in place only the update.
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

// One round.
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

// The work of what is fused, the memory of what goes in and out. A gather or scatter in a custom fusion is its price.
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
    AddRead(static_cast<double>(ReadOfParameter(*parameter, parameter->shape(), reads, builder)), builder.cost);
}

// XLA says of every custom call that it is unknown, which it writes as -1.
void Op<Opcode::kCustomCall>::Cost(const Instruction& hlo, OpCostBuilder& builder) {
  const std::string_view target = hlo[kTarget];
  const bool marker = target == "__xla_internal_call_marker_before" || target == "__xla_internal_call_marker_after";
  builder.cost = {};
  builder.cost.flops = builder.cost.bytes = marker ? 0.0f : -1.0f;
}

}  // namespace shoal::internal
