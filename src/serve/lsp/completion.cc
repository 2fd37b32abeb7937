// Completion and signature help. The context is derived from the text of the instruction before the cursor.
#include "core/base/strings.h"
#include "core/ops/meanings.h"
#include "core/ops/traits.h"
#include "serve/lsp/completion_items.h"
#include "serve/lsp/features.h"

namespace shoal::internal {
namespace {

struct Context {
  enum class Kind : uint8_t { kNone, kOpcode, kOperand, kAttribute, kValue };
  Kind kind = Kind::kNone;
  const IndexedInstruction* hlo = nullptr;
  Opcode opcode = Opcode::kUnknown;
  std::string_view attribute;  // of kValue
  uint32_t operand = 0;        // index of kOperand
};

// The attribute whose value the cursor is in: the last "name=" after the last comma outside of brackets.
Context AttributeContext(Context context, std::string_view after_operands) {
  size_t start = 0;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < after_operands.size(); ++i) {
    const char c = after_operands[i];
    if (c == '"' && (i == 0 || after_operands[i - 1] != '\\')) in_string = !in_string;
    if (in_string) continue;
    if (c == '{' || c == '(' || c == '[') ++depth;
    if (c == '}' || c == ')' || c == ']') --depth;
    if (c == ',' && depth <= 0) start = i + 1;
  }
  if (in_string) return {};
  const std::string_view part = after_operands.substr(start);
  const size_t equals = part.find('=');
  context.kind = equals == std::string_view::npos ? Context::Kind::kAttribute : Context::Kind::kValue;
  if (equals == std::string_view::npos) return context;
  context.attribute = part.substr(0, equals);
  while (!context.attribute.empty() && context.attribute.front() == ' ') context.attribute.remove_prefix(1);
  return context;
}

Context ContextAt(const TextIndex& index, uint32_t offset) {
  Context context;
  context.hlo = index.InstructionAt(offset);
  const std::string_view text = index.text();
  if (context.hlo == nullptr) {
    // After the last token of an unfinished instruction, on the same line.
    const size_t line = text.rfind('\n', offset == 0 ? 0 : offset - 1);
    uint32_t back = offset;
    while (back > 0 && back > line + 1 && text[back - 1] == ' ') --back;
    context.hlo = index.InstructionAt(back);
    if (context.hlo == nullptr) return context;
  }
  const IndexedInstruction& hlo = *context.hlo;
  if (offset <= hlo.name.offset + hlo.name.length) return {};
  if (!hlo.opcode.known() || offset <= hlo.opcode.offset + hlo.opcode.length) {
    const bool after_shape = !hlo.shape.known() || offset > hlo.shape.offset + hlo.shape.length;
    context.kind = after_shape ? Context::Kind::kOpcode : Context::Kind::kNone;
    return context;
  }
  context.opcode = OpcodeOf(index.TextOf(hlo.opcode));
  if (!hlo.operands.known() || offset < hlo.operands.offset) return {};
  const uint32_t operands_end = hlo.operands.offset + hlo.operands.length;
  const bool closed = operands_end < text.size() && text[operands_end] == ')';
  if (!closed || offset <= operands_end) {
    context.kind = Context::Kind::kOperand;
    int depth = 0;
    for (const char c : text.substr(hlo.operands.offset, offset - hlo.operands.offset)) {
      if (c == '{' || c == '(' || c == '[') ++depth;
      if (c == '}' || c == ')' || c == ']') --depth;
      context.operand += c == ',' && depth == 0 ? 1 : 0;
    }
    return context;
  }
  return AttributeContext(context, text.substr(operands_end + 1, offset - operands_end - 1));
}

const AttrDef* FindByName(Opcode opcode, std::string_view name) {
  for (const std::span<const AttrDef> list : {Info(opcode).attrs, CommonAttrs()})
    for (const AttrDef& attr : list)
      if (attr.name == name) return &attr;
  return nullptr;
}

// The latest values first; the prefix that the user has typed decides which ones fit.
void AddValues(const TextIndex& index, const Context& context, CompletionItems& items) {
  const bool percent = index.text()[context.hlo->name.offset] == '%';
  std::string_view typed = items.word();
  if (typed.starts_with('%')) typed.remove_prefix(1);
  const IndexedComputation& computation = index.computations()[context.hlo->computation];
  for (const IndexedInstruction* hlo = context.hlo; hlo-- > &index.instructions()[computation.first] && !items.full();)
    if (index.NameOf(*hlo).find(typed) != std::string_view::npos)
      items.Add(StrCat(percent ? "%" : "", index.NameOf(*hlo)), kVariableItem, std::string(index.TextOf(hlo->shape)));
}

void AddComputations(const TextIndex& index, const Context& context, CompletionItems& items) {
  const bool percent = index.text()[context.hlo->name.offset] == '%';
  for (const IndexedComputation& computation : index.computations())
    if (!items.full()) items.Add(StrCat(percent ? "%" : "", index.NameOf(computation)), kClassItem, "");
}

void AddAttributeValues(const TextIndex& index, const Context& context, CompletionItems& items) {
  const AttrDef* attr = FindByName(context.opcode, context.attribute);
  if (attr == nullptr) return;
  if (attr->kind == AttrKind::kComputation || attr->kind == AttrKind::kComputations)
    AddComputations(index, context, items);
  if (attr->kind == AttrKind::kInstructions) AddValues(index, context, items);
  if (attr->kind == AttrKind::kBool)
    for (const char* value : {"true", "false"}) items.Add(value, kEnumMemberItem, "");
  for (const std::string_view value : attr->enum_names) items.Add(std::string(value), kEnumMemberItem, "");
}

std::string Signature(Opcode opcode, std::vector<std::string>* operands) {
  const OpInfo& info = Info(opcode);
  if (info.arity < 0) {
    operands->push_back("operands…");
  } else {
    for (int i = 0; i < info.arity; ++i) operands->push_back(StrCat("operand ", i));
  }
  std::string text = StrCat(info.text, "(", StrJoin(*operands, ", "), ")");
  for (const AttrDef& attr : info.attrs)
    if (attr.required) StrAppend(&text, ", ", attr.name, "=…");
  return text;
}

}  // namespace

