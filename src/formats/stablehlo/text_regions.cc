// Regions, blocks, modules and functions in text.
#include <utility>

#include "formats/stablehlo/text_parser.h"
#include "formats/stablehlo/text_reader.h"
#include "formats/text/parser.h"

namespace shoal::internal {

bool MlirTextReader::ReadRegionList(Draft& draft) {
  if (!Expect('(')) return false;
  do {
    MlirRegion region;
    if (!ReadRegion(region, {})) return false;
    draft.regions.push_back(region);
  } while (Eat(','));
  return Expect(')');
}

// { op … ^block(%a: type): op … }
bool MlirTextReader::ReadRegion(MlirRegion& region,
                                std::span<const std::pair<std::string_view, const MlirType*>> arguments) {
  if (!Expect('{')) return false;
  const size_t scope = undo_.size();
  std::vector<MlirBlock> blocks(1);
  std::vector<MlirOp*> ops;
  blocks[0].arguments = module_.arena.NewSpan<MlirValue>(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    MlirValue value;
    value.type = arguments[i].second;
    value.index = static_cast<uint32_t>(i);
    new (&blocks[0].arguments[i]) MlirValue(value);
    if (!arguments[i].first.empty()) Define(arguments[i].first, &blocks[0].arguments[i], 1);
  }
  const Owner owner = std::exchange(owner_, Owner::kOther);
  const int depth = depth_;
  const size_t drafts = draft_depth_;
  if (!ReadBlocks(blocks, ops)) {
    if (!RecoverEnd(owner, ops)) return false;
    depth_ = depth;
    draft_depth_ = drafts;
  }
  blocks.back().ops = module_.arena.Copy(ops);
  CloseScope(scope);
  region.blocks = module_.arena.Copy(blocks);
  return true;
}

bool MlirTextReader::ReadBlocks(std::vector<MlirBlock>& blocks, std::vector<MlirOp*>& ops) {
  while (!Eat('}')) {
    if (at_ == end_ && truncated_) return true;
    if (at_ == end_) return Error("expected '}' at the end of the region");
    if (*at_ == '^') {
      if (!ops.empty()) {
        blocks.back().ops = module_.arena.Copy(ops);
        ops.clear();
        blocks.emplace_back();
      }
      if (!ReadBlockArguments(blocks.back())) return false;
      continue;
    }
    if (*at_ == '#' || *at_ == '!') {
      if (!ReadAliasDefinition()) return false;
      continue;
    }
    MlirOp* op = ReadOp();
    if (op == nullptr) return false;
    ops.push_back(op);
  }
  return true;
}

bool MlirTextReader::RecoverEnd(Owner owner, std::vector<MlirOp*>& ops) {
  if (owner == Owner::kOther || !end_error_ || ops.empty()) return false;
  const bool is_function = owner == Owner::kFunction;
  diags_.Warn(ops.back()->at, kTruncatedRule,
              StrCat("the text is truncated: the ", is_function ? "function" : "module", " ends after this op"));
  end_error_.reset();
  failed_ = false;
  truncated_ = true;
  if (!is_function) return true;
  if (ops.back()->results.empty() && ops.back()->name.ends_with("return")) return true;
  MlirOp* end = module_.arena.New<MlirOp>();
  end->info = FindMlirOp("func.return");
  end->name = end->info->name;
  end->at = ops.back()->at;
  std::vector<MlirValue*> returned;
  for (MlirValue& result : ops.back()->results) returned.push_back(&result);
  end->operands = module_.arena.Copy(returned);
  ops.push_back(end);
  return true;
}

// ^name(%a: type, …):
bool MlirTextReader::ReadBlockArguments(MlirBlock& block) {
  ++at_;
  ReadWord();
  std::vector<std::string_view> names;
  std::vector<MlirValue> arguments;
  if (Eat('(') && !Eat(')')) {
    do {
      std::string_view name;
      const MlirType* type = nullptr;
      const MlirLocation* location = nullptr;
      if (!ReadArgument(&name, &type, nullptr, &location)) return false;
      names.push_back(name);
      MlirValue value;
      value.type = type;
      value.index = static_cast<uint32_t>(arguments.size());
      value.location = location;
      arguments.push_back(value);
    } while (Eat(','));
    if (!Expect(')')) return false;
  }
  if (!Expect(':')) return false;
  if (!names.empty()) {
    block.arguments = module_.arena.Copy(arguments);
    for (size_t i = 0; i < names.size(); ++i) Define(names[i], &block.arguments[i], 1);
  }
  return true;
}

// %name: type {attributes} loc(…)
bool MlirTextReader::ReadArgument(std::string_view* name, const MlirType** type, Attrs* attrs,
                                  const MlirLocation** location) {
  if (!Expect('%')) return false;
  *name = ReadWord();
  if (!Expect(':')) return false;
  *type = ReadType();
  if (*type == nullptr) return false;
  if (attrs != nullptr && !ReadOptionalAttrDict(*attrs)) return false;
  *location = ReadOptionalLocation();
  return !failed_;
}

// chlo.scan(%x, …) inits(%a, …) dimension=0 attributes {…} { ^bb0(…): … } : (types) -> types
bool MlirTextReader::ReadScan(Draft& draft) {
  if (!Expect('(') || !ReadOperandList(draft.operands) || !Expect(')')) return false;
  const auto inputs = static_cast<int64_t>(draft.operands.size());
  if (!Expect("inits") || !Expect('(') || !ReadOperandList(draft.operands) || !Expect(')')) return false;
  int64_t dimension = 0;
  if (!Expect("dimension") || !Expect('=') || !ReadInt(&dimension)) return false;
  draft.attrs.push_back({"dimension", IntAttr(dimension)});
  std::vector<int64_t> segments{inputs, std::ssize(draft.operands) - inputs};
  draft.attrs.push_back({"operandSegmentSizes", IntsAttr(segments)});
  if (EatKeyword("attributes") && !ReadOptionalAttrDict(draft.attrs)) return false;
  MlirRegion region;
  if (!ReadRegion(region, {})) return false;
  draft.regions.push_back(region);
  return ReadTypes('T', draft);
}

// module @name attributes {…} { … }
bool MlirTextReader::ReadModuleOp(Draft& draft) {
  if (Peek() == '@') {
    MlirAttr* name = NewAttr(Kind::kString);
    if (!ReadSymbol(&name->text)) return false;
    draft.attrs.push_back({"sym_name", name});
  }
  if (EatKeyword("attributes") && !ReadOptionalAttrDict(draft.attrs)) return false;
  MlirRegion region;
  owner_ = Owner::kModule;
  if (!ReadRegion(region, {})) return false;
  draft.regions.push_back(region);
  return true;
}

// func.func public @name(%a: type {…}, …) -> (type {…}, …) attributes {…} { … }
bool MlirTextReader::ReadFunction(Draft& draft) {
  for (const std::string_view visibility : {"public", "private", "nested"}) {
    if (!EatKeyword(visibility)) continue;
    MlirAttr* attr = NewAttr(Kind::kString);
    attr->text = visibility;
    draft.attrs.push_back({"sym_visibility", attr});
  }
  MlirAttr* symbol = NewAttr(Kind::kString);
  if (!ReadSymbol(&symbol->text)) return false;
  draft.attrs.push_back({"sym_name", symbol});
  std::vector<std::string_view> names;
  std::vector<MlirValue> arguments;
  std::vector<const MlirAttr*> argument_attrs, result_attrs;
  std::vector<const MlirType*> inputs, results;
  auto dictionary = [&](const Attrs& attrs) {
    MlirAttr* attr = NewAttr(Kind::kDictionary);
    attr->fields = module_.arena.Copy(attrs);
    return attr;
  };
  if (!Expect('(')) return false;
  if (!Eat(')')) {
    do {
      Attrs attrs;
      MlirValue value;
      std::string_view name;
      if (Peek() == '%') {
        if (!ReadArgument(&name, &value.type, &attrs, &value.location)) return false;
      } else {  // a declaration
        value.type = ReadType();
        if (value.type == nullptr || !ReadOptionalAttrDict(attrs)) return false;
      }
      value.index = static_cast<uint32_t>(arguments.size());
      names.push_back(name);
      arguments.push_back(value);
      inputs.push_back(value.type);
      argument_attrs.push_back(dictionary(attrs));
    } while (Eat(','));
    if (!Expect(')')) return false;
  }
  if (Eat("->")) {
    auto read_result = [&] {
      Attrs attrs;
      results.push_back(ReadType());
      if (results.back() == nullptr || !ReadOptionalAttrDict(attrs)) return false;
      result_attrs.push_back(dictionary(attrs));
      return true;
    };
    if (!Eat('(')) {
      results.push_back(ReadType());
      if (results.back() == nullptr) return false;
      result_attrs.push_back(dictionary({}));
    } else if (!Eat(')')) {
      do {
        if (!read_result()) return false;
      } while (Eat(','));
      if (!Expect(')')) return false;
    }
  }
  if (EatKeyword("attributes") && !ReadOptionalAttrDict(draft.attrs)) return false;
  auto array = [&](std::string_view name, std::vector<const MlirAttr*>& elements) {
    MlirAttr* attr = NewAttr(Kind::kArray);
    attr->elements = module_.arena.Copy(elements);
    draft.attrs.push_back({name, attr});
  };
  array("arg_attrs", argument_attrs);
  array("res_attrs", result_attrs);
  MlirType* type = NewType(MlirType::Kind::kFunction);
  type->elements = module_.arena.Copy(inputs);
  type->results = module_.arena.Copy(results);
  MlirAttr* type_attr = NewAttr(Kind::kType);
  type_attr->type = type;
  draft.attrs.push_back({"function_type", type_attr});

  MlirRegion region;
  if (Peek() == '{') {
    const size_t scope = undo_.size();
    const std::span<MlirValue> values = module_.arena.Copy(arguments);
    for (size_t i = 0; i < names.size(); ++i) Define(names[i], &values[i], 1);
    owner_ = Owner::kFunction;
    if (!ReadRegion(region, {})) return false;
    CloseScope(scope);
    if (region.blocks[0].arguments.empty()) region.blocks[0].arguments = values;
  }
  draft.regions.push_back(region);
  return true;
}

}  // namespace shoal::internal
