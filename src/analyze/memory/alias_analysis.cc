#include "analyze/memory/alias_analysis.h"

#include <algorithm>

#include "core/ops/in_place.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

Part Operand(const AliasAnalysis& links, const Instruction& hlo, size_t i) {
  return i < hlo.operand_count() ? links.Of(*hlo.operands[i]) : Part();
}

void HandOnOperand(AliasAnalysis& links, const Instruction& hlo) { links.HandOn(links.Of(hlo), Operand(links, hlo, 0)); }

void HandOnElements(AliasAnalysis& links, const Instruction& tuple) {
  for (size_t i = 0; i < tuple.operand_count(); ++i)
    links.HandOn(links.places.Element(links.Of(tuple), static_cast<int64_t>(i)), Operand(links, tuple, i));
}

void HandOnElement(AliasAnalysis& links, const Instruction& hlo) {
  links.HandOn(links.Of(hlo), links.places.Element(Operand(links, hlo, 0), ElementIndexOf(hlo)));
}

// A copy of a tuple is a new table of the same arrays.
void HandOnTupleCopy(AliasAnalysis& links, const Instruction& hlo) {
  for (int64_t i = 0; hlo.shape().IsTuple() && i < std::ssize(hlo.shape().elements()); ++i)
    links.HandOn(links.places.Element(links.Of(hlo), i), links.places.Element(Operand(links, hlo, 0), i));
}

// What a start keeps of its operands: all-gather-start, copy-start, send, …
void LinkStart(AliasAnalysis& links, const Instruction& hlo) {
  const StartParts parts = StartPartsOf(hlo);
  if (!parts.operands) return;
  const Part operands = links.places.Element(links.Of(hlo), *parts.operands);
  if (!parts.operands_in_tuple) return links.HandOn(operands, Operand(links, hlo, 0));
  for (size_t i = 0; i < hlo.operand_count(); ++i)
    links.HandOn(links.places.Element(operands, static_cast<int64_t>(i)), Operand(links, hlo, i));
}

void LinkDone(AliasAnalysis& links, const Instruction& hlo) {
  if (hlo.operand_count() == 0) return;
  const std::optional<int64_t> part = ResultPartOf(hlo);
  if (!part) return;  // all-reduce-done: to XLA a value of its own
  const Part result = links.Of(hlo);
  links.HandOn(GivesToken(hlo) ? links.places.Element(result, 0) : result,
               links.places.Element(Operand(links, hlo, 0), *part));
}

void LinkArguments(AliasAnalysis& links, const Computation& callee, const Instruction& caller, size_t first_operand) {
  for (size_t i = 0; i < callee.parameters.size(); ++i)
    if (callee.parameters[i] != nullptr)
      links.HandOn(links.Of(*callee.parameters[i]), Operand(links, caller, first_operand + i));
}

void LinkAsyncStart(AliasAnalysis& links, const Instruction& hlo) {
  LinkStart(links, hlo);
  for (const Computation* callee : ExecutedComputations(hlo)) {
    if (!links.timeline.RunsAt(*callee, hlo)) continue;
    LinkArguments(links, *callee, hlo, 0);
    links.HandOn(links.places.Element(links.Of(hlo), 1), links.Of(*callee->root));
  }
}

void LinkCall(AliasAnalysis& links, const Instruction& hlo) {
  for (const Computation* callee : ExecutedComputations(hlo)) {
    if (!links.timeline.RunsAt(*callee, hlo)) continue;
    LinkArguments(links, *callee, hlo, 0);
    links.HandOn(links.Of(hlo), links.Of(*callee->root));
  }
}

