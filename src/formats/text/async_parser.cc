// async-start, -update and -done, and their short form: dot-start(a, b) is an async-start that calls a computation
// of the one op dot, made here.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {
namespace {

bool IsAsyncShape(const Shape& shape) {
  return shape.IsTuple() && shape.elements().size() >= 2 && shape.element(0).IsTuple();
}

}  // namespace

// all-reduce-start is an op of its own, whose shape is its result; with a shape ((operands), result) it is an
// async-start that wraps an all-reduce. What follows such a start continues it.
void Parser::RecogniseWrappedCollective(InstructionHead* opening) {
  const AsyncPair* pair = PairOf(opening->opcode);
  if (pair == nullptr) return;
  if (opening->opcode == pair->start) {
    if (opening->shape == nullptr || !IsAsyncShape(*opening->shape)) return;
    // Older ops with several operands have the shape ((operands), (results), …) too, and mean the same.
    if (!pair->start_is_result && opening->shape->element(1).IsTuple()) return;
    opening->opcode = kChainStart;
    opening->wrapped = pair->kind;
    return;
  }
  if (kind() != Tok::kLparen) return;
  Lexer ahead = lexer_;
  ahead.Next();
  while (ahead.kind() != Tok::kName && ahead.kind() != Tok::kIdent && ahead.kind() != Tok::kEof) ahead.Next();
  const Instruction* operand = scope().names.Find(ahead.token().text);
  if (operand == nullptr || operand->opcode != kChainStart) return;
  opening->opcode = kChainDone;
  opening->wrapped = pair->kind;
}

Instruction* Parser::ReadAsync(Computation& computation, const InstructionHead& opening, bool nested) {
  saw_async_ = true;
  Instruction draft;
  draft.opcode = opening.opcode;
  draft.shape_ = opening.shape;
  draft.at = opening.opcode_at;
  draft.name = opening.name;
  std::vector<Instruction*> operands;
  if (!ReadOperands(computation, operands)) return nullptr;
  draft.operands = module_.arena.Copy(operands);
  const bool is_start = opening.opcode == kChainStart;
  if (opening.opcode != kChainDone && !IsAsyncShape(*opening.shape) &&
      !TolerateDeviation(
          opening.opcode_at, StrCat(Text(opening.opcode), ".C1"),
          StrCat(opening.opcode_text, " must have a shape ((operands), result, …), got ", ToString(*opening.shape))))
    return nullptr;
  if (!is_start && operands.empty()) {
    last_error_ = opening.opcode_at.offset;
    diags_.Add(Fail(opening.opcode_at, StrCat(Text(opening.opcode), ".C0"),
                    StrCat(opening.opcode_text, " takes the async op it continues as operand")));
    return nullptr;
  }
  if (opening.opcode == kChainDone && operands.size() != 1) {
    Error(opening.opcode_at, StrCat(opening.opcode_text, " takes 1 operand, found ", operands.size()));
    return nullptr;
  }
  std::vector<NamedAttr> attrs;
  Computation* wrapped = nullptr;
  if (is_start && opening.wrapped) {
    wrapped = ReadWrappedOp(draft, opening, attrs, nested);
    if (wrapped == nullptr) return nullptr;
    attrs.push_back({kCalls.id, wrapped});
  } else if (!ReadAttributes(draft, Info(draft.opcode).attrs, attrs, !nested)) {
    return nullptr;
  }
  draft.attrs = module_.arena.Copy(attrs);
  if (!CheckRequired(draft, Info(draft.opcode).attrs)) return nullptr;
  if (!is_start && !CheckContinuation(draft, opening)) return nullptr;
  Instruction* hlo = module_.NewInstruction(computation);
  draft.parent = hlo->parent;
  draft.index = hlo->index;
  *hlo = draft;
  if (is_start && (*hlo)[kCalls] != nullptr) SetExecutionThread(*(*hlo)[kCalls], (*hlo)[kAsyncExecutionThread]);
  if (FinishInstruction(*hlo, opening)) {
    ShareWithWrapped(*hlo, opening);
    return hlo;
  }
  computation.instructions.pop_back();
  return nullptr;
}

