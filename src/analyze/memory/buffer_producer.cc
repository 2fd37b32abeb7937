#include "analyze/memory/buffer_producer.h"

#include "core/ir/common_attrs.h"
#include "core/ops/async_pairs.h"
#include "core/ops/structure.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

constexpr int kMaxDepth = 64;  // loops and forwarding ops between a buffer and its producer

// The operand whose elements the op forwards in the same order, or null.
const Instruction* ForwardedBy(const Instruction& hlo) {
  const bool forwards = IsCopy(hlo) || IsBitcast(hlo) || IsReshape(hlo) || ForwardingOf(hlo) == Forwarding::kSame;
  return forwards && hlo.operand_count() == 1 && hlo.shape().IsArray() ? hlo.operands[0] : nullptr;
}

const Instruction& Forwarded(const Instruction& hlo) {
  const Instruction* at = &hlo;
  for (int i = 0; i < kMaxDepth; ++i) {
    const Instruction* next = ForwardedBy(*at);
    if (next == nullptr) break;
    at = next;
  }
  return *at;
}

// The slice that a dynamic-update-slice writes; null for other ops. Loose text may omit operands.
const Instruction* UpdateOf(const Instruction& hlo) {
  return IsDynamicUpdateSlice(hlo) && hlo.operand_count() > 1 ? hlo.operands[1] : nullptr;
}

// True if the body returns this element of its state unchanged.
bool IsInvariant(const Instruction& element, const Computation& body, int64_t index) {
  return IsGetTupleElement(element) && ElementIndexOf(element) == index && body.parameters.size() == 1 &&
         element.operand_count() == 1 && element.operands[0] == body.parameters[0];
}

// The call whose computation computes the value: the value itself, or the start of an async call. Null: none.
const Instruction* CallOf(const Instruction& value) {
  const Instruction* at = &value;
  for (int i = 0; i < kMaxDepth && IsAsyncChain(*at) && !IsAsyncStart(*at) && at->operand_count() > 0; ++i) at = at->operands[0];
  const bool is_call = CallsComputations(*at) && CallKindOf(*at) == CallKind::kOnce && !IsFusion(*at);
  return is_call && CalledComputations(*at).size() == 1 ? at : nullptr;
}

bool HasOrigin(const Instruction& hlo) {
  const Metadata* metadata = hlo[kMetadata];
  return metadata != nullptr && (!metadata->op_name.empty() || !metadata->source_file.empty() || metadata->stack_frame_id > 0);
}

// The op of the user's program that computes the value: compilers insert conversions, and fusions, without its origin.
// The instruction itself if there is none.
const Instruction& OpOfProgram(const Instruction& hlo) {
  const Instruction* at = &hlo;
  for (int i = 0; i < kMaxDepth && !HasOrigin(*at); ++i) {
    const Instruction* next = ForwardedBy(*at);
    if (IsConvert(*at) && at->operand_count() == 1) next = at->operands[0];
    if (IsFusion(*at) && (*at)[kCalls] != nullptr) next = (*at)[kCalls]->root;
    if (next == nullptr) return hlo;
    at = next;
  }
  return HasOrigin(*at) ? *at : hlo;
}

}  // namespace

// The operand of a call that is this parameter of its computation, or null.
const Instruction* BufferProducers::ArgumentOf(const Instruction& parameter) const {
  if (!IsParameter(parameter)) return nullptr;
  const auto callers = calls_.CallersOf(*parameter.parent);
  if (callers.size() != 1 || CallOf(*callers.front()) != callers.front()) return nullptr;
  const auto number = static_cast<size_t>(parameter[kParameterNumber]);
  return number < callers.front()->operand_count() ? callers.front()->operands[number] : nullptr;
}

// For a call that updates a slice of the buffer, the op that computes the slice.
const Instruction* BufferProducers::OfCall(const Instruction& value, const Instruction& call, int64_t index, int depth) {
  const Computation* callee = CalledComputations(call)[0];
  if (depth > kMaxDepth || callee == nullptr || callee->root == nullptr) return &value;
  const bool was_stacked = std::exchange(is_stacked_, false);
  const Instruction* found = OfValue(*callee->root, index, depth);
  const bool updates = is_stacked_;
  is_stacked_ |= was_stacked;
  return updates ? found : &value;
}

const Instruction* BufferProducers::LoopOf(const Instruction& parameter) const {
  if (!IsParameter(parameter)) return nullptr;
  const auto callers = calls_.CallersOf(*parameter.parent);
  return callers.size() == 1 && IsLoop(*callers.front()) ? callers.front() : nullptr;
}

