// Reads the whole module: header, tables, computations.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {

bool Parser::Run() {
  if (kind() == Tok::kEof) return Error({0, 0}, "the text is empty");
  if (token().Is(Word::kHloModule) || token().Is(Word::kEntry) || lexer_.Peek() == Tok::kLbrace)
    return ReadModuleText() && Finish();
  bool named = kind() == Tok::kName || kind() == Tok::kIdent;
  if (named && lexer_.Peek() == Tok::kLparen) {
    if (!TolerateDeviation(token().span(), "loose.header", "the text must begin with HloModule, ENTRY or `name {`"))
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
      if (!TolerateDeviation(token().span(), "loose.several-modules", "only the first module is read")) return false;
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
  if (!read) unreadable_.push_back(start);
  return read;
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
  open_computations_.push_back(name);
  const Shape* signature_result = nullptr;
  TextSpan result_at;
  bool good = ReadSignature(&signature_result, &result_at) && ReadInstructionList(*computation);
  open_computations_.pop_back();
  CloseScope();
  if (!good) return false;
  if (truncated_ && kind() == Tok::kEof && computation->instructions.empty()) return true;  // dropped

  if (signature_result != nullptr && computation->root != nullptr &&
      !Compatible(*signature_result, computation->root->shape()) &&
      !TolerateDeviation(result_at, "loose.signature",
               StrCat("computation ", name, " is declared to return ", ToString(*signature_result), ", but its root ",
                      computation->root->name, " has shape ", ToString(computation->root->shape()))))
    return false;
  if (Eat(Tok::kComma)) {
    std::string_view attr;
    if (!ReadAttrName(&attr)) return false;
    if (attr != "execution_thread") return Error(token().span(), StrCat("unknown computation attribute ", attr));
    if (!ReadString(&computation->execution_thread)) return false;
  }
  if (is_entry && module_.entry != nullptr) return Error(entry_at, "the module has more than one ENTRY");
  if (is_entry) module_.entry = computation;
  auto [entry, fresh] = computations_.emplace(name, computation);
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
  scope().pending_control.clear();
  spare_scopes_.push_back(std::move(scopes_.back()));
  scopes_.pop_back();
}

bool Parser::ReadSignature(const Shape** result, TextSpan* result_at) {
  if (kind() != Tok::kLparen) return true;
  auto read_parameter = [&] {
    const Token name = token();
    std::string_view parameter;
    if (!ReadName(&parameter)) return false;
    // XLA writes `p: f32[]`, not `%p: f32[]`.
    if (kind() == Tok::kColon) {
      if (!TolerateDeviation(name.span(), "loose.signature", "signature names must not begin with %")) return false;
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
      if (!truncated_) return ErrorHere(std::move(message));
      diags_.Warn(computation.at, kTruncatedRule, std::move(message));
      break;
    }
    const uint32_t start = token().offset;
    if (ReadInstruction(computation, &root)) {
      last_read_ = std::max(last_read_, start);
      continue;
    }
    good = false;
    unreadable_.push_back(start);
    if (diags_.errors() >= kMaxErrors) return false;
    SkipToNextInstruction(start);
  } while (kind() != Tok::kRbrace);
  if (!scope().deferred.empty()) good &= ReadDeferred(computation, &root);
  if (kind() != Tok::kEof) lexer_.Next();
  // Parsing grows a list that all computations share; the computation keeps a copy of exactly the required size.
  spare_list_ = std::exchange(computation.instructions, std::vector(computation.instructions));
  spare_list_.clear();
  if ((!good || truncated_) && computation.instructions.empty()) return true;  // already reported, or dropped
  return FinishComputation(computation, root);
}

bool Parser::FinishComputation(Computation& computation, Instruction* root) {
  if (computation.instructions.empty())
    return Error(computation.at, StrCat("computation ", computation.name, " is empty"));
  computation.root = root != nullptr ? root : computation.instructions.back();
  return NumberParameters(computation) &&
         (scope().pending_control.empty() || ResolveControlPredecessors(computation));
}

bool Parser::NumberParameters(Computation& computation) {
  const size_t count = scope().parameters.size();
  computation.parameters.assign(count, nullptr);
  for (Instruction* hlo : scope().parameters) {
    int64_t number = (*hlo)[kParameterNumber];
    if (number >= static_cast<int64_t>(count)) {
      if (diags_.errors() > 0) continue;  // a parameter may be unreadable
      if (!TolerateDeviation(hlo->at, "loose.parameter",
                             StrCat("parameter number ", number, " is too large: computation ", computation.name,
                                    " has only ", count, count == 1 ? " parameter" : " parameters")))
        return false;
      if (number >= kMaxMissingParameters)
        return Error(hlo->at, StrCat("parameter number ", number, " is too large to add the missing parameters"));
      if (number >= std::ssize(computation.parameters)) computation.parameters.resize(static_cast<size_t>(number) + 1);
    }
    Instruction*& slot = computation.parameters[static_cast<size_t>(number)];
    if (slot != nullptr)
      return Error(hlo->at, StrCat("computation ", computation.name, " has two parameters with number ", number));
    slot = hlo;
  }
  // A parameter that the text omits gets the shape (), so that later code need not check for null.
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

// Reads a single instruction as a module. Operands that are not defined become parameters.
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
    return ErrorHere("expected the end of the text after a single instruction; is the HloModule header missing?");
  if (!FinishComputation(*computation, nullptr)) return false;
  module_.computations.insert(module_.computations.begin(), computation);
  module_.entry = computation;
  EntryLayout& layout = module_.entry_layout.emplace();
  for (const Instruction* parameter : computation->parameters)
    if (parameter != nullptr) layout.parameters.push_back(WithDefaultLayouts(parameter->shape()));
  layout.result = WithDefaultLayouts(computation->root->shape());
  return true;
}

}  // namespace shoal::internal
