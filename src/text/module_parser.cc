// The module as a whole: header, tables, computations, and what can be said only at its end.
#include <algorithm>

#include "ops/families.h"
#include "ops/order.h"
#include "ops/traits.h"
#include "text/parser_core.h"

namespace shoal {

namespace {

std::unique_ptr<Module> ParseText(std::unique_ptr<Source>& source, std::string_view text, const ParseOptions& options,
                                  bool cut_short, Diags& diags, std::optional<uint32_t>* broken_from = nullptr) {
  auto module = std::make_unique<Module>(std::move(source));
  int errors = diags.errors();
  Parser parser(*module, text, options, cut_short, diags);
  bool read = parser.Run();
  if (broken_from != nullptr) *broken_from = parser.BrokenFrom();
  if (read && diags.errors() == errors) return module;
  source = std::move(module->source);
  return nullptr;
}

// Whether a text breaks off in what it begins with: a string or a bracket stays open, or an instruction is not followed
// by the brace that closes its computation.
bool BreaksOff(std::string_view rest, bool in_computation) {
  std::string open;  // brackets
  bool in_string = false;
  for (size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    if (in_string) continue;
    if (c == '{' || c == '(' || c == '[') open += c == '(' ? ')' : static_cast<char>(c + 2);
    if (c != '}' && c != ')' && c != ']') continue;
    if (open.empty() || open.back() != c) return false;
    open.pop_back();
  }
  return !open.empty() || in_string || in_computation;
}

}  // namespace

std::unique_ptr<Module> ParseModule(std::unique_ptr<Source>& source, const ParseOptions& options, Diags& diags) {
  const Diags before = diags;
  const std::string_view text = source->text();
  std::optional<uint32_t> broken_from;
  if (std::unique_ptr<Module> module = ParseText(source, text, options, false, diags, &broken_from)) return module;
  if (options.strict) return nullptr;
  // A dump of which the end is missing: its whole lines, or what stands before the instruction in which it breaks off,
  // if nothing else is wrong with that.
  std::vector<std::string_view> beginnings{text.substr(0, text.rfind('\n') + 1)};
  if (broken_from) {
    const std::string_view beginning = text.substr(0, *broken_from);
    const bool in_computation = beginning.rfind('{') != beginning.npos && beginning.find_last_not_of(" \t\r\n") != beginning.rfind('}');
    if (BreaksOff(text.substr(*broken_from), in_computation)) beginnings.push_back(beginning);
  }
  for (const std::string_view beginning : beginnings) {
    Diags again = before;
    std::unique_ptr<Module> module = ParseText(source, beginning, options, true, again);
    if (module == nullptr) continue;
    const bool said = std::any_of(again.found().begin(), again.found().end(), [](const Diag& diag) { return diag.rule == kCutShortRule; });
    if (!said && beginning.size() < text.size())
      again.Warn({static_cast<uint32_t>(beginning.size()), 1}, kCutShortRule, "the text ends inside a computation that begins here");
    diags = std::move(again);
    return module;
  }
  return nullptr;
}

Parser::Parser(Module& module, std::string_view text, const ParseOptions& options, bool cut_short, Diags& diags)
    : module_(module), options_(options), cut_short_(cut_short), diags_(diags), lexer_(text) {}

bool Parser::Error(TextSpan at, std::string message, Site site) {
  last_error_ = at.offset;
  diags_.Add(Fail(at, "", std::move(message), site));
  return false;
}

bool Parser::Liberty(TextSpan at, std::string_view rule, std::string message, Site site) {
  if (!options_.strict) {
    diags_.Warn(at, rule, std::move(message), site);
    return true;
  }
  last_error_ = at.offset;
  diags_.Add(Fail(at, rule, std::move(message), site));
  return false;
}

bool Parser::Run() {
  if (kind() == Tok::kEof) return Error({0, 0}, "the text is empty");
  if (token().Is(Word::kHloModule) || token().Is(Word::kEntry) || lexer_.Peek() == Tok::kLbrace)
    return ReadModuleText() && Finish();
  bool named = kind() == Tok::kName || kind() == Tok::kIdent;
  if (named && lexer_.Peek() == Tok::kLparen) {
    if (!Liberty(token().span(), "loose.header", "a text that does not begin with HloModule, ENTRY or `name {`"))
      return false;
    return ReadModuleText() && Finish();
  }
  bool may_be_instruction = AtShape() || token().Is(Word::kRoot) || (named && lexer_.Peek() == Tok::kEqual);
  if (!may_be_instruction)
    return ErrorHere("this is not HLO text: expected HloModule, a computation or an instruction");
  return ReadSingleInstruction() && Finish();
}

bool Parser::ReadModuleText() {
  module_.has_header = token().Is(Word::kHloModule);
  if (module_.has_header && !ReadHeader()) return false;
  if (!ReadStackFrameTables()) return false;
  do {
    if (token().Is(Word::kHloModule)) {
      if (!Liberty(token().span(), "loose.several-modules", "only the first module of the text is read")) return false;
      break;
    }
    if (!ReadComputation()) return false;
  } while (kind() != Tok::kEof);
  return true;
}

// computation ::= 'ENTRY'? name ('(' params ')' '->' shape)? '{' instructions '}' (',' execution_thread=…)?
bool Parser::ReadComputation() {
  const uint32_t start = token().offset;
  const bool read = ReadComputationAt(start);
  if (!read) broken_.push_back(start);
  return read;
}

std::optional<uint32_t> Parser::BrokenFrom() const {
  std::optional<uint32_t> first;
  for (uint32_t start : broken_)
    if (start > last_read_ && (!first || start < *first)) first = start;
  return first;
}

bool Parser::ReadComputationAt(uint32_t start) {
  if (read_offsets_.contains(start)) {
    SkipComputation();
    return true;
  }
  const TextSpan entry_at = token().span();
  const bool is_entry = token().Is(Word::kEntry);
  if (is_entry) lexer_.Next();
  TextSpan name_at = token().span();
  std::string_view name;
  if (!ReadName(&name)) return false;

  Computation* computation = module_.NewComputation(name);
  computation->at = name_at;
  OpenScope();
  reading_.push_back(name);
  const Shape* signature_result = nullptr;
  TextSpan result_at;
  bool good = ReadSignature(&signature_result, &result_at) && ReadInstructionList(*computation);
  reading_.pop_back();
  CloseScope();
  if (!good) return false;
  if (cut_short_ && kind() == Tok::kEof && computation->instructions.empty()) return true;  // as if it were not there

  if (signature_result != nullptr && computation->root != nullptr &&
      !Compatible(*signature_result, computation->root->shape()) &&
      !Liberty(result_at, "loose.signature",
               StrCat("computation ", name, " is declared to give ", ToString(*signature_result), ", but its root ",
                      computation->root->name, " is ", ToString(computation->root->shape()))))
    return false;
  if (Eat(Tok::kComma)) {
    std::string_view attr;
    if (!ReadAttrName(&attr)) return false;
    if (attr != "execution_thread") return Error(token().span(), StrCat("a computation has no attribute ", attr));
    if (!ReadString(&computation->execution_thread)) return false;
  }
  if (is_entry && module_.entry != nullptr) return Error(entry_at, "expected only one ENTRY");
  if (is_entry) module_.entry = computation;
  auto [known, fresh] = computations_.emplace(name, computation);
  if (!fresh) return Error(name_at, StrCat("computation ", name, " is defined twice"));
  module_.computations.push_back(computation);
  return true;
}

void Parser::OpenScope() {
  if (spare_scopes_.empty()) spare_scopes_.push_back(std::make_unique<Scope>());
  scopes_.push_back(std::move(spare_scopes_.back()));
  spare_scopes_.pop_back();
}

void Parser::CloseScope() {
  scope().names.Clear();
  scope().elements.clear();
  scope().parameters.clear();
  scope().signature.clear();
  scope().broken.clear();
  scope().missing.clear();
  scope().deferred.clear();
  scope().late_control.clear();
  spare_scopes_.push_back(std::move(scopes_.back()));
  scopes_.pop_back();
}

bool Parser::ReadSignature(const Shape** result, TextSpan* result_at) {
  if (kind() != Tok::kLparen) return true;
  auto read_parameter = [&] {
    const Token name = token();
    std::string_view parameter;
    if (!ReadName(&parameter)) return false;
    // `%p: f32[]`: XLA itself writes `p: f32[]`.
    if (kind() == Tok::kColon) {
      if (!Liberty(name.span(), "loose.signature", "parameter names in a signature have no %")) return false;
      lexer_.Next();
    }
    const Shape* shape = ReadShape();
    if (shape == nullptr) return false;
    scope().signature.emplace_back(parameter, shape);
    return true;
  };
  if (!ReadList(Tok::kLparen, Tok::kRparen, Tok::kComma, read_parameter)) return false;
  if (!Expect(Tok::kArrow, "'->' before the result shape")) return false;
  *result_at = token().span();
  *result = ReadShape();
  result_at->length = lexer_.previous_end() - result_at->offset;
  return *result != nullptr;
}

bool Parser::ReadInstructionList(Computation& computation) {
  if (!Expect(Tok::kLbrace, "'{' before the instructions")) return false;
  computation.instructions.swap(spare_list_);
  Instruction* root = nullptr;
  bool good = true;
  do {
    if (kind() == Tok::kEof) {
      std::string message = StrCat("the text ends inside computation ", computation.name);
      if (!cut_short_) return ErrorHere(std::move(message));
      diags_.Warn(computation.at, kCutShortRule, std::move(message));
      break;
    }
    const uint32_t start = token().offset;
    if (ReadInstruction(computation, &root)) {
      last_read_ = std::max(last_read_, start);
      continue;
    }
    good = false;
    broken_.push_back(start);
    if (diags_.errors() >= kMostErrors) return false;
    SkipToNextInstruction(start);
  } while (kind() != Tok::kRbrace);
  if (!scope().deferred.empty()) good &= ReadDeferred(computation, &root);
  if (kind() != Tok::kEof) lexer_.Next();
  // Grown in a list that all computations share, kept in one of its own size.
  spare_list_ = std::exchange(computation.instructions, std::vector(computation.instructions));
  spare_list_.clear();
  if ((!good || cut_short_) && computation.instructions.empty()) return true;  // complained already, or dropped
  return FinishComputation(computation, root);
}

bool Parser::FinishComputation(Computation& computation, Instruction* root) {
  if (computation.instructions.empty())
    return Error(computation.at, StrCat("computation ", computation.name, " is empty"));
  computation.root = root != nullptr ? root : computation.instructions.back();
  return NumberParameters(computation) &&
         (scope().late_control.empty() || ResolveControlPredecessors(computation));
}

bool Parser::NumberParameters(Computation& computation) {
  const size_t count = scope().parameters.size();
  computation.parameters.assign(count, nullptr);
  for (Instruction* hlo : scope().parameters) {
    int64_t number = (*hlo)[kParameterNumber];
    if (number >= static_cast<int64_t>(count)) {
      if (diags_.errors() > 0) continue;  // a parameter may have failed to read
      if (!Liberty(hlo->at, "loose.parameter",
                   StrCat("parameter number ", number, " of computation ", computation.name, ", which has only ", count,
                          count == 1 ? " parameter" : " parameters")))
        return false;
      if (number >= kMostMissingParameters)
        return Error(hlo->at, StrCat("parameter number ", number, " is too high to guess the parameters below it"));
      if (number >= std::ssize(computation.parameters)) computation.parameters.resize(static_cast<size_t>(number) + 1);
    }
    Instruction*& slot = computation.parameters[static_cast<size_t>(number)];
    if (slot != nullptr)
      return Error(hlo->at, StrCat("computation ", computation.name, " has two parameters number ", number));
    slot = hlo;
  }
  // Nobody has to ask whether a parameter is there: one that the text left out has the shape ().
  for (size_t i = 0; i < computation.parameters.size(); ++i) {
    if (computation.parameters[i] != nullptr) continue;
    const std::string_view name = module_.arena.CopyString(StrCat("missing.", i));
    computation.parameters[i] =
        MakeParameter(computation, static_cast<int64_t>(i), module_.shapes.Tuple({}), name, computation.at);
  }
  return true;
}

const Shape* Parser::WithDefaultLayouts(const Shape& shape) {
  if (shape.IsArray()) return module_.shapes.WithDefaultLayout(shape);
  if (!shape.IsTuple()) return &shape;
  std::vector<const Shape*> elements;
  for (const Shape* element : shape.elements()) elements.push_back(WithDefaultLayouts(*element));
  return module_.shapes.Tuple(elements);
}

// A lone instruction is a module too: operands that are not defined become its parameters.
bool Parser::ReadSingleInstruction() {
  single_instruction_ = true;
  module_.has_header = false;
  module_.name = "_";
  module_.is_scheduled = true;
  Computation* computation = module_.NewComputation("_");
  OpenScope();
  Instruction* root = nullptr;
  if (AtShape()) {
    if (ReadInstructionBody(*computation, "_", token().span(), false) == nullptr) return false;
  } else if (!ReadInstruction(*computation, &root)) {
    return false;
  }
  if (kind() != Tok::kEof)
    return ErrorHere("expected the end of the text after a lone instruction; is the HloModule header missing?");
  if (!FinishComputation(*computation, nullptr)) return false;
  module_.computations.insert(module_.computations.begin(), computation);
  module_.entry = computation;
  EntryLayout& layout = module_.entry_layout.emplace();
  for (const Instruction* parameter : computation->parameters)
    if (parameter != nullptr) layout.parameters.push_back(WithDefaultLayouts(parameter->shape()));
  layout.result = WithDefaultLayouts(computation->root->shape());
  return true;
}

bool Parser::Finish() {
  if (module_.computations.empty()) return diags_.errors() == 0 && Error({0, 0}, "the module has no computation");
  if (module_.entry == nullptr) {
    module_.entry = module_.computations.back();
    if (!options_.strict && module_.has_header && !FitsEntryLayout(*module_.entry))
      diags_.Warn(module_.entry->at, kCutShortRule,
                  StrCat("the text has no ENTRY, and computation ", module_.entry->name,
                         ", its last, is not the one that entry_computation_layout describes: it was cut short"));
  }
  if (!module_.has_header && !single_instruction_)
    module_.name = module_.arena.CopyString(StrCat("module_", module_.entry->name));
  if (diags_.errors() > 0 || !CheckAliases() || !CheckAsyncComputations()) return false;
  OrderInstructions(module_);
  return true;
}

bool Parser::FitsEntryLayout(const Computation& computation) const {
  const std::optional<EntryLayout>& layout = module_.entry_layout;
  if (!layout || layout->result == nullptr || computation.root == nullptr) return true;
  if (layout->parameters.size() != computation.parameters.size()) return false;
  return Compatible(*layout->result, computation.root->shape());
}

bool Parser::CheckAliases() {
  const Shape* result = module_.entry_layout ? module_.entry_layout->result : &module_.entry->root->shape();
  for (const InputOutputAlias& alias : module_.input_output_alias) {
    if (result->At(alias.output_index) == nullptr &&
        !Liberty(aliases_at_, "loose.alias",
                 StrCat("input_output_alias names output ", ToString(alias.output_index), ", but the result is ",
                        ToString(*result))))
      return false;
  }
  return true;
}

// A computation that an async-start wraps belongs to it alone.
bool Parser::CheckAsyncComputations() {
  if (!saw_async_) return true;
  absl::flat_hash_map<const Computation*, const Instruction*> others;
  absl::flat_hash_set<const Computation*> async;
  for (const Computation* computation : module_.computations) {
    for (const Instruction* hlo : computation->instructions) {
      if (!CallsComputations(*hlo)) continue;
      bool is_async = IsAsyncChain(*hlo);
      for (const Computation* called : CalledComputations(*hlo)) {
        if (is_async) async.insert(called);
        if (!is_async) others.emplace(called, hlo);
      }
    }
  }
  for (const Computation* wrapped : async) {
    auto caller = others.find(wrapped);
    if (caller != others.end() &&
        !Liberty(caller->second->at, "loose.async",
                 StrCat("async computation ", wrapped->name, " is also called by ", caller->second->name)))
      return false;
  }
  return true;
}

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
      Liberty(at, "loose.undefined-computation", StrCat("computation ", name, " is nowhere defined"));
    Computation* undefined = module_.NewComputation(name);
    undefined->defined = false;
    computations_.emplace(name, undefined);
    return undefined;
  }
  Depth depth(*this);
  if (depth.TooDeep()) return nullptr;
  Liberty(at, "loose.order", StrCat("computation ", name, " is used before it is defined"));
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

