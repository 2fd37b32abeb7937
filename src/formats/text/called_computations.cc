// Computations that are called: loose text may have them behind their callers, or not at all.
#include <algorithm>

#include "core/ops/families.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {

// ---- computations that are called
bool Parser::ReadCalledComputation(Computation** computation) {
  if (kind() == Tok::kLbrace) {  // written in place
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
  if (auto known = computations_.find(name); known != computations_.end()) return known->second;
  if (options_.strict) {
    Error(at, StrCat("computation ", name, " is not defined before this"));
    return nullptr;
  }
  return ReadAhead(name, at);
}

Computation* Parser::ReadAhead(std::string_view name, TextSpan at) {
  if (std::find(reading_.begin(), reading_.end(), name) != reading_.end()) {
    Error(at, StrCat("computation ", name, " calls itself"));
    return nullptr;
  }
  IndexComputations();
  auto place = computation_offsets_.find(name);
  if (place == computation_offsets_.end() || read_offsets_.contains(place->second)) {
    if (diags_.errors() == 0)
      TolerateDeviation(at, "loose.undefined-computation", StrCat("computation ", name, " is nowhere defined"));
    Computation* undefined = module_.NewComputation(name);
    undefined->defined = false;
    computations_.emplace(name, undefined);
    return undefined;
  }
  Depth depth(*this);
  if (depth.TooDeep()) return nullptr;
  TolerateDeviation(at, "loose.order", StrCat("computation ", name, " is used before it is defined"));
  const uint32_t resume = token().offset;
  lexer_.Seek(place->second);
  bool good = ReadComputation();
  read_offsets_.insert(place->second);
  lexer_.Seek(resume);
  auto known = computations_.find(name);
  return good && known != computations_.end() ? known->second : nullptr;
}

// Notes where each computation of the text begins.
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
