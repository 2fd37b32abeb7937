#include "analyze/memory/alias_analysis.h"

#include <algorithm>

#include "core/ops/in_place.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

Part Operand(const AliasAnalysis& links, const Instruction& hlo, size_t i) {
  return i < hlo.operand_count() ? links.Of(*hlo.operands[i]) : Part();
}

void ForwardOperand(AliasAnalysis& links, const Instruction& hlo) {
  links.Forward(links.Of(hlo), Operand(links, hlo, 0));
}

void ForwardElements(AliasAnalysis& links, const Instruction& tuple) {
  for (size_t i = 0; i < tuple.operand_count(); ++i)
    links.Forward(links.positions.Element(links.Of(tuple), static_cast<int64_t>(i)), Operand(links, tuple, i));
}

void ForwardElement(AliasAnalysis& links, const Instruction& hlo) {
  links.Forward(links.Of(hlo), links.positions.Element(Operand(links, hlo, 0), ElementIndexOf(hlo)));
}

// A copy of a tuple is a new table of pointers to the same arrays.
void ForwardTupleCopy(AliasAnalysis& links, const Instruction& hlo) {
  for (int64_t i = 0; hlo.shape().IsTuple() && i < std::ssize(hlo.shape().elements()); ++i)
    links.Forward(links.positions.Element(links.Of(hlo), i), links.positions.Element(Operand(links, hlo, 0), i));
}

// Forwards the operands that the result tuple of a start contains, as for all-gather-start, copy-start and send.
void LinkStart(AliasAnalysis& links, const Instruction& hlo) {
  const StartParts parts = StartPartsOf(hlo);
  if (!parts.operands) return;
  const Part operands = links.positions.Element(links.Of(hlo), *parts.operands);
  if (!parts.operands_in_tuple) return links.Forward(operands, Operand(links, hlo, 0));
  for (size_t i = 0; i < hlo.operand_count(); ++i)
    links.Forward(links.positions.Element(operands, static_cast<int64_t>(i)), Operand(links, hlo, i));
}

void LinkDone(AliasAnalysis& links, const Instruction& hlo) {
  if (hlo.operand_count() == 0) return;
  const std::optional<int64_t> part = ResultPartOf(hlo);
  if (!part) return;  // in XLA, an all-reduce-done defines a new value
  const Part result = links.Of(hlo);
  links.Forward(ReturnsToken(hlo) ? links.positions.Element(result, 0) : result,
                links.positions.Element(Operand(links, hlo, 0), *part));
}

void LinkArguments(AliasAnalysis& links, const Computation& callee, const Instruction& caller, size_t first_operand) {
  for (size_t i = 0; i < callee.parameters.size(); ++i)
    if (callee.parameters[i] != nullptr)
      links.Forward(links.Of(*callee.parameters[i]), Operand(links, caller, first_operand + i));
}

void LinkAsyncStart(AliasAnalysis& links, const Instruction& hlo) {
  LinkStart(links, hlo);
  for (const Computation* callee : ExecutedComputations(hlo)) {
    if (!links.timeline.RunsAt(*callee, hlo)) continue;
    LinkArguments(links, *callee, hlo, 0);
    links.Forward(links.positions.Element(links.Of(hlo), 1), links.Of(*callee->root));
  }
}

void LinkCall(AliasAnalysis& links, const Instruction& hlo) {
  for (const Computation* callee : ExecutedComputations(hlo)) {
    if (!links.timeline.RunsAt(*callee, hlo)) continue;
    LinkArguments(links, *callee, hlo, 0);
    links.Forward(links.Of(hlo), links.Of(*callee->root));
  }
}

// If all branches return the same value for a part, forwards this value. Otherwise their results share one buffer.
void LinkConditional(AliasAnalysis& links, const Instruction& hlo) {
  std::vector<Part> roots;
  const std::vector<Computation*> branches = CalledComputations(hlo);
  const Part whole = links.Of(hlo);
  for (size_t i = 0; i < branches.size(); ++i) {
    const Computation* branch = branches[i];
    if (branch == nullptr || branch->root == nullptr || !links.timeline.RunsAt(*branch, hlo)) continue;
    LinkArguments(links, *branch, hlo, 1 + i);
    roots.push_back(links.Of(*branch->root));
    if (links.positions.Size(*roots.back().shape) != links.positions.Size(*whole.shape)) return;
  }
  for (PositionId part = 0; !roots.empty() && part < links.positions.Size(*whole.shape); ++part) {
    auto definition = [&](const Part& root) { return links.DefiningValue(root.position + part); };
    const bool equal =
        std::all_of(roots.begin(), roots.end(), [&](const Part& r) { return definition(r) == definition(roots[0]); });
    if (equal && roots.size() == branches.size()) {
      links.Forward(whole.position + part, roots[0].position + part);
      continue;
    }
    for (const Part& root : roots) links.Share(root.position + part, whole.position + part, false);
  }
}