// ---- getting past an error

// From the instruction at `failed`, or the last error if that lies behind it, to the next line that begins an
// instruction or closes the computation.
void Parser::SkipToNextInstruction(uint32_t failed) {
  std::string_view text = lexer_.text();
  size_t at = last_error_ == TextSpan::kNowhere ? failed : std::max(last_error_, failed);
  auto begins_instruction = [](std::string_view line) {
    if (line.starts_with("ROOT ")) line.remove_prefix(5);
    bool percent = line.starts_with("%");
    size_t equal = line.find('=');
    if (equal == std::string_view::npos || equal == 0) return false;
    std::string_view name = line.substr(percent ? 1 : 0, equal - (percent ? 1 : 0));
    bool spaced = name.ends_with(' ');
    while (name.ends_with(' ')) name.remove_suffix(1);
    return (percent || spaced) && !name.empty() && name.find_first_of(" ,(){}\"") == std::string_view::npos;
  };
  while (true) {
    size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return lexer_.Seek(static_cast<uint32_t>(text.size()));
    at = end + 1;
    size_t start = text.find_first_not_of(" \t\r", at);
    if (start == std::string_view::npos) return lexer_.Seek(static_cast<uint32_t>(text.size()));
    std::string_view line = text.substr(start, text.find('\n', start) - start);
    if (line.starts_with("}") || begins_instruction(line)) return lexer_.Seek(static_cast<uint32_t>(start));
  }
}

// Over a computation that was read ahead of its place.
void Parser::SkipComputation() {
  int depth = 0;
  while (kind() != Tok::kEof) {
    Tok previous = kind();
    if (kind() == Tok::kLbrace) ++depth;
    if (kind() == Tok::kRbrace) --depth;
    lexer_.Next();
    // The braces of a layout in the signature close too, but another brace follows them.
    if (previous == Tok::kRbrace && depth == 0 && kind() != Tok::kLbrace) break;
  }
  if (kind() == Tok::kComma) {
    lexer_.Next();
    lexer_.Next();
    lexer_.Next();
  }
}

}  // namespace shoal
