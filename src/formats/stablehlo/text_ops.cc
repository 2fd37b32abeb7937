// Ops, regions, functions, and the file as a whole.
#include "formats/stablehlo/text_parser.h"
#include "formats/stablehlo/text_reader.h"

namespace shoal::internal {

std::unique_ptr<MlirModule> ParseMlirText(std::string_view text, Diags& diags) {
  auto module = std::make_unique<MlirModule>();
  MlirTextReader reader(text, *module, diags);
  return reader.ReadModule() ? std::move(module) : nullptr;
}

void MlirTextReader::Draft::Clear() {
  name = {};
  info = nullptr;
  operands.clear();
  attrs.clear();
  operand_types.clear();
  result_types.clear();
  regions.clear();
  has_types = false;
}

// A file has one module, or the ops of a module that is not written.
bool MlirTextReader::ReadModule() {
  std::vector<MlirOp*> ops;
  while (Peek() != '\0' || at_ != end_) {
    if (*at_ == '#' || *at_ == '!') {
      if (!ReadAliasDefinition()) return false;
    } else if (At("{-#")) {
      if (!ReadResources()) return false;
    } else {
      MlirOp* op = ReadOp();
      if (op == nullptr) return false;
      ops.push_back(op);
    }
  }
  if (ops.empty()) return Error("the text has no module");
  if (ops.size() == 1 && ops[0]->name == "builtin.module") {
    module_.op = ops[0];
    return true;
  }
  module_.op = module_.arena.New<MlirOp>();
  module_.op->name = "builtin.module";
  module_.op->at = ops[0]->at;
  module_.op->info = FindMlirOp(module_.op->name);
  module_.op->regions = module_.arena.NewSpan<MlirRegion>(1);
  const std::span<MlirBlock> blocks = module_.arena.NewSpan<MlirBlock>(1);
  blocks[0] = MlirBlock{{}, module_.arena.Copy(ops)};
  module_.op->regions[0] = MlirRegion{blocks};
  return true;
}

// #name = attribute, #loc1 = loc(…), !name = type
bool MlirTextReader::ReadAliasDefinition() {
  const bool is_type = *at_ == '!';
  ++at_;
  const std::string_view name = ReadBareName();
  if (name.empty() || !Expect('=')) return Error("expected the definition of an alias, #name = …");
  if (is_type) {
    const MlirType* type = ReadType();
    type_aliases_[name] = type;
    return type != nullptr;
  }
  if (At("loc(")) {
    const MlirLocation* location = ReadLocation();
    if (location == nullptr) return false;
    *const_cast<MlirLocation*>(LocationAlias(name)) = *location;
    return true;
  }
  const MlirAttr* attr = ReadAttr();
  attr_aliases_[name] = attr;
  return attr != nullptr;
}

MlirTextReader::Draft& MlirTextReader::TakeDraft() {
  if (draft_depth_ == drafts_.size()) drafts_.push_back(std::make_unique<Draft>());
  Draft& draft = *drafts_[draft_depth_++];
  draft.Clear();
  return draft;
}

// op ::= (%name (':' count)? ',' …  '=')? (generic form | pretty form) loc?
MlirOp* MlirTextReader::ReadOp() {
  if (++depth_ > kMaxDepth) {
    Error("ops are nested too deeply");
    return nullptr;
  }
  std::pair<std::string_view, int64_t> inline_names[4];
  std::vector<std::pair<std::string_view, int64_t>> more_names;
  size_t name_count = 0;
  SkipSpace();
  Draft& draft = TakeDraft();
  MlirOp* op = nullptr;
  auto read = [&] {
    if (Peek() == '%') {
      do {
        if (!Expect('%')) return false;
        std::pair<std::string_view, int64_t> name{ReadWord(), 1};
        if (name.first.empty()) return Error("expected a name after '%'");
        if (at_ != end_ && *at_ == ':') {
          ++at_;
          if (!ReadInt(&name.second)) return false;
          if (name.second < 1 || name.second > (1 << 24)) return Error("the number of results is out of range");
        }
        if (name_count < 4) inline_names[name_count] = name;
        if (name_count == 4) more_names.assign(inline_names, inline_names + 4);
        if (name_count >= 4) more_names.push_back(name);
        ++name_count;
      } while (Eat(','));
      if (!Expect('=')) return false;
    }
    SkipSpace();
    draft.start = at_;
    if (Peek() == '"') {
      if (!ReadString(&draft.name)) return false;
      draft.info = FindMlirOp(draft.name);
      if (draft.info != nullptr) draft.name = draft.info->name;
      return ReadGenericOp(draft);
    }
    draft.name = ReadWord();
    if (draft.name.empty()) return Error("expected an op");
    draft.info = FindMlirOp(draft.name);
    if (draft.info == nullptr && draft.name.find('.') == draft.name.npos) {
      // Functions and modules may omit their dialect.
      std::string full = StrCat("func.", draft.name);
      draft.info = FindMlirOp(full);
      if (draft.info == nullptr) draft.info = FindMlirOp(StrCat("builtin.", draft.name));
    }
    if (draft.info != nullptr) draft.name = draft.info->name;
    return ReadPrettyOp(draft);
  };
  if (read()) {
    op = Finish(draft, more_names.empty() ? std::span(inline_names, name_count) : std::span(more_names));
  }
  --draft_depth_;
  --depth_;
  return op;
}

MlirOp* MlirTextReader::Finish(Draft& draft, std::span<const std::pair<std::string_view, int64_t>> names) {
  if (draft.has_types && draft.operand_types.size() != draft.operands.size()) {
    ErrorAt(draft.start, StrCat("the op has ", draft.operands.size(), " operands, but types for ",
                                draft.operand_types.size()));
    return nullptr;
  }
  MlirOp* op = module_.arena.New<MlirOp>();
  op->name = draft.name;
  op->info = draft.info;
  op->at = {static_cast<uint32_t>(draft.start - begin_), static_cast<uint32_t>(draft.name.size())};
  op->operands = module_.arena.Copy(draft.operands);
  op->attrs = module_.arena.Copy(draft.attrs);
  op->regions = module_.arena.Copy(draft.regions);
  op->results = module_.arena.NewSpan<MlirValue>(draft.result_types.size());
  for (size_t i = 0; i < op->results.size(); ++i) {
    MlirValue value;
    value.type = draft.result_types[i];
    value.owner = op;
    value.index = static_cast<uint32_t>(i);
    new (&op->results[i]) MlirValue(value);
  }
  op->location = ReadOptionalLocation();
  if (failed_) return nullptr;
  size_t next = 0;
  for (const auto& [name, count] : names) {
    const auto size = static_cast<size_t>(count);
    if (next + size > op->results.size()) {
      ErrorAt(draft.start, StrCat("the op has ", op->results.size(), " results, but more are named"));
      return nullptr;
    }
    if (!Define(name, op->results.data() + next, size, draft.start)) return nullptr;
    next += size;
  }
  if (!names.empty() && next != op->results.size()) {
    ErrorAt(draft.start, StrCat("the op has ", op->results.size(), " results, but ", next, " are named"));
    return nullptr;
  }
  return op;
}

bool MlirTextReader::Define(std::string_view name, MlirValue* values, size_t count, const char*) {
  auto [entry, is_new] = names_.try_emplace(name, Named{values, count});
  undo_.push_back({name, is_new ? Named{} : entry->second});
  entry->second = {values, count};
  return true;
}

// Restores the names that were visible before a region.
void MlirTextReader::CloseScope(size_t size) {
  while (undo_.size() > size) {
    const Undo& undo = undo_.back();
    if (undo.before.values == nullptr) {
      names_.erase(undo.name);
    } else {
      names_[undo.name] = undo.before;
    }
    undo_.pop_back();
  }
}

// %name or %name#index
bool MlirTextReader::ReadOperand(Values& operands) {
  if (Peek() != '%') return Error("expected an operand, %name");
  const char* const start = at_++;
  const std::string_view name = ReadWord();
  const auto found = names_.find(name);
  if (found == names_.end()) return ErrorAt(start + 1, StrCat("%", name, " is not defined"));
  int64_t index = 0;
  if (at_ != end_ && *at_ == '#') {
    ++at_;
    if (!ReadInt(&index)) return false;
  }
  if (index < 0 || index >= static_cast<int64_t>(found->second.count))
    return ErrorAt(start, StrCat("%", name, " has ", found->second.count, " values, so it has no value ", index));
  operands.push_back(found->second.values + index);
  return true;
}

// %a, %b, … or nothing
bool MlirTextReader::ReadOperandList(Values& operands) {
  if (Peek() != '%') return true;
  do {
    if (!ReadOperand(operands)) return false;
  } while (Eat(','));
  return true;
}

// "name"(operands)[successors]<{properties}>({regions}){attributes} : (types) -> types
bool MlirTextReader::ReadGenericOp(Draft& draft) {
  if (!Expect('(') || !ReadOperandList(draft.operands) || !Expect(')')) return false;
  if (Peek() == '[') {  // successor blocks
    std::string_view ignored;
    if (!ReadBalanced(&ignored)) return false;
  }
  if (Eat('<')) {
    if (!Expect('{') || !ReadDictionary(draft.attrs, '}') || !Expect('>')) return false;
  }
  if (Peek() == '(' && !ReadRegionList(draft)) return false;
  if (!ReadOptionalAttrDict(draft.attrs)) return false;
  return ReadTypes('T', draft);
}

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
    if (!arguments[i].first.empty()) Define(arguments[i].first, &blocks[0].arguments[i], 1, at_);
  }
  while (!Eat('}')) {
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
  blocks.back().ops = module_.arena.Copy(ops);
  CloseScope(scope);
  region.blocks = module_.arena.Copy(blocks);
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
    for (size_t i = 0; i < names.size(); ++i) Define(names[i], &block.arguments[i], 1, at_);
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

// module @name attributes {…} { … }
bool MlirTextReader::ReadModuleOp(Draft& draft) {
  if (Peek() == '@') {
    MlirAttr* name = NewAttr(Kind::kString);
    if (!ReadSymbol(&name->text)) return false;
    draft.attrs.push_back({"sym_name", name});
  }
  if (EatKeyword("attributes") && !ReadOptionalAttrDict(draft.attrs)) return false;
  MlirRegion region;
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
    for (size_t i = 0; i < names.size(); ++i) Define(names[i], &values[i], 1, at_);
    if (!ReadRegion(region, {})) return false;
    CloseScope(scope);
    if (region.blocks[0].arguments.empty()) region.blocks[0].arguments = values;
  }
  draft.regions.push_back(region);
  return true;
}

}  // namespace shoal::internal