// The element of a loop's state whose initial value is `hlo`. No loop if `hlo` has other uses.
std::pair<const Instruction*, int64_t> BufferProducers::InitializedLoop(const Instruction& hlo) {
  const Instruction* at = &hlo;
  for (int i = 0; i < kMaxDepth; ++i) {
    const auto users = users_.Of(*at);
    if (users.size() != 1) return {nullptr, 0};
    const Instruction& user = *users.front();
    if (ForwardedBy(user) != nullptr) {
      at = &user;
      continue;
    }
    if (!IsTuple(user)) return {nullptr, 0};
    const auto next = users_.Of(user);
    if (next.size() != 1 || !IsLoop(*next.front())) return {nullptr, 0};
    for (size_t o = 0; o < user.operand_count(); ++o)
      if (user.operands[o] == at) return {next.front(), static_cast<int64_t>(o)};
  }
  return {nullptr, 0};
}

const Instruction* BufferProducers::Of(const LiveBuffer& buffer) {
  is_stacked_ = false;
  if (buffer.hlo == nullptr || buffer.index.size() > 1) return nullptr;
  if (buffer.kind == LiveBuffer::Kind::kArgument || buffer.kind == LiveBuffer::Kind::kConstant) return nullptr;
  const int64_t index = buffer.index.empty() ? -1 : buffer.index[0];
  const Instruction* found = OfValue(*buffer.hlo, index, 0);
  if (found == buffer.hlo && index < 0) {
    const auto [loop, element] = InitializedLoop(*buffer.hlo);
    if (loop != nullptr) found = OfLoopElement(*loop, element, 0);
  }
  if (found == buffer.hlo || found == nullptr) return nullptr;
  return is_stacked_ ? &OpOfProgram(*found) : found;
}

// `index`: the element of a tuple, or -1 for an array.
const Instruction* BufferProducers::OfValue(const Instruction& hlo, int64_t index, int depth) {
  if (depth > kMaxDepth) return &hlo;
  const Instruction& value = index < 0 ? Forwarded(hlo) : hlo;
  if (IsLoop(value) && index >= 0) return OfLoopElement(value, index, depth + 1);
  if (IsTuple(value) && index >= 0 && index < static_cast<int64_t>(value.operand_count()))
    return OfValue(*value.operands[static_cast<size_t>(index)], -1, depth + 1);
  if (IsGetTupleElement(value) && index < 0 && value.operand_count() == 1)
    return OfValue(*value.operands[0], ElementIndexOf(value), depth + 1);
  if (const Instruction* loop = LoopOf(value); loop != nullptr && index >= 0) return OfLoopElement(*loop, index, depth + 1);
  if (const Instruction* argument = ArgumentOf(value)) return OfValue(*argument, index, depth + 1);
  if (const Instruction* call = CallOf(value)) return OfCall(value, *call, index, depth + 1);
  if (IsFusion(value)) return OfFusion(value, index, depth + 1);
  if (const Instruction* update = UpdateOf(value)) return OfUpdate(*update, depth + 1);
  return &value;
}

const Instruction* BufferProducers::OfLoopElement(const Instruction& loop, int64_t index, int depth) {
  const Computation* body = BodyOf(loop);
  if (depth > kMaxDepth || body == nullptr || body->root == nullptr || !IsTuple(*body->root)) return &loop;
  if (index >= static_cast<int64_t>(body->root->operand_count()) || loop.operand_count() == 0) return &loop;
  const Instruction& next = Forwarded(*body->root->operands[static_cast<size_t>(index)]);
  if (IsInvariant(next, *body, index)) return OfValue(*loop.operands[0], index, depth + 1);
  return OfValue(next, -1, depth + 1);
}

const Instruction* BufferProducers::OfUpdate(const Instruction& update, int depth) {
  is_stacked_ = true;
  return OfValue(update, -1, depth + 1);
}

// For a fusion that updates a slice of the buffer, the op that computes the slice, in the fusion or before it.
const Instruction* BufferProducers::OfFusion(const Instruction& fusion, int64_t index, int depth) {
  const Computation* fused = fusion[kCalls];
  if (depth > kMaxDepth || fused == nullptr || fused->root == nullptr) return &fusion;
  const Instruction* root = &Forwarded(*fused->root);
  if (index >= 0) {
    if (!IsTuple(*fused->root) || index >= static_cast<int64_t>(fused->root->operand_count())) return &fusion;
    root = &Forwarded(*fused->root->operands[static_cast<size_t>(index)]);
  }
  if (IsConvert(*root) && root->operand_count() == 1) root = &Forwarded(*root->operands[0]);  // a fusion may update the slice in another type
  if (UpdateOf(*root) == nullptr) return &fusion;
  is_stacked_ = true;
  const Instruction* update = &Forwarded(*UpdateOf(*root));
  if (!IsParameter(*update)) return update;
  const auto number = static_cast<size_t>((*update)[kParameterNumber]);
  return number < fusion.operand_count() ? OfValue(*fusion.operands[number], -1, depth + 1) : &fusion;
}

}  // namespace shoal::internal