// Everything an async computation calls runs on its thread.
void Parser::SetExecutionThread(Computation& computation, std::string_view thread) {
  computation.execution_thread = thread;
  for (const Instruction* hlo : computation.instructions) {
    if (!CallsComputations(*hlo)) continue;
    for (Computation* called : CalledComputations(*hlo))
      if (called != &computation) SetExecutionThread(*called, thread);
  }
}

// What is said of an async op holds for the op it wraps too.
void Parser::ShareWithWrapped(Instruction& hlo, const InstructionHead& opening) {
  const Instruction* start = AsyncStartOf(hlo);
  if (start == nullptr) {
    // The chain comes from elsewhere: the short form is all that tells what is wrapped.
    if (opening.wrapped) SetAttr(hlo, module_, kAsyncWrappedOpcode, Text(*opening.wrapped));
    return;
  }
  Computation* wrapped = (*start)[kCalls];
  if (wrapped == nullptr || wrapped->root == nullptr) return;
  for (uint32_t id : {kFrontendAttributes.id, kStatistics.id, kOrigin.id, kMetadata.id, kBackendConfig.id})
    if (const AttrValue* value = hlo.Find(id)) SetAttr(*wrapped->root, module_, id, *value);
}

// Reads the attributes of `dot-start` and divides them: the wrapped op's own go to it, the rest stays here in `attrs`.
Computation* Parser::ReadWrappedOp(Instruction& start, const InstructionHead& opening, std::vector<NamedAttr>& attrs,
                                   bool nested) {
  const Opcode opcode = *opening.wrapped;
  const OpInfo& op = Info(opcode);
  Computation* wrapped = module_.NewComputation("async_wrapped");
  wrapped->at = opening.opcode_at;

  // ((operands), result, …), or in loose text (operand, result).
  const Shape& shape = *opening.shape;
  const bool regular = IsAsyncShape(shape);
  std::vector<const Shape*> parameters;
  const Shape* result = regular                                        ? &shape.element(1)
                        : shape.IsTuple() && !shape.elements().empty() ? shape.elements().back()
                                                                       : &shape;
  if (regular) {
    parameters.assign(shape.element(0).elements().begin(), shape.element(0).elements().end());
  } else {
    for (const Instruction* operand : start.operands) parameters.push_back(&operand->shape());
  }
  const size_t wanted = op.arity < 0 ? 0 : static_cast<size_t>(op.arity);
  while (parameters.size() < wanted)
    parameters.push_back(module_.shapes.Array(ElementType::kF32, std::array<int64_t, 1>{1}));
  std::vector<Instruction*> operands;
  scopes_.push_back(std::make_unique<Scope>());
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::string_view name = module_.arena.CopyString(StrCat("async_param.", i));
    operands.push_back(MakeParameter(*wrapped, static_cast<int64_t>(i), parameters[i], name, opening.opcode_at));
    operands.back()->name = "async_param";
  }
  scopes_.pop_back();
  if (op.arity >= 0 && operands.size() != wanted) {
    Error(opening.opcode_at, StrCat(op.text, " takes ", wanted, " operands, found ", operands.size()));
    return nullptr;
  }

  Instruction* root = module_.NewInstruction(*wrapped);
  root->opcode = opcode;
  root->name = op.text;
  root->shape_ = result;
  root->operands = module_.arena.Copy(operands);
  root->at = root->name_at = opening.opcode_at;
  std::vector<NamedAttr> all, inner;
  std::vector<AttrDef> known(op.attrs.begin(), op.attrs.end());
  for (const AttrDef& def : Info(kChainStart).attrs)
    if (def.id != kCalls.id && FindAttr(op.attrs, def.id) == nullptr) known.push_back(def);
  if (!ReadAttributes(start, known, all, !nested)) return nullptr;
  for (const NamedAttr& attr : all) (FindAttr(op.attrs, attr.id) != nullptr ? inner : attrs).push_back(attr);
  root->attrs = module_.arena.Copy(inner);
  if (!CheckRequired(*root, op.attrs)) return nullptr;
  if (Status formed = op.form(*root, module_); !formed.ok()) {
    Diag& why = formed.diag();
    if (!TolerateDeviation(why.at, why.rule, std::move(why.message), why.site)) return nullptr;
  }
  wrapped->root = root;
  wrapped->parameters = operands;
  if (IsFusion(*root) || IsCall(*root)) FitWrappedToCalled(*wrapped);
  module_.computations.push_back(wrapped);
  return wrapped;
}