// If the body forwards a part of the state, the part has one value in all iterations. For any other part, the values at
// the start, in the body, in the condition and after the loop share one buffer.
void LinkWhile(AliasAnalysis& links, const Instruction& hlo) {
  const Part whole = links.Of(hlo), init = Operand(links, hlo, 0);
  auto parameter = [&](const Computation* callee) {
    const bool runs = callee != nullptr && callee->root != nullptr && links.timeline.RunsAt(*callee, hlo);
    const bool has = runs && !callee->parameters.empty() && callee->parameters[0] != nullptr;
    return has ? links.Of(*callee->parameters[0]) : Part();
  };
  const Part in_body = parameter(BodyOf(hlo)), in_condition = parameter(ConditionOf(hlo));
  const Part root = in_body.shape == nullptr ? Part() : links.Of(*BodyOf(hlo)->root);
  const Part parts[] = {init, in_body, in_condition, root};
  const PositionId size = links.positions.Size(*whole.shape);
  for (const Part& part : parts)
    if (part.shape == nullptr || links.positions.Size(*part.shape) != size) return;
  for (PositionId i = 0; i < size; ++i) {
    if (links.DefiningValue(root.position + i) == links.DefiningValue(in_body.position + i)) {
      for (const Part& to : {in_body, in_condition, whole}) links.Forward(to.position + i, init.position + i);
      continue;
    }
    links.Share(init.position + i, in_body.position + i, false);
    links.Share(in_condition.position + i, in_body.position + i, true);
    links.Share(in_body.position + i, root.position + i, false);
    links.Share(root.position + i, whole.position + i, true);
  }
}

void Link(AliasAnalysis& links, const Instruction& hlo) {
  if (IsAsyncStart(hlo)) return (IsAsyncChain(hlo) ? LinkAsyncStart : LinkStart)(links, hlo);
  if (IsAsyncDone(hlo)) return LinkDone(links, hlo);
  if (IsCustomCall(hlo)) return;  // custom calls never forward values
  switch (ForwardingOf(hlo)) {
    case Forwarding::kSame:
    case Forwarding::kAddDependency:
    case Forwarding::kDomain:
    case Forwarding::kAsyncUpdate:
    case Forwarding::kBitcast:
      return ForwardOperand(links, hlo);
    case Forwarding::kCopied:
      return ForwardTupleCopy(links, hlo);
    case Forwarding::kTupleElement:
      return ForwardElement(links, hlo);
    case Forwarding::kTuple:
      return ForwardElements(links, hlo);
    case Forwarding::kCalled:
      return LinkCall(links, hlo);
    case Forwarding::kBranch:
      return LinkConditional(links, hlo);
    case Forwarding::kLoopState:
      return LinkWhile(links, hlo);
    default:
      return;
  }
}

}  // namespace

AliasAnalysis::AliasAnalysis(const Timeline& timeline, const PositionTable& positions)
    : timeline(timeline), positions(positions), same_(positions.count()) {
  for (const Instruction* hlo : timeline.steps()) {
    Link(*this, *hlo);
    for (const InPlace& in_place : InPlaceOf(*hlo))
      Share(positions.At(Operand(*this, *hlo, static_cast<size_t>(in_place.operand)), in_place.operand_index),
            positions.At(Of(*hlo), in_place.result_index), false);
  }
}

void AliasAnalysis::Forward(Part to, Part from) {
  if (to.shape == nullptr || from.shape == nullptr) return;
  const PositionId size = positions.Size(*to.shape);
  if (size != positions.Size(*from.shape)) return;
  for (PositionId i = 0; i < size; ++i) Forward(to.position + i, from.position + i);
}

void AliasAnalysis::Share(Part before, Part after, bool is_must_alias) {
  if (before.shape == nullptr || after.shape == nullptr) return;
  if (positions.Size(*before.shape) == 1 && positions.Size(*after.shape) == 1)
    Share(before.position, after.position, is_must_alias);
}

}  // namespace shoal::internal
