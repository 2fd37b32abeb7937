// Ops, regions, functions, and the file as a whole.
#include "formats/stablehlo/text_parser.h"
#include "formats/stablehlo/text_reader.h"

namespace shoal::internal {

std::unique_ptr<MlirModule> ParseMlirText(std::string_view text, Diags& diags, bool loose) {
  auto module = std::make_unique<MlirModule>();
  MlirTextReader reader(text, *module, diags, loose);
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
      if (ReadAliasDefinition()) continue;
      if (!RecoverEnd(Owner::kModule, ops)) return ReportEnd();
      break;
    } else if (At("{-#")) {
      if (!ReadResources()) return ReportEnd();
    } else {
      MlirOp* op = ReadOp();
      if (op == nullptr) return ReportEnd();
      ops.push_back(op);
    }
  }
  if (ops.empty()) return Error("the text has no module") || ReportEnd();
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
    if (!Define(name, op->results.data() + next, size)) return nullptr;
    next += size;
  }
  if (!names.empty() && next != op->results.size()) {
    ErrorAt(draft.start, StrCat("the op has ", op->results.size(), " results, but ", next, " are named"));
    return nullptr;
  }
  return op;
}

bool MlirTextReader::Define(std::string_view name, MlirValue* values, size_t count) {
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

}  // namespace shoal::internal
