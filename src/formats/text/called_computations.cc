// Resolves called computations. Loose text may define them after their callers, or not at all.
#include <algorithm>

#include "core/ops/families.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {

bool Parser::ReadCalledComputation(Computation** computation) {
  if (kind() == Tok::kLbrace) {  // inline computation
    Depth depth(*this);
    if (depth.TooDeep()) return false;
    Computation* inner = module_.NewComputation("_");
    inner->at = token().span();
    OpenScope();
    bool good = ReadInstructionList(*inner);
    CloseScope();
    if (!good || inner->root == nullptr) return false;
    module_.computations.push_back(inner);
    *computation = inner;
    return true;
  }
  TextSpan at = token().span();
  std::string_view name;
  if (!ReadName(&name)) return false;
  *computation = FindComputation(name, at);
  return *computation != nullptr;
}

Computation* Parser::FindComputation(std::string_view name, TextSpan at) {
  if (auto found = computations_.find(name); found != computations_.end()) return found->second;
  if (options_.strict) {
    Error(at, StrCat("computation ", name, " must be defined before its use"));
    return nullptr;
  }
  return ReadAhead(name, at);
}

Computation* Parser::ReadAhead(std::string_view name, TextSpan at) {
  if (std::find(open_computations_.begin(), open_computations_.end(), name) != open_computations_.end()) {
    Error(at, StrCat("computation ", name, " calls itself"));
    return nullptr;
  }
  IndexComputations();
  auto entry = computation_offsets_.find(name);
  if (entry == computation_offsets_.end() || read_offsets_.contains(entry->second)) {
    if (diags_.errors() == 0)
      TolerateDeviation(at, "loose.undefined-computation", StrCat("computation ", name, " is not defined"));
    Computation* undefined = module_.NewComputation(name);
    undefined->defined = false;
    computations_.emplace(name, undefined);
    return undefined;
  }
  Depth depth(*this);
  if (depth.TooDeep()) return nullptr;
  TolerateDeviation(at, "loose.order", StrCat("computation ", name, " is used before it is defined"));
  const uint32_t resume = token().offset;
  lexer_.Seek(entry->second);
  bool good = ReadComputation();
  read_offsets_.insert(entry->second);
  lexer_.Seek(resume);
  auto found = computations_.find(name);
  return good && found != computations_.end() ? found->second : nullptr;
}

// Records the offset at which each computation of the text begins.
void Parser::IndexComputations() {
  if (indexed_) return;
  indexed_ = true;
  Lexer lexer(lexer_.text());
  int depth = 0;
  Token candidate, previous;
  uint32_t start = 0;
  for (; lexer.kind() != Tok::kEof; lexer.Next()) {
    const Token& t = lexer.token();
    if (depth == 0 && (t.kind == Tok::kAttrName || t.Is(Word::kHloModule))) candidate = {};
    bool is_name = t.kind == Tok::kIdent || t.kind == Tok::kName;
    if (depth == 0 && is_name && candidate.text.empty() && !previous.Is(Word::kHloModule)) {
      candidate = t;
      start = previous.Is(Word::kEntry) ? previous.offset : t.offset;
    }
    if (t.kind == Tok::kLbrace) {
      Tok next = lexer.Peek();
      bool is_body = depth == 0 && previous.kind != Tok::kAttrName && next != Tok::kInt && next != Tok::kColon;
      if (is_body && !candidate.text.empty()) computation_offsets_.emplace(candidate.text, start);
      ++depth;
    }
    if (t.kind == Tok::kLparen || t.kind == Tok::kLsquare) ++depth;
    if (t.kind == Tok::kRparen || t.kind == Tok::kRsquare || t.kind == Tok::kRbrace) {
      if (depth > 0) --depth;
      Tok next = lexer.Peek();
      if (t.kind == Tok::kRbrace && depth == 0 && next != Tok::kLbrace) candidate = {};
    }
    previous = t;
  }
}

}  // namespace shoal::internal
