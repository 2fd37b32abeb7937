// Loose text may use an instruction before its definition. The user is then deferred to the end of the computation and
// read again. Each instruction is read at most twice, however many of its operands are defined later.
#include <algorithm>

#include "core/ir/common_attrs.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {

// Records that the current instruction uses `name` before its definition. Returns false if strict.
bool Parser::RecordMissing(std::string_view name, TextSpan at) {
  if (options_.strict) return false;
  scope().missing.push_back({name, at});
  return true;
}

void Parser::Defer(uint32_t start, std::string_view name) {
  scope().deferred.push_back({name, start, std::move(scope().missing)});
  scope().missing.clear();
  SkipInstruction(start);
}

// Skips to the next `name =`, ROOT or closing brace outside of all brackets.
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

// Called at the end of the computation. Reads each deferred instruction once all its operands are defined.
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
    for (const NameUse& use : deferred.missing)
      if (!defined_later.contains(use.name) && scope().names.Find(use.name) == nullptr &&
          !scope().broken.contains(use.name) && IsInSignature(use.name))
        MakeFromSignature(computation, use);

  absl::flat_hash_map<std::string_view, std::vector<size_t>> waiters;  // keyed by missing name
  std::vector<size_t> missing(waiting.size(), 0), ready;
  for (size_t i = 0; i < waiting.size(); ++i) {
    for (const NameUse& use : waiting[i].missing) {
      if (scope().names.Find(use.name) != nullptr) continue;
      ++missing[i];
      waiters[use.name].push_back(i);
    }
    if (missing[i] == 0) ready.push_back(i);
  }
  std::reverse(ready.begin(), ready.end());
  bool good = true;
  while (!ready.empty()) {
    const size_t i = ready.back();
    ready.pop_back();
    missing[i] = SIZE_MAX;  // has been read
    const NameUse& first = waiting[i].missing[0];
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

// Reports the instructions that remain deferred: an operand is not defined, or the operands form a cycle.
bool Parser::ReportUnresolved() {
  const int errors = diags_.errors();
  absl::flat_hash_set<std::string_view> names_to_skip(scope().broken);
  for (const Scope::Deferred& deferred : scope().deferred) names_to_skip.insert(deferred.name);
  for (const Scope::Deferred& deferred : scope().deferred) {
    for (const NameUse& use : deferred.missing) {
      if (diags_.errors() >= kMaxErrors) return false;
      if (scope().names.Find(use.name) != nullptr || !names_to_skip.insert(use.name).second) continue;
      Error(use.at, StrCat("instruction ", use.name, " is not defined in this computation"));
    }
  }
  if (diags_.errors() > errors || !scope().broken.empty()) return false;
  const Scope::Deferred& first = scope().deferred.front();
  return Error(first.missing[0].at, StrCat("instruction ", first.name, " uses ", first.missing[0].name,
                                           ", which depends on it: the operands form a cycle"));
}

bool Parser::ResolveControlPredecessors(Computation& computation) {
  std::vector<Instruction*> all;
  const std::vector<Scope::PendingControlDependency>& dependencies = scope().pending_control;
  for (size_t i = 0; i < dependencies.size(); ++i) {
    const Scope::PendingControlDependency& dependency = dependencies[i];
    if (dependency.user == nullptr) continue;  // unreadable
    Instruction* predecessor = scope().names.Find(dependency.predecessor.name);
    if (predecessor == nullptr)
      return Error(dependency.predecessor.at,
                   StrCat("instruction ", dependency.predecessor.name, " is not defined in this computation"));
    TolerateDeviation(dependency.predecessor.at, "loose.order",
                      StrCat("instruction ", dependency.predecessor.name, " is used before it is defined"));
    all.push_back(predecessor);
    if (i + 1 < dependencies.size() && dependencies[i + 1].user == dependency.user) continue;
    const Instructions earlier = (*dependency.user)[kControlPredecessors];
    all.insert(all.begin(), earlier.begin(), earlier.end());
    SetAttr(*dependency.user, module_, kControlPredecessors, Instructions(module_.arena.Copy(all)));
    all.clear();
  }
  if (IsInOrder(computation)) return true;
  // The text order violates a control dependency, so it cannot be the schedule.
  SetOrder(computation, PostOrder(computation));
  if (IsInOrder(computation)) return true;
  const NameUse& first = dependencies.front().predecessor;
  return Error(first.at, StrCat("control predecessor ", first.name, " depends on its successor: they form a cycle"));
}

}  // namespace shoal::internal
