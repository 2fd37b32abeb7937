#include "analyze/diff/value_hash.h"

#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Returns the loop whose state is the parameter `hlo`, or null if `hlo` is not the state of a loop.
const Instruction* LoopOfState(const Instruction& hlo, const DataFlow& flow) {
  const EnclosingContext& context = flow.ContextOf(*hlo.parent);
  const bool is_state = IsParameter(hlo) && context.caller != nullptr && context.kind == CallKind::kLoop &&
                        context.caller->operand_count() > 0;
  return is_state ? context.caller : nullptr;
}

// True if the value depends on called computations that OpHash does not cover.
bool RunsComputations(const Instruction& hlo) {
  return CallsComputations(hlo) && CallKindOf(hlo) != CallKind::kElements;
}

}  // namespace

ValueHashes::ValueHashes(const DataFlow& flow, const Fingerprints& fingerprints)
    : flow_(flow), fingerprints_(fingerprints) {
  enum State : uint8_t { kNew, kVisiting, kVisited };
  const InstructionIds& ids = flow.ids();
  std::vector<uint8_t> state(ids.size(), kNew);
  hashes_.resize(ids.size());
  std::vector<const Instruction*> stack;
  for (uint32_t start = 0; start < ids.size(); ++start) {
    stack.push_back(&ids[start]);
    while (!stack.empty()) {
      const Instruction& hlo = *stack.back();
      const uint32_t id = ids(hlo);
      if (state[id] == kNew) {
        state[id] = kVisiting;
        for (const Instruction* needed : NeededFor(hlo))
          if (state[ids(*needed)] == kNew) stack.push_back(needed);
        continue;
      }
      stack.pop_back();
      if (state[id] == kVisiting) hashes_[id] = HashOf(hlo);
      state[id] = kVisited;
    }
  }
}

uint64_t ValueHashes::Of(const ValueRef& source) const {
  uint64_t hash = hashes_[flow_.ids()(*source.hlo)];
  size_t from = 0;
  if (auto elements = elements_.find(source.hlo); elements != elements_.end() && !source.path.empty()) {
    const auto at = static_cast<size_t>(source.path[0]);
    if (at < elements->second.size()) hash = elements->second[at], from = 1;
  }
  for (; from < source.path.size(); ++from) hash = Mix(hash, static_cast<uint64_t>(source.path[from]));
  return hash;
}

std::vector<const Instruction*> ValueHashes::NeededFor(const Instruction& hlo) const {
  const uint32_t id = flow_.ids()(hlo);
  if (flow_.ForwardingOf(id)) return {flow_.SourceOf(id).hlo};
  std::vector<const Instruction*> needed;
  auto need = [&](const Instruction& value) { needed.push_back(flow_.SourceOf(flow_.ids()(value)).hlo); };
  if (const Instruction* loop = LoopOfState(hlo, flow_)) need(*loop->operands[0]);
  for (const Instruction* operand : hlo.operands) need(*operand);
  if (RunsComputations(hlo))
    for (const Computation* callee : CalledComputations(hlo))
      if (callee->root != nullptr) need(*callee->root);
  return needed;
}

uint64_t ValueHashes::OfRoot(const Computation* computation) const {
  if (computation == nullptr || computation->root == nullptr) return 0;
  return Of(flow_.SourceOf(flow_.ids()(*computation->root)));
}

uint64_t ValueHashes::HashOf(const Instruction& hlo) {
  const uint32_t id = flow_.ids()(hlo);
  if (flow_.ForwardingOf(id)) return Of(flow_.SourceOf(id));
  if (IsLoop(hlo) && hlo.operand_count() > 0) return HashWhile(hlo);
  if (const Instruction* loop = LoopOfState(hlo, flow_)) return HashState(hlo, *loop);
  uint64_t hash = fingerprints_.OpHash(id);
  for (const Instruction* operand : hlo.operands) hash = Mix(hash, Of(flow_.SourceOf(flow_.ids()(*operand))));
  if (RunsComputations(hlo))
    for (const Computation* callee : CalledComputations(hlo)) hash = Mix(hash, OfRoot(callee));
  return hash;
}

// The hash of a state element combines its initial value with its value after one iteration.
uint64_t ValueHashes::HashWhile(const Instruction& loop) {
  const Computation* body = BodyOf(loop);
  uint64_t hash = Mix(fingerprints_.OpHash(flow_.ids()(loop)), Of(flow_.SourceOf(ValueRef{loop.operands[0], {}})));
  hash = Mix(Mix(hash, OfRoot(body)), OfRoot(ConditionOf(loop)));
  if (body == nullptr || body->root == nullptr || !loop.shape().IsTuple()) return hash;
  std::vector<uint64_t> elements;
  for (int64_t i = 0; i < std::ssize(loop.shape().elements()); ++i) {
    const uint64_t first = Of(flow_.SourceOf(ValueRef{loop.operands[0], {i}}));
    elements.push_back(Mix(first, Of(flow_.SourceOf(ValueRef{body->root, {i}}))));
  }
  elements_[&loop] = std::move(elements);
  return hash;
}

// The hash of a state element combines its initial value with its index among elements with equal initial values.
// Adding elements to the state therefore does not change the hashes of other elements.
uint64_t ValueHashes::HashState(const Instruction& parameter, const Instruction& loop) {
  constexpr uint64_t kState = 0x7374617465;
  const uint64_t whole = Mix(kState, Of(flow_.SourceOf(ValueRef{loop.operands[0], {}})));
  if (!parameter.shape().IsTuple()) return whole;
  std::unordered_map<uint64_t, uint64_t> seen;
  std::vector<uint64_t> elements;
  for (int64_t i = 0; i < std::ssize(parameter.shape().elements()); ++i) {
    const uint64_t first = Mix(kState, Of(flow_.SourceOf(ValueRef{loop.operands[0], {i}})));
    elements.push_back(Mix(first, seen[first]++));
  }
  elements_[&parameter] = std::move(elements);
  return whole;
}

}  // namespace shoal::internal