// The shape of call-start and fusion-start is what the called computation says.
void Parser::FitWrappedToCalled(Computation& wrapped) {
  std::vector<Computation*> called = CalledComputations(*wrapped.root);
  if (called.empty() || called[0]->root == nullptr) return;
  std::vector<const Shape*> shapes;
  for (const Instruction* parameter : called[0]->parameters) {
    if (parameter == nullptr) return;
    shapes.push_back(&parameter->shape());
  }
  FitWrapped(wrapped, called[0]->root->shape(), shapes);
}

void Parser::FitWrapped(Computation& wrapped, const Shape& result, std::span<const Shape* const> operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i < wrapped.parameters.size()) {
      if (!Compatible(wrapped.parameters[i]->shape(), *operands[i])) wrapped.parameters[i]->shape_ = operands[i];
      continue;
    }
    Instruction* parameter = module_.NewInstruction(wrapped);
    std::swap(wrapped.instructions[wrapped.root->index], wrapped.instructions.back());  // the root stays last
    std::swap(wrapped.root->index, parameter->index);
    parameter->opcode = kParameterOp;
    parameter->name = "async_param";
    parameter->shape_ = operands[i];
    parameter->at = parameter->name_at = wrapped.at;
    SetAttr(*parameter, module_, kParameterNumber, static_cast<int64_t>(i));
    wrapped.parameters.push_back(parameter);
    std::vector<Instruction*> grown(wrapped.root->operands.begin(), wrapped.root->operands.end());
    grown.push_back(parameter);
    wrapped.root->operands = module_.arena.Copy(grown);
  }
  if (!Compatible(wrapped.root->shape(), result)) wrapped.root->shape_ = &result;
}

// An async-update or -done must fit the async-start its chain begins with.
bool Parser::CheckContinuation(Instruction& hlo, const InstructionHead& opening) {
  if (hlo.operands[0]->opcode == kChainDone)
    return Error(opening.opcode_at, "an async-done ends its chain; nothing continues it");
  const Instruction* start = AsyncStartOf(hlo);
  if (start == nullptr || (*start)[kCalls] == nullptr) return true;
  Computation& wrapped = *(*start)[kCalls];
  if (opening.wrapped && wrapped.root != nullptr && wrapped.root->opcode != *opening.wrapped &&
      !TolerateDeviation(opening.opcode_at, "loose.async-op",
               StrCat(opening.opcode_text, " continues ", start->name, ", which wraps ", Text(wrapped.root->opcode))))
    return false;
  if (hlo.has(kAsyncExecutionThread) && hlo[kAsyncExecutionThread] != (*start)[kAsyncExecutionThread])
    return Error(opening.opcode_at,
                 StrCat("async_execution_thread must be ", (*start)[kAsyncExecutionThread], " as in ", start->name));
  if (hlo.has(kCalls) && hlo[kCalls] != &wrapped)
    return Error(opening.opcode_at, StrCat("calls must be ", wrapped.name, " as in ", start->name));
  if (!opening.wrapped || wrapped.root == nullptr) return true;
  if (hlo.opcode == kChainUpdate && IsAsyncShape(hlo.shape()))
    FitWrapped(wrapped, hlo.shape().element(1), hlo.shape().element(0).elements());
  if (hlo.opcode == kChainDone && IsAsyncShape(start->shape()))
    FitWrapped(wrapped, hlo.shape(), start->shape().element(0).elements());
  return true;
}

}  // namespace shoal::internal