json CompletionsAt(const View& view, uint32_t offset) {
  const TextIndex& index = view.index();
  if (index.is_stablehlo()) return StablehloCompletionsAt(view, offset);
  const Context context = ContextAt(index, offset);
  CompletionItems items(view, offset);
  switch (context.kind) {
    case Context::Kind::kOpcode:
      for (int i = 0; i < kOpcodeCount; ++i) {
        const auto opcode = static_cast<Opcode>(i);
        items.Add(std::string(Text(opcode)), kFunctionItem, std::string(ToString(Info(opcode).op_class)),
                  std::string(MeaningOf(opcode)));
      }
      break;
    case Context::Kind::kOperand: AddValues(index, context, items); break;
    case Context::Kind::kAttribute:
      for (const std::span<const AttrDef> list : {Info(context.opcode).attrs, CommonAttrs()})
        for (const AttrDef& attr : list)
          items.Add(StrCat(attr.name, "="), kPropertyItem, attr.required ? "required" : "");
      break;
    case Context::Kind::kValue: AddAttributeValues(index, context, items); break;
    case Context::Kind::kNone: break;
  }
  return items.Take();
}

json SignatureHelpAt(const View& view, uint32_t offset) {
  if (view.index().is_stablehlo()) return nullptr;
  const Context context = ContextAt(view.index(), offset);
  if (context.kind != Context::Kind::kOperand || context.opcode == Opcode::kUnknown) return nullptr;
  std::vector<std::string> operands;
  const std::string label = Signature(context.opcode, &operands);
  json parameters = json::array();
  for (const std::string& operand : operands) parameters.push_back({{"label", operand}});
  const auto active = std::min<size_t>(context.operand, operands.size() - (operands.empty() ? 0 : 1));
  return {{"signatures", json::array({{{"label", label},
                                       {"documentation", MeaningOf(context.opcode)},
                                       {"parameters", std::move(parameters)}}})},
          {"activeSignature", 0},
          {"activeParameter", active}};
}

}  // namespace shoal::internal
