// The pretty syntax of the ops: the tokens of text_op_syntax.cc, and the ops with a syntax of their own.
#include <algorithm>
#include <utility>

#include "formats/stablehlo/mlir_text.h"
#include "formats/stablehlo/text_printer.h"

namespace shoal::internal {
namespace {

using Kind = MlirAttr::Kind;

// The attribute's name in a token; empty if it has none.
std::string_view AttrOfToken(std::string_view token) {
  if (token[0] == '?') token.remove_prefix(token[1] == ',' ? 2 : 1);
  if (token[0] == '$' || token[0] == '@') return token.substr(1);
  const size_t equal = token.find('=');
  return equal == token.npos || token.size() == 1 ? std::string_view() : token.substr(equal + 1);
}

// The attributes that a %function prints.
std::span<const std::string_view> AttrsOfFunction(std::string_view name) {
  static constexpr std::string_view kSlice[] = {"start_indices", "limit_indices", "strides"};
  static constexpr std::string_view kDot[] = {"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
                                              "rhs_contracting_dimensions", "precision_config", "algorithm"};
  static constexpr std::string_view kConv[] = {
      "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension",
      "kernel_output_feature_dimension", "kernel_spatial_dimensions", "output_batch_dimension", "output_feature_dimension",
      "output_spatial_dimensions", "window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"};
  static constexpr std::string_view kFormat[] = {"exponent_bits", "mantissa_bits"};
  if (name == "slice") return kSlice;
  if (name == "dot" || name == "precision") return kDot;
  if (name == "conv") return kConv;
  return kFormat;
}

template <class Function>
void ForEachToken(std::string_view syntax, Function function) {
  while (!syntax.empty()) {
    const size_t space = syntax.find(' ');
    function(syntax.substr(0, space));
    syntax = space == syntax.npos ? std::string_view() : syntax.substr(space + 1);
  }
}

bool PrintsAttr(std::string_view syntax, std::string_view name) {
  bool found = false;
  ForEachToken(syntax, [&](std::string_view token) {
    found |= AttrOfToken(token) == name;
    if (token[0] != '%') return;
    const std::span<const std::string_view> names = AttrsOfFunction(token.substr(1));
    found |= std::find(names.begin(), names.end(), name) != names.end();
  });
  return found;
}

}  // namespace

void MlirTextPrinter::PrintPretty(const MlirOp& op) {
  if (op.name == "stablehlo.while") return PrintWhile(op);
  if (op.name == "stablehlo.reduce") return PrintReduce(op);
  if (op.info->opcode == Opcode::kConstant) {
    out_ += "stablehlo.constant ";
    std::vector<MlirNamedAttr> attrs(op.attrs.begin() + 1, op.attrs.end());
    PrintDictionary(attrs);
    if (!attrs.empty()) out_ += ' ';
    return PrintAttr(*op.attrs[0].value);
  }
  if (op.info->syntax.empty()) return PrintGeneric(op);
  out_ += op.name == "func.return" ? "return" : op.name;
  size_t operand = 0;
  ForEachToken(op.info->syntax, [&](std::string_view token) { PrintToken(token, op, &operand); });
}

void MlirTextPrinter::PrintToken(std::string_view token, const MlirOp& op, size_t* operand) {
  if (token[0] == '?') {
    const MlirAttr* attr = op.Find(AttrOfToken(token));
    if (attr == nullptr) return;
    if (token[1] == ',') out_ += ',';
    token.remove_prefix(token[1] == ',' ? 2 : 1);
  }
  const std::span<MlirValue* const> rest = op.operands.subspan(std::min(*operand, op.operands.size()));
  auto space = [&] {
    if (out_.back() != '(' && out_.back() != '[' && out_.back() != ' ') out_ += ' ';
  };
  switch (token.size() == 1 ? token[0] : '\0') {
    case 'o':
      space();
      if (!rest.empty()) PrintOperand(*rest[0]);
      ++*operand;
      return;
    case 'O':
    case 'A':
      if (rest.empty()) return;
      space();
      PrintOperands(rest);
      if (token[0] == 'A') out_ += ',';
      *operand += rest.size();
      return;
    case 'D': {
      std::vector<MlirNamedAttr> attrs;
      for (const MlirNamedAttr& attr : op.attrs)
        if (!PrintsAttr(op.info->syntax, attr.name)) attrs.push_back(attr);
      if (!attrs.empty()) out_ += ' ';
      return PrintDictionary(attrs);
    }
    case 'T':
    case 'F':
    case 'N':
    case 'S':
    case 'P':
    case 'L':
    case 'C':
    case 'U':
      return PrintTypes(token[0], op);
    case ',':
    case '(':
    case ')':
    case '[':
    case ']':
      out_ += token;
      return;
    default:
      break;
  }
  const std::string_view name = token.substr(1);
  space();
  if (token[0] == '%') {
    if (name == "slice") return PrintSlice(op);
    if (name == "dot") return PrintDot(op);
    if (name == "precision") return PrintPrecision(op);
    if (name == "conv") return PrintConvolution(op);
    StrAppend(&out_, "format = e", op.Find("exponent_bits")->number, "m", op.Find("mantissa_bits")->number);
    return;
  }
  const MlirAttr* attr = op.Find(AttrOfToken(token));
  if (token[0] == '@') {
    out_ += SymbolText(attr->text);
    return;
  }
  if (token[0] != '$') StrAppend(&out_, token.substr(0, token.find('=')), " = ");
  PrintValueOf(*attr);
}

// A value whose type the op's syntax implies: 1, [1, 2], FFT.
void MlirTextPrinter::PrintValueOf(const MlirAttr& attr) {
  constexpr std::string_view kEnum = "#stablehlo<";
  if (attr.kind == Kind::kInt) {
    StrAppend(&out_, attr.number);
  } else if (attr.kind == Kind::kInts) {
    out_ += '[';
    for (const int64_t& value : attr.ints) StrAppend(&out_, &value == attr.ints.data() ? "" : ", ", value);
    out_ += ']';
  } else if (attr.kind == Kind::kOpaque && attr.text.starts_with(kEnum)) {
    const std::string_view value = attr.text.substr(attr.text.find(' ') + 1);
    out_ += value.substr(0, value.size() - 1);
  } else {
    out_ += AttrText(attr);
  }
}

void MlirTextPrinter::PrintTypes(char mode, const MlirOp& op) {
  auto print_list = [&](auto&& values, auto&& type_of) {
    bool first = true;
    for (auto&& value : values) {
      if (!std::exchange(first, false)) out_ += ", ";
      out_ += TypeText(type_of(value));
    }
  };
  auto operand_type = [](const MlirValue* value) -> const MlirType& { return *value->type; };
  auto result_type = [](const MlirValue& value) -> const MlirType& { return *value.type; };
  const bool no_types = (mode == 'L' || mode == 'P') && op.operands.empty();
  if (no_types && mode == 'P') out_ += " ()";
  if (no_types) return;
  out_ += " : ";
  if (mode == 'L' || mode == 'P') return print_list(op.operands, operand_type);
  if (mode == 'C' || mode == 'U') return print_list(op.results, result_type);
  if (mode == 'S' && op.results.size() == 1 && op.operands[1]->type == op.results[0].type) {
    StrAppend(&out_, TypeText(*op.operands[0]->type), ", ", TypeText(*op.results[0].type));
    return;
  }
  if (mode == 'T' && op.results.size() == 1 && std::all_of(op.operands.begin(), op.operands.end(),
                                 [&](const MlirValue* value) { return value->type == op.results[0].type; })) {
    out_ += TypeText(*op.results[0].type);
    return;
  }
  if (mode != 'N') out_ += '(';
  print_list(op.operands, operand_type);
  out_ += mode == 'N' ? " -> " : ") -> ";
  const bool single = op.results.size() == 1;
  if (!single) out_ += '(';
  print_list(op.results, result_type);
  if (!single) out_ += ')';
}

// stablehlo.while(%x = %a, …) : types cond { … } do { … }
void MlirTextPrinter::PrintWhile(const MlirOp& op) {
  const MlirBlock& condition = op.regions[0].blocks[0];
  const MlirBlock& body = op.regions[1].blocks[0];
  // A module with errors has no pretty form.
  if (condition.arguments.size() != op.operands.size() || body.arguments.size() != op.operands.size()) return PrintGeneric(op);
  out_ += "stablehlo.while(";
  for (size_t i = 0; i < op.operands.size(); ++i) {
    NameValue(condition.arguments[i]);
    const auto name = names_[&condition.arguments[i]];
    names_[&body.arguments[i]] = name;
    if (i > 0) out_ += ", ";
    PrintOperand(condition.arguments[i]);
    out_ += " = ";
    PrintOperand(*op.operands[i]);
  }
  out_ += ')';
  PrintTypes('L', op);
  if (!op.attrs.empty()) {
    out_ += " attributes ";
    PrintDictionary(op.attrs);
  }
  NewLine();
  out_ += "cond ";
  PrintRegion(op.regions[0], /*with_arguments=*/false);
  out_ += " do ";
  PrintRegion(op.regions[1], /*with_arguments=*/false);
}

// stablehlo.reduce(%a init: %b), … across dimensions = [0] : types reducer(%x: type, %y: type) … { … }
void MlirTextPrinter::PrintReduce(const MlirOp& op) {
  const size_t count = op.operands.size() / 2;
  if (count == 0 || op.operands.size() != 2 * count || op.regions[0].blocks[0].arguments.size() != 2 * count)
    return PrintGeneric(op);
  out_ += "stablehlo.reduce";
  for (size_t i = 0; i < count; ++i) {
    out_ += i == 0 ? "(" : ", (";
    PrintOperand(*op.operands[i]);
    out_ += " init: ";
    PrintOperand(*op.operands[count + i]);
    out_ += ')';
  }
  const MlirBlock& block = op.regions[0].blocks[0];
  // One op on the two arguments can be named.
  const MlirOp& first = *block.ops[0];
  const bool compact = count == 1 && block.ops.size() == 2 && first.operands.size() == 2 && first.results.size() == 1 &&
                       first.attrs.empty() && first.info->syntax == "o , o D T" && first.location == op.location &&
                       first.operands[0] == &block.arguments[0] && first.operands[1] == &block.arguments[1] &&
                       first.results[0].type == block.arguments[0].type && block.ops[1]->operands.size() == 1 &&
                       block.ops[1]->operands[0] == &first.results[0];
  if (compact) StrAppend(&out_, " applies ", first.name);
  out_ += " across dimensions = ";
  std::vector<MlirNamedAttr> attrs;
  for (const MlirNamedAttr& attr : op.attrs) {
    if (attr.name == "dimensions") PrintValueOf(*attr.value);
    if (attr.name != "dimensions") attrs.push_back(attr);
  }
  if (!attrs.empty()) out_ += ' ';
  PrintDictionary(attrs);
  PrintTypes('F', op);
  if (compact) return;
  NewLine();
  out_ += " reducer";
  for (size_t i = 0; i < count; ++i) {
    out_ += '(';
    PrintArgument(block.arguments[i]);
    out_ += ", ";
    PrintArgument(block.arguments[count + i]);
    out_ += i + 1 < count ? ") " : ")  ";
  }
  PrintRegion(op.regions[0], /*with_arguments=*/false);
}

}  // namespace shoal::internal
