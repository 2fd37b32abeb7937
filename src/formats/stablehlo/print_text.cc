// Modules, functions, ops in generic form, names.
#include "core/ir/instruction.h"
#include "formats/stablehlo/export.h"
#include "formats/stablehlo/mlir_text.h"
#include "formats/stablehlo/text_printer.h"

namespace shoal::internal {
namespace {

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$' || c == '-';
}

// Attributes of the op itself, which are its properties; those of other dialects have a dot in the name.
bool IsProperty(const MlirNamedAttr& attr) { return attr.name.find('.') == attr.name.npos; }

const MlirAttr* AttrAt(const MlirAttr* list, size_t i) {
  return list == nullptr || i >= list->elements.size() ? nullptr : list->elements[i];
}

}  // namespace

Result<std::string> WriteStablehlo(const Module& module, const StablehloOptions& options) {
  SHOAL_ASSIGN(tree, ExportMlir(module));
  return MlirTextPrinter(options).Print(*tree);
}

std::string MlirTextPrinter::Print(const MlirModule& module) {
  PrintModule(*module.op);
  out_ += '\n';
  PrintLocations();
  return std::move(out_);
}

void MlirTextPrinter::NewLine() {
  out_ += '\n';
  out_.append(2 * indent_, ' ');
}

void MlirTextPrinter::PrintModule(const MlirOp& op) {
  out_ += "module";
  std::vector<MlirNamedAttr> attrs;
  for (const MlirNamedAttr& attr : op.attrs) {
    if (attr.name != "sym_name") attrs.push_back(attr);
    if (attr.name == "sym_name") StrAppend(&out_, " ", SymbolText(attr.value->text));
  }
  if (!attrs.empty()) out_ += " attributes ";
  PrintDictionary(attrs);
  out_ += " {";
  ++indent_;
  for (const MlirOp* function : op.regions[0].blocks[0].ops) {
    NewLine();
    used_.clear();
    PrintFunction(*function);
  }
  --indent_;
  NewLine();
  out_ += '}';
}

void MlirTextPrinter::PrintFunction(const MlirOp& op) {
  StrAppend(&out_, "func.func ", op.Find("sym_visibility")->text, " ", SymbolText(op.Find("sym_name")->text), "(");
  const MlirBlock& block = op.regions[0].blocks[0];
  auto print_attrs = [&](std::string_view list, size_t i) {
    const MlirAttr* attrs = AttrAt(op.Find(list), i);
    if (attrs == nullptr || attrs->fields.empty()) return;
    out_ += ' ';
    PrintDictionary(attrs->fields);
  };
  for (const MlirValue& argument : block.arguments) {
    if (argument.index != 0) out_ += ", ";
    NameValue(argument);
    PrintOperand(argument);
    StrAppend(&out_, ": ", TypeText(*argument.type));
    print_attrs("arg_attrs", argument.index);
    PrintLocation(argument.location);
  }
  out_ += ") -> (";
  const std::span<const MlirType* const> results = op.Find("function_type")->type->results;
  for (size_t i = 0; i < results.size(); ++i) {
    StrAppend(&out_, i == 0 ? "" : ", ", TypeText(*results[i]));
    print_attrs("res_attrs", i);
  }
  out_ += ") ";
  PrintRegion(op.regions[0], /*with_arguments=*/false);
}

// { ops }; with_arguments: the block's label names its arguments.
void MlirTextPrinter::PrintRegion(const MlirRegion& region, bool with_arguments) {
  const MlirBlock& block = region.blocks[0];
  out_ += '{';
  if (with_arguments && !block.arguments.empty()) {
    NewLine();
    out_ += "^bb0(";
    for (const MlirValue& argument : block.arguments) {
      if (argument.index != 0) out_ += ", ";
      PrintArgument(argument);
    }
    out_ += "):";
  }
  ++indent_;
  for (const MlirOp* op : block.ops) {
    NewLine();
    PrintOp(*op);
  }
  --indent_;
  NewLine();
  out_ += '}';
}

void MlirTextPrinter::PrintArgument(const MlirValue& value) {
  NameValue(value);
  PrintOperand(value);
  StrAppend(&out_, ": ", TypeText(*value.type));
  PrintLocation(value.location);
}

