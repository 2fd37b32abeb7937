// Reads async-start, async-update and async-done, and their short form: dot-start(a, b) is an async-start that calls a
// generated computation with the single op dot.

#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "formats/text/module_parser.h"

namespace shoal::internal {
namespace {

bool IsAsyncShape(const Shape& shape) {
  return shape.IsTuple() && shape.elements().size() >= 2 && shape.element(0).IsTuple();
}

}  // namespace

// all-reduce-start is a separate op whose shape is its result. With a shape ((operands), result) it is an async-start
// that wraps an all-reduce; the ops that continue its chain are then async-update and async-done.
void Parser::RecogniseWrappedCollective(InstructionHead* head) {
  const AsyncPair* pair = PairOf(head->opcode);
  if (pair == nullptr) return;
  if (head->opcode == pair->start) {
    if (head->shape == nullptr || !IsAsyncShape(*head->shape)) return;
    // Older start ops with several operands also have a shape ((operands), (results), …) but do not wrap an op.
    if (!pair->start_is_result && head->shape->element(1).IsTuple()) return;
    head->opcode = kChainStart;
    head->wrapped = pair->kind;
    return;
  }
  if (kind() != Tok::kLparen) return;
  Lexer ahead = lexer_;
  ahead.Next();
  while (ahead.kind() != Tok::kName && ahead.kind() != Tok::kIdent && ahead.kind() != Tok::kEof) ahead.Next();
  const Instruction* operand = scope().names.Find(ahead.token().text);
  if (operand == nullptr || operand->opcode != kChainStart) return;
  head->opcode = kChainDone;
  head->wrapped = pair->kind;
}

Instruction* Parser::ReadAsync(Computation& computation, const InstructionHead& head, bool nested) {
  saw_async_ = true;
  Instruction draft;
  draft.opcode = head.opcode;
  draft.shape_ = head.shape;
  draft.at = head.opcode_at;
  draft.name = head.name;
  std::vector<Instruction*> operands;
  if (!ReadOperands(computation, operands)) return nullptr;
  draft.operands = module_.arena.Copy(operands);
  const bool is_start = head.opcode == kChainStart;
  if (head.opcode != kChainDone && !IsAsyncShape(*head.shape) &&
      !TolerateDeviation(
          head.opcode_at, StrCat(Text(head.opcode), ".C1"),
          StrCat(head.opcode_text, " must have a shape ((operands), result, …), got ", ToString(*head.shape))))
    return nullptr;
  if (!is_start && operands.empty()) {
    last_error_ = head.opcode_at.offset;
    diags_.Add(Fail(head.opcode_at, StrCat(Text(head.opcode), ".C0"),
                    StrCat(head.opcode_text, " needs an operand: the async op that it continues")));
    return nullptr;
  }
  if (head.opcode == kChainDone && operands.size() != 1) {
    Error(head.opcode_at, StrCat(head.opcode_text, " takes 1 operand, found ", operands.size()));
    return nullptr;
  }
  std::vector<NamedAttr> attrs;
  Computation* wrapped = nullptr;
  if (is_start && head.wrapped) {
    wrapped = ReadWrappedOp(draft, head, attrs, nested);
    if (wrapped == nullptr) return nullptr;
    attrs.push_back({kCalls.id, wrapped});
  } else if (!ReadAttributes(draft, Info(draft.opcode).attrs, attrs, !nested)) {
    return nullptr;
  }
  draft.attrs = module_.arena.Copy(attrs);
  if (!CheckRequired(draft, Info(draft.opcode).attrs)) return nullptr;
  if (!is_start && !CheckContinuation(draft, head)) return nullptr;
  Instruction* hlo = module_.NewInstruction(computation);
  draft.parent = hlo->parent;
  draft.index = hlo->index;
  *hlo = draft;
  if (is_start && (*hlo)[kCalls] != nullptr) SetExecutionThread(*(*hlo)[kCalls], (*hlo)[kAsyncExecutionThread]);
  if (FinishInstruction(*hlo, head)) {
    CopyAttrsToWrapped(*hlo, head);
    return hlo;
  }
  computation.instructions.pop_back();
  return nullptr;
}

// Sets the thread of an async computation and of every computation that it calls.
void Parser::SetExecutionThread(Computation& computation, std::string_view thread) {
  computation.execution_thread = thread;
  for (const Instruction* hlo : computation.instructions) {
    if (!CallsComputations(*hlo)) continue;
    for (Computation* called : CalledComputations(*hlo))
      if (called != &computation) SetExecutionThread(*called, thread);
  }
}

// Copies the common attributes of an async op, such as metadata, to the op that it wraps.
void Parser::CopyAttrsToWrapped(Instruction& hlo, const InstructionHead& head) {
  const Instruction* start = AsyncStartOf(hlo);
  if (start == nullptr) {
    // The async-start is elsewhere, so only the short form tells which op is wrapped.
    if (head.wrapped) SetAttr(hlo, module_, kAsyncWrappedOpcode, Text(*head.wrapped));
    return;
  }
  Computation* wrapped = (*start)[kCalls];
  if (wrapped == nullptr || wrapped->root == nullptr) return;
  for (uint32_t id : {kFrontendAttributes.id, kStatistics.id, kOrigin.id, kMetadata.id, kBackendConfig.id})
    if (const AttrValue* value = hlo.Find(id)) SetAttr(*wrapped->root, module_, id, *value);
}

// Reads the attributes of `dot-start`. Those of the wrapped op go to that op, the others to `attrs`.
Computation* Parser::ReadWrappedOp(Instruction& start, const InstructionHead& head, std::vector<NamedAttr>& attrs,
                                   bool nested) {
  const Opcode opcode = *head.wrapped;
  const OpInfo& op = Info(opcode);
  Computation* wrapped = module_.NewComputation("async_wrapped");
  wrapped->at = head.opcode_at;

  // ((operands), result, …); loose text may have (operand, result).
  const Shape& shape = *head.shape;
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
  const size_t arity = op.arity < 0 ? 0 : static_cast<size_t>(op.arity);
  while (parameters.size() < arity)
    parameters.push_back(module_.shapes.Array(ElementType::kF32, std::array<int64_t, 1>{1}));
  std::vector<Instruction*> operands;
  scopes_.push_back(std::make_unique<Scope>());
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::string_view name = module_.arena.CopyString(StrCat("async_param.", i));
    operands.push_back(MakeParameter(*wrapped, static_cast<int64_t>(i), parameters[i], name, head.opcode_at));
    operands.back()->name = "async_param";
  }
  scopes_.pop_back();
  if (op.arity >= 0 && operands.size() != arity) {
    Error(head.opcode_at, StrCat(op.text, " takes ", arity, " operands, found ", operands.size()));
    return nullptr;
  }

