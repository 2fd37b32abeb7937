// Indexes StableHLO text: functions, values with their scopes, and calls.
#include "serve/documents/mlir_lexer.h"
#include "serve/documents/text_scanners.h"
#include "serve/documents/value_scopes.h"

namespace shoal::internal {
namespace {

constexpr uint32_t kNone = NameReference::kNone;

class StablehloScanner {
 public:
  StablehloScanner(std::string_view text, IndexedText& index) : text_(text), index_(index), lexer_(text) {}

  void Run() {
    regions_.emplace_back();
    while (lexer_.kind() != MlirTok::kEof) Step();
    while (regions_.size() > 1) CloseRegion();
    if (function_ != kNone) DropDeclaration();
  }

 private:
  // The current statement in a region.
  struct Region {
    uint32_t op = kNone;
    int parentheses = 0;
    bool has_region = false;
    bool is_block = false;            // ^bb0(…):
    std::vector<uint32_t> arguments;  // of the regions that follow
    bool is_function_body = false;
  };

  Region& region() { return regions_.back(); }
  std::string_view NameOf(TextSpan span) const { return BareName(text_, span); }
  bool in_function() const { return function_open_; }

  void Next() {
    end_ = lexer_.token().end;
    lexer_.Next();
    while (lexer_.kind() == MlirTok::kComment) lexer_.Next();
  }
  void Extend() {
    if (region().op == kNone || region().has_region) return;
    TextSpan& whole = index_.instructions[region().op].whole;
    whole.length = end_ - whole.offset;
  }

  void Step() {
    const MlirToken token = lexer_.token();
    const bool starts = region().parentheses == 0 && (token.is_first_on_line || after_brace_);
    after_brace_ = false;
    switch (token.kind) {
      case MlirTok::kValue:
        if (starts && IsDefinition()) return ReadDefinition();
        return ReadValue();
      case MlirTok::kSymbol: return ReadSymbol();
      case MlirTok::kBlock:
        StartStatement();
        region().is_block = true;
        break;
      case MlirTok::kWord:
        if (lexer_.Is("func.func") || (starts && lexer_.Is("func"))) return ReadFunction();
        if (starts && StartsStatement(lexer_.text())) StartStatement();
        if (lexer_.Is("tensor") || lexer_.Is("tuple")) return ReadType();
        break;
      case MlirTok::kString:
        if (starts) StartStatement();
        break;
      case MlirTok::kType: return ReadType();
      case MlirTok::kPunctuation: return ReadPunctuation();
      default: break;
    }
    Next();
    Extend();
  }

  // Other words continue a statement: cond, do, reducer, ….
  static bool StartsStatement(std::string_view word) {
    return word.find('.') != std::string_view::npos || word == "return" || word == "call" || word == "module";
  }
  void StartStatement() {
    region().op = kNone;
    region().parentheses = 0;
    region().has_region = region().is_block = false;
    region().arguments.clear();
  }

  void ReadPunctuation() {
    if (lexer_.Is('{')) return ReadBrace();
    if (lexer_.Is('}')) {
      Next();
      if (regions_.size() > 1) CloseRegion();
      after_brace_ = true;
      return;
    }
    if (lexer_.Is('<')) return SkipAngles();
    if (lexer_.Is('(')) ++region().parentheses;
    if (lexer_.Is(')') && region().parentheses > 0) --region().parentheses;
    Next();
    Extend();
  }

  // A brace opens a dictionary of attributes or a region.
  void ReadBrace() {
    MlirLexer ahead(text_, lexer_.token().end);
    const MlirTok first = ahead.kind();
    const bool is_name = first == MlirTok::kWord || first == MlirTok::kString;
    const bool is_empty = ahead.Is('}');
    const bool is_resources = text_.substr(lexer_.token().offset, 3) == "{-#";
    ahead.Next();
    if (is_resources || is_empty || (is_name && (ahead.Is('=') || ahead.Is('}') || ahead.Is(',')))) return SkipDictionary();
    OpenRegion();
    Next();
    after_brace_ = true;
  }

  void OpenRegion() {
    Region opened;
    opened.is_function_body = function_ != kNone && !function_open_;
    if (opened.is_function_body) {
      function_open_ = true;
      pending_.open = lexer_.token().offset;
    }
    region().has_region = true;
    regions_.push_back(std::move(opened));
    scopes_.Open();
    for (const uint32_t argument : regions_[regions_.size() - 2].arguments) Show(index_.instructions[argument].name, argument);
  }

  void CloseRegion() {
    const bool ends_function = region().is_function_body;
    regions_.pop_back();
    scopes_.Close();
    if (ends_function) EndFunction();
  }

  void EndFunction() {
    pending_.close = end_ == 0 ? 0 : end_ - 1;
    pending_.last = static_cast<uint32_t>(index_.instructions.size());
    pending_.whole.length = end_ - pending_.whole.offset;
    index_.computation_names.try_emplace(NameOf(pending_.name), function_);
    index_.computations.push_back(pending_);
    function_ = kNone;
    function_open_ = false;
    StartStatement();
  }

  // Functions are not nested.
  void ReadFunction() {
    StartStatement();
    const uint32_t start = lexer_.token().offset;
    Next();
    while (lexer_.kind() == MlirTok::kWord) Next();  // public, private, nested
    if (lexer_.kind() != MlirTok::kSymbol || function_open_) return;
    if (function_ != kNone) DropDeclaration();
    function_ = static_cast<uint32_t>(index_.computations.size());
    pending_ = {};
    pending_.name = lexer_.token().span();
    pending_.whole.offset = start;
    pending_.first = static_cast<uint32_t>(index_.instructions.size());
    pending_.is_entry = NameOf(pending_.name) == "main";
    function_reference_ = index_.references.size();
    index_.references.push_back({pending_.name, function_, kNone, true, true});
    Next();
  }

