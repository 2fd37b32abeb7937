// Loose text may use an instruction before it defines it. What needs one that is not there yet is put off until the
// whole computation is known, and read again then: at most twice each, however many operands it waits for.
#include <algorithm>

#include "core/ir/common_attrs.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {

// Notes that the instruction which is being read waits for `name`. Not in strict text.
bool Parser::IsMissing(std::string_view name, TextSpan at) {
  if (options_.strict) return false;
  scope().missing.push_back({name, at});
  return true;
}

void Parser::Defer(uint32_t start, std::string_view name) {
  scope().deferred.push_back({name, start, std::move(scope().missing)});
  scope().missing.clear();
  SkipInstruction(start);
}

// To the next `name =`, ROOT or closing brace outside of all brackets.
void Parser::SkipInstruction(uint32_t start) {
  lexer_.Seek(start);
  if (token().Is(Word::kRoot)) lexer_.Next();
  lexer_.Next();
  int depth = 0;
  for (Tok previous = Tok::kEqual; kind() != Tok::kEof; lexer_.Next()) {
    const bool opens = kind() == Tok::kLbrace || kind() == Tok::kLparen || kind() == Tok::kLsquare;
    const bool closes = kind() == Tok::kRbrace || kind() == Tok::kRparen || kind() == Tok::kRsquare;
    if (depth == 0) {
      const bool named = (kind() == Tok::kName || kind() == Tok::kIdent) && lexer_.Peek() == Tok::kEqual;
      const bool named_tightly = kind() == Tok::kAttrName && previous != Tok::kComma;
      if (closes || named || named_tightly || token().Is(Word::kRoot)) return;
    }
    depth += opens ? 1 : closes ? -1 : 0;
    previous = kind();
  }
}

// At the end of the computation: each deferred instruction as soon as all it waits for is there.
bool Parser::ReadDeferred(Computation& computation, Instruction** root) {
  const uint32_t end = token().offset;
  const bool last_is_deferred = computation.instructions.empty() ||
                                scope().deferred.back().start > computation.instructions.back()->name_at.offset;
  Instruction* last = last_is_deferred ? nullptr : computation.instructions.back();
  const std::string_view last_name = scope().deferred.back().name;
  std::vector<Scope::Deferred> waiting = std::move(scope().deferred);
  scope().deferred.clear();

  absl::flat_hash_set<std::string_view> defined_later;
  for (const Scope::Deferred& deferred : waiting) defined_later.insert(deferred.name);
  for (const Scope::Deferred& deferred : waiting)
    for (const Named& wanted : deferred.missing)
      if (!defined_later.contains(wanted.name) && scope().names.Find(wanted.name) == nullptr &&
          !scope().broken.contains(wanted.name) && IsInSignature(wanted.name))
        MakeFromSignature(computation, wanted);

  absl::flat_hash_map<std::string_view, std::vector<size_t>> waiters;  // by the name they wait for
  std::vector<size_t> missing(waiting.size(), 0), ready;
  for (size_t i = 0; i < waiting.size(); ++i) {
    for (const Named& wanted : waiting[i].missing) {
      if (scope().names.Find(wanted.name) != nullptr) continue;
      ++missing[i];
      waiters[wanted.name].push_back(i);
    }
    if (missing[i] == 0) ready.push_back(i);
  }
  std::reverse(ready.begin(), ready.end());
  bool good = true;
  while (!ready.empty()) {
    const size_t i = ready.back();
    ready.pop_back();
    missing[i] = SIZE_MAX;  // read
    const Named& first = waiting[i].missing[0];
    TolerateDeviation(first.at, "loose.order", StrCat("instruction ", first.name, " is used before it is defined"));
    lexer_.Seek(waiting[i].start);
    good &= ReadInstruction(computation, root);
    auto woken = waiters.find(waiting[i].name);
    if (woken == waiters.end() || scope().names.Find(waiting[i].name) == nullptr) continue;
    for (size_t user : woken->second)
      if (--missing[user] == 0) ready.push_back(user);
  }
  lexer_.Seek(end);
  if (last == nullptr) last = scope().names.Find(last_name);
  if (*root == nullptr) *root = last;

  for (size_t i = 0; i < waiting.size(); ++i)
    if (missing[i] != SIZE_MAX) scope().deferred.push_back(std::move(waiting[i]));
  return scope().deferred.empty() ? good : ReportUnresolved();
}

// What is left waits for something that is nowhere, or in a circle.
bool Parser::ReportUnresolved() {
  const int errors = diags_.errors();
  absl::flat_hash_set<std::string_view> known(scope().broken);
  for (const Scope::Deferred& deferred : scope().deferred) known.insert(deferred.name);
  for (const Scope::Deferred& deferred : scope().deferred) {
    for (const Named& wanted : deferred.missing) {
      if (diags_.errors() >= kMaxErrors) return false;
      if (scope().names.Find(wanted.name) != nullptr || !known.insert(wanted.name).second) continue;
      Error(wanted.at, StrCat("instruction ", wanted.name, " is nowhere defined in this computation"));
    }
  }
  if (diags_.errors() > errors || !scope().broken.empty()) return false;
  const Scope::Deferred& first = scope().deferred.front();
  return Error(first.missing[0].at, StrCat("instruction ", first.name, " uses ", first.missing[0].name,
                                           ", which depends on it: the operands go in a circle"));
}

bool Parser::ResolveControlPredecessors(Computation& computation) {
  std::vector<Instruction*> all;
  const std::vector<Scope::PendingControlDependency>& lates = scope().late_control;
  for (size_t i = 0; i < lates.size(); ++i) {
    const Scope::PendingControlDependency& late = lates[i];
    if (late.user == nullptr) continue;  // could not be read
    Instruction* before = scope().names.Find(late.before.name);
    if (before == nullptr)
      return Error(late.before.at, StrCat("instruction ", late.before.name, " is nowhere defined in this computation"));
    TolerateDeviation(late.before.at, "loose.order", StrCat("instruction ", late.before.name, " is used before it is defined"));
    all.push_back(before);
    if (i + 1 < lates.size() && lates[i + 1].user == late.user) continue;
    const Instructions known = (*late.user)[kControlPredecessors];
    all.insert(all.begin(), known.begin(), known.end());
    SetAttr(*late.user, module_, kControlPredecessors, Instructions(module_.arena.Copy(all)));
    all.clear();
  }
  if (IsInOrder(computation)) return true;
  // The order of the text cannot be the schedule then.
  SetOrder(computation, PostOrder(computation));
  if (IsInOrder(computation)) return true;
  const Named& first = lates.front().before;
  return Error(first.at, StrCat("control predecessor ", first.name, " depends on what it comes before: a circle"));
}

}  // namespace shoal::internal