// What all branches give alike is handed on; else each branch leaves its result in one buffer.
void LinkConditional(AliasAnalysis& links, const Instruction& hlo) {
  std::vector<Part> roots;
  const std::vector<Computation*> branches = CalledComputations(hlo);
  const Part whole = links.Of(hlo);
  for (size_t i = 0; i < branches.size(); ++i) {
    const Computation* branch = branches[i];
    if (branch == nullptr || branch->root == nullptr || !links.timeline.RunsAt(*branch, hlo)) continue;
    LinkArguments(links, *branch, hlo, 1 + i);
    roots.push_back(links.Of(*branch->root));
    if (links.places.Size(*roots.back().shape) != links.places.Size(*whole.shape)) return;
  }
  for (PositionId part = 0; !roots.empty() && part < links.places.Size(*whole.shape); ++part) {
    auto made_at = [&](const Part& root) { return links.DefiningValue(root.place + part); };
    const bool alike =
        std::all_of(roots.begin(), roots.end(), [&](const Part& r) { return made_at(r) == made_at(roots[0]); });
    if (alike && roots.size() == branches.size()) {
      links.HandOn(whole.place + part, roots[0].place + part);
      continue;
    }
    for (const Part& root : roots) links.Share(root.place + part, whole.place + part, false);
  }
}

// A part of the state that the body hands on is one value through all rounds. Any other is a new value at each place,
// all in one buffer.
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
  const PositionId size = links.places.Size(*whole.shape);
  for (const Part& part : parts)
    if (part.shape == nullptr || links.places.Size(*part.shape) != size) return;
  for (PositionId i = 0; i < size; ++i) {
    if (links.DefiningValue(root.place + i) == links.DefiningValue(in_body.place + i)) {
      for (PositionId place : {in_body.place, in_condition.place, whole.place}) links.HandOn(place + i, init.place + i);
      continue;
    }
    links.Share(init.place + i, in_body.place + i, false);
    links.Share(in_condition.place + i, in_body.place + i, true);
    links.Share(in_body.place + i, root.place + i, false);
    links.Share(root.place + i, whole.place + i, true);
  }
}

void Link(AliasAnalysis& links, const Instruction& hlo) {
  if (IsAsyncStart(hlo)) return (IsAsyncChain(hlo) ? LinkAsyncStart : LinkStart)(links, hlo);
  if (IsAsyncDone(hlo)) return LinkDone(links, hlo);
  if (IsCustomCall(hlo)) return;  // whatever it says, it has a buffer of its own
  switch (ForwardingOf(hlo)) {
    case Forwarding::kSame:
    case Forwarding::kAddDependency:
    case Forwarding::kDomain:
    case Forwarding::kAsyncUpdate:
    case Forwarding::kBitcast:
      return HandOnOperand(links, hlo);
    case Forwarding::kCopied:
      return HandOnTupleCopy(links, hlo);
    case Forwarding::kTupleElement:
      return HandOnElement(links, hlo);
    case Forwarding::kTuple:
      return HandOnElements(links, hlo);
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

AliasAnalysis::AliasAnalysis(const Timeline& timeline, const PositionTable& places)
    : timeline(timeline), places(places), same_(places.count()) {
  for (const Instruction* hlo : timeline.steps()) {
    Link(*this, *hlo);
    for (const InPlace& in_place : InPlaceOf(*hlo))
      Share(places.At(Operand(*this, *hlo, static_cast<size_t>(in_place.operand)), in_place.operand_index),
            places.At(Of(*hlo), in_place.result_index), false);
  }
}

void AliasAnalysis::HandOn(Part to, Part from) {
  if (to.shape == nullptr || from.shape == nullptr) return;
  const PositionId size = places.Size(*to.shape);
  if (size != places.Size(*from.shape)) return;
  for (PositionId i = 0; i < size; ++i) HandOn(to.place + i, from.place + i);
}

void AliasAnalysis::Share(Part before, Part after, bool is_must_alias) {
  if (before.shape == nullptr || after.shape == nullptr) return;
  if (places.Size(*before.shape) == 1 && places.Size(*after.shape) == 1) Share(before.place, after.place, is_must_alias);
}

}  // namespace shoal::internal