  Instruction* root = module_.NewInstruction(*wrapped);
  root->opcode = opcode;
  root->name = op.text;
  root->shape_ = result;
  root->operands = module_.arena.Copy(operands);
  root->at = root->name_at = head.opcode_at;
  std::vector<NamedAttr> all, inner;
  std::vector<AttrDef> attr_defs(op.attrs.begin(), op.attrs.end());
  for (const AttrDef& def : Info(kChainStart).attrs)
    if (def.id != kCalls.id && FindAttr(op.attrs, def.id) == nullptr) attr_defs.push_back(def);
  if (!ReadAttributes(start, attr_defs, all, !nested)) return nullptr;
  for (const NamedAttr& attr : all) (FindAttr(op.attrs, attr.id) != nullptr ? inner : attrs).push_back(attr);
  root->attrs = module_.arena.Copy(inner);
  if (!CheckRequired(*root, op.attrs)) return nullptr;
  if (Status formed = op.form(*root, module_); !formed.ok()) {
    Diag& diag = formed.diag();
    if (!TolerateDeviation(diag.at, diag.rule, std::move(diag.message), diag.site)) return nullptr;
  }
  wrapped->root = root;
  wrapped->parameters = operands;
  if (IsFusion(*root) || IsCall(*root)) SetWrappedShapesFromCallee(*wrapped);
  module_.computations.push_back(wrapped);
  return wrapped;
}

// Takes the shapes of call-start and fusion-start from the called computation.
void Parser::SetWrappedShapesFromCallee(Computation& wrapped) {
  std::vector<Computation*> called = CalledComputations(*wrapped.root);
  if (called.empty() || called[0]->root == nullptr) return;
  std::vector<const Shape*> shapes;
  for (const Instruction* parameter : called[0]->parameters) {
    if (parameter == nullptr) return;
    shapes.push_back(&parameter->shape());
  }
  SetWrappedShapes(wrapped, called[0]->root->shape(), shapes);
}

void Parser::SetWrappedShapes(Computation& wrapped, const Shape& result, std::span<const Shape* const> operands) {
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
    std::vector<Instruction*> root_operands(wrapped.root->operands.begin(), wrapped.root->operands.end());
    root_operands.push_back(parameter);
    wrapped.root->operands = module_.arena.Copy(root_operands);
  }
  if (!Compatible(wrapped.root->shape(), result)) wrapped.root->shape_ = &result;
}

// Checks that an async-update or async-done matches the async-start of its chain.
bool Parser::CheckContinuation(Instruction& hlo, const InstructionHead& head) {
  if (hlo.operands[0]->opcode == kChainDone)
    return Error(head.opcode_at, "the operand is an async-done, which ends its chain and cannot be continued");
  const Instruction* start = AsyncStartOf(hlo);
  if (start == nullptr || (*start)[kCalls] == nullptr) return true;
  Computation& wrapped = *(*start)[kCalls];
  if (head.wrapped && wrapped.root != nullptr && wrapped.root->opcode != *head.wrapped &&
      !TolerateDeviation(head.opcode_at, "loose.async-op",
               StrCat(head.opcode_text, " does not match ", start->name, ", which wraps ", Text(wrapped.root->opcode))))
    return false;
  if (hlo.has(kAsyncExecutionThread) && hlo[kAsyncExecutionThread] != (*start)[kAsyncExecutionThread])
    return Error(head.opcode_at,
                 StrCat("async_execution_thread must be ", (*start)[kAsyncExecutionThread], ", as in ", start->name));
  if (hlo.has(kCalls) && hlo[kCalls] != &wrapped)
    return Error(head.opcode_at, StrCat("calls must be ", wrapped.name, ", as in ", start->name));
  if (!head.wrapped || wrapped.root == nullptr) return true;
  if (hlo.opcode == kChainUpdate && IsAsyncShape(hlo.shape()))
    SetWrappedShapes(wrapped, hlo.shape().element(1), hlo.shape().element(0).elements());
  if (hlo.opcode == kChainDone && IsAsyncShape(start->shape()))
    SetWrappedShapes(wrapped, hlo.shape(), start->shape().element(0).elements());
  return true;
}

}  // namespace shoal::internal