void MlirTextPrinter::PrintOp(const MlirOp& op) {
  NameResults(op);
  if (!op.results.empty()) {
    StrAppend(&out_, "%", names_[&op.results[0]].first);
    if (op.results.size() > 1) StrAppend(&out_, ":", op.results.size());
    out_ += " = ";
  }
  PrintPretty(op);
  PrintLocation(op.location);
}

// "name"(operands) <{properties}> ({regions}) {attributes} : (types) -> types
void MlirTextPrinter::PrintGeneric(const MlirOp& op) {
  StrAppend(&out_, "\"", op.name, "\"(");
  PrintOperands(op.operands);
  out_ += ')';
  std::vector<MlirNamedAttr> properties, attrs;
  for (const MlirNamedAttr& attr : op.attrs) (IsProperty(attr) ? properties : attrs).push_back(attr);
  if (!properties.empty()) {
    out_ += " <";
    PrintDictionary(properties);
    out_ += '>';
  }
  for (const MlirRegion& region : op.regions) {
    out_ += &region == op.regions.data() ? " (" : ", ";
    PrintRegion(region, /*with_arguments=*/true);
  }
  if (!op.regions.empty()) out_ += ')';
  if (!attrs.empty()) out_ += ' ';
  PrintDictionary(attrs);
  PrintTypes('F', op);
}

void MlirTextPrinter::PrintDictionary(std::span<const MlirNamedAttr> attrs) {
  if (attrs.empty()) return;
  out_ += '{';
  for (const MlirNamedAttr& attr : attrs) {
    if (&attr != attrs.data()) out_ += ", ";
    bool bare = !attr.name.empty() && !(attr.name[0] >= '0' && attr.name[0] <= '9') && attr.name[0] != '.' && attr.name[0] != '$';
    for (const char c : attr.name) bare &= IsNameChar(c) && c != '-';
    out_ += bare ? std::string(attr.name) : QuotedText(attr.name);
    if (attr.value->kind == MlirAttr::Kind::kUnit) continue;
    out_ += " = ";
    PrintAttr(*attr.value);
  }
  out_ += '}';
}

void MlirTextPrinter::PrintAttr(const MlirAttr& attr) {
  constexpr size_t kLargeConstant = 10;
  if (attr.kind == MlirAttr::Kind::kDictionary && attr.text.empty()) {
    if (attr.fields.empty()) out_ += "{}";
    return PrintDictionary(attr.fields);
  }
  if (attr.kind != MlirAttr::Kind::kDense) {
    out_ += AttrText(attr);
    return;
  }
  const size_t elements = attr.data.size() / static_cast<size_t>(StorageBytes(attr.type->element));
  if (attr.elided || (options_.elide_large_constants && elements > kLargeConstant)) {
    StrAppend(&out_, "dense_resource<__elided__> : ", TypeText(*attr.type));
  } else {
    AppendAttrText(out_, attr);
  }
}

void MlirTextPrinter::PrintOperand(const MlirValue& value) {
  const auto& [name, index] = names_[&value];
  StrAppend(&out_, "%", name);
  if (index >= 0) StrAppend(&out_, "#", index);
}

void MlirTextPrinter::PrintOperands(std::span<MlirValue* const> values) {
  for (MlirValue* const& value : values) {
    if (&value != values.data()) out_ += ", ";
    PrintOperand(*value);
  }
}

// Names are those of the HLO instructions. MLIR's are unique in a function, regions included.
std::string MlirTextPrinter::UniqueName(std::string_view wanted) {
  std::string name;
  for (const char c : wanted) name += IsNameChar(c) ? c : '_';
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || name[0] == '-') name.insert(0, "_");
  if (used_.insert(name).second) return name;
  for (size_t i = 0;; ++i) {
    std::string other = StrCat(name, "_", i);
    if (used_.insert(other).second) return other;
  }
}

void MlirTextPrinter::NameValue(const MlirValue& value) {
  names_[&value] = {UniqueName(value.lowered == nullptr ? "v" : value.lowered->name), -1};
}

void MlirTextPrinter::NameResults(const MlirOp& op) {
  if (op.results.empty()) return;
  const Instruction* hlo = op.results[0].lowered;
  const std::string name = UniqueName(hlo == nullptr ? op.name.substr(op.name.find('.') + 1) : hlo->name);
  const bool several = op.results.size() > 1;
  for (const MlirValue& result : op.results) names_[&result] = {name, several ? int64_t{result.index} : -1};
}

}  // namespace shoal::internal