  // A function without a body has no index, and its arguments define nothing.
  void DropDeclaration() {
    index_.instructions.resize(pending_.first);
    index_.references.resize(function_reference_);
  }

  // %a = …, %a:2, %b = …, on one line
  bool IsDefinition() const {
    MlirLexer ahead(text_, lexer_.token().offset);
    do {
      ahead.Next();
    } while (!ahead.token().is_first_on_line &&
             (ahead.kind() == MlirTok::kValue || ahead.kind() == MlirTok::kNumber || ahead.Is(':') || ahead.Is(',')));
    return ahead.Is('=');
  }

  void ReadDefinition() {
    StartStatement();
    if (!in_function()) return Next();
    IndexedInstruction hlo;
    hlo.name = lexer_.token().span();
    hlo.whole.offset = lexer_.token().offset;
    hlo.computation = function_;
    const auto number = static_cast<uint32_t>(index_.instructions.size());
    std::vector<TextSpan> names;
    for (; !lexer_.Is('=') && lexer_.kind() != MlirTok::kEof; Next())
      if (lexer_.kind() == MlirTok::kValue) {
        names.push_back(lexer_.token().span());
        index_.references.push_back({names.back(), number, number, false, true});
      }
    Next();
    if (lexer_.kind() == MlirTok::kWord || lexer_.kind() == MlirTok::kString) {
      hlo.opcode = lexer_.token().span();
      Next();
    }
    hlo.whole.length = end_ - hlo.whole.offset;
    index_.instructions.push_back(hlo);
    region().op = number;
    for (const TextSpan name : names) Show(name, number);
  }

  // A use, or an argument: "%a: type" or "%a = %b" in parentheses.
  void ReadValue() {
    const TextSpan at = lexer_.token().span();
    Next();
    const bool is_argument = region().parentheses > 0 && (lexer_.Is(':') || lexer_.Is('='));
    if (function_ != kNone && is_argument) {
      AddArgument(at);
    } else if (in_function()) {
      index_.references.push_back({at, scopes_.Find(NameOf(at)), region().op, false, false});
    }
    Extend();
  }

  void AddArgument(TextSpan at) {
    const auto number = static_cast<uint32_t>(index_.instructions.size());
    IndexedInstruction argument;
    argument.name = argument.whole = at;
    argument.computation = function_;
    argument.is_argument = true;
    index_.references.push_back({at, number, number, false, true});
    if (lexer_.Is(':')) {
      Next();
      argument.shape = TypeSpan();
      argument.whole.length = end_ - at.offset;
    } else {
      Next();  // past '='; the initial value has the type of the argument
      const uint32_t initial = scopes_.Find(NameOf(lexer_.token().span()));
      if (lexer_.kind() == MlirTok::kValue && initial != kNone) argument.shape = index_.instructions[initial].shape;
    }
    index_.instructions.push_back(argument);
    if (region().is_block) Show(at, number);
    else region().arguments.push_back(number);
  }

  void Show(TextSpan name, uint32_t number) { scopes_.Define(NameOf(name), number); }

  void ReadSymbol() {
    if (in_function()) index_.references.push_back({lexer_.token().span(), kNone, region().op, true, false});
    Next();
    Extend();
  }

  // The type of a result is the last one of its statement, outside of parentheses.
  void ReadType() {
    const bool outside = region().parentheses == 0;
    const TextSpan type = TypeSpan();
    if (outside && region().op != kNone) index_.instructions[region().op].shape = type;
    Extend();
  }

  // tensor<…>, !dialect.type<…>, i32, tuple<…>: a word with its brackets
  TextSpan TypeSpan() {
    const uint32_t start = lexer_.token().offset;
    if (lexer_.kind() != MlirTok::kWord && lexer_.kind() != MlirTok::kType) return {start, 0};
    Next();
    if (lexer_.Is('<') && lexer_.token().offset == end_) SkipAngles();
    return {start, end_ - start};
  }

  // A bracket that is never closed is searched for only once: each search may go to the end of the text.
  void SkipAngles() {
    const MlirLexer before = lexer_;
    const uint32_t before_end = end_;
    const size_t references = index_.references.size();
    int depth = 0;
    while (angles_are_closed_ && lexer_.kind() != MlirTok::kEof) {
      if (lexer_.Is('<')) ++depth;
      if (lexer_.Is('>')) --depth;
      NextOrSymbol();
      if (depth == 0) return Extend();
    }
    angles_are_closed_ = false;
    index_.references.resize(references);
    lexer_ = before;
    end_ = before_end;
    Next();
  }

  void NextOrSymbol() {
    if (lexer_.kind() == MlirTok::kSymbol) ReadSymbol();
    else Next();
  }

  void SkipDictionary() {
    int depth = 0;
    while (lexer_.kind() != MlirTok::kEof) {
      if (lexer_.Is('{')) ++depth;
      if (lexer_.Is('}')) --depth;
      if (lexer_.Is('<')) SkipAngles();
      else NextOrSymbol();
      if (depth == 0) break;
    }
    Extend();
  }

  std::string_view text_;
  IndexedText& index_;
  MlirLexer lexer_;
  uint32_t end_ = 0;  // of the previous token
  std::vector<Region> regions_;
  ValueScopes scopes_;
  IndexedComputation pending_;
  uint32_t function_ = kNone;  // number of `pending_`
  size_t function_reference_ = 0;
  bool function_open_ = false;  // within its body
  bool after_brace_ = false, angles_are_closed_ = true;
};

}  // namespace

void ScanStablehlo(std::string_view text, IndexedText& index) { StablehloScanner(text, index).Run(); }

}  // namespace shoal::internal
