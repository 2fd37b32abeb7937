// Reads the line HloModule name, attribute=value, … and the stack frame tables after it.
#include <algorithm>

#include "formats/text/header_reader.h"

namespace shoal::internal {

bool HeaderReader::ReadHeader() {
  lexer_.Next();  // HloModule
  if (!ReadName(&module_.name)) return false;
  absl::flat_hash_set<std::string_view> seen;
  while (Eat(Tok::kComma)) {
    TextSpan at = token().span();
    std::string_view name;
    if (!ReadAttrName(&name)) return false;
    if (!seen.insert(name).second) return Error(at, StrCat("duplicate attribute ", name));
    if (!ReadHeaderAttr(name, at)) return false;
  }
  return true;
}

bool HeaderReader::ReadHeaderAttr(std::string_view name, TextSpan at) {
  if (name == "is_scheduled") return ReadBool(&module_.is_scheduled);
  if (name == "replica_count") return ReadInt(&module_.replica_count);
  if (name == "num_partitions") return ReadInt(&module_.num_partitions);
  if (name == "input_output_alias") return ReadAliasing();
  if (name == "buffer_donor") return ReadBufferDonors();
  if (name == "alias_passthrough_params") return ReadBool(&module_.alias_passthrough_params);
  if (name == "entry_computation_layout") return ReadEntryLayout();
  if (name == "frontend_attributes") return ReadFrontendAttributes(&module_.frontend_attributes);
  if (name == "allow_spmd_sharding_propagation_to_parameters")
    return ReadBools(&module_.allow_spmd_sharding_propagation_to_parameters);
  if (name == "allow_spmd_sharding_propagation_to_output")
    return ReadBools(&module_.allow_spmd_sharding_propagation_to_output);
  if (name == "origin_recovery_table") return ReadOriginRecoveryTable();
  if (name == "debug_attributes") return ReadDebugAttributes();
  if (!TolerateDeviation(at, "loose.attribute", StrCat("HloModule has no attribute ", name))) return false;
  std::vector<NamedAttr> unknown;
  if (!ReadUnknownAttr(name, at, unknown)) return false;
  module_.unknown_attributes.push_back(std::get<RawText>(unknown[0].value).text);
  return true;
}

// { {0}: (1, {}, may-alias), … }
bool HeaderReader::ReadAliasing() {
  aliases_at_ = token().span();
  if (!Expect(Tok::kLbrace, "'{' before the aliases")) return false;
  while (kind() != Tok::kRbrace) {
    InputOutputAlias alias;
    Ints output, parameter;
    TextSpan at = token().span();
    if (!ReadShapeIndex(&output) || !Expect(Tok::kColon, "':' after the output index") ||
        !Expect(Tok::kLparen, "'(' before the parameter number") || !ReadInt(&alias.parameter) ||
        !Expect(Tok::kComma, "',' after the parameter number") || !ReadShapeIndex(&parameter))
      return false;
    if (alias.parameter < 0) return Error(at, StrCat("parameter number must not be negative, got ", alias.parameter));
    alias.output_index.assign(output.begin(), output.end());
    alias.parameter_index.assign(parameter.begin(), parameter.end());
    if (Eat(Tok::kComma)) {
      std::string_view alias_kind;
      if (!ReadName(&alias_kind)) return false;
      if (alias_kind != "must-alias" && alias_kind != "may-alias") return ErrorHere("expected may-alias or must-alias");
      alias.kind = alias_kind == "must-alias" ? AliasKind::kMust : AliasKind::kMay;
    }
    if (!Expect(Tok::kRparen, "')' after the alias")) return false;
    auto& all = module_.input_output_alias;
    auto position = std::lower_bound(all.begin(), all.end(), alias.output_index,
                                     [](const InputOutputAlias& a, const ShapeIndex& b) { return a.output_index < b; });
    // The first of several aliases for an output is used.
    if (position == all.end() || position->output_index != alias.output_index) all.insert(position, std::move(alias));
    if (!Eat(Tok::kComma)) break;
  }
  return Expect(Tok::kRbrace, "'}' after the aliases");
}

// { (0, {}), (1, {0}) }
bool HeaderReader::ReadBufferDonors() {
  if (!Expect(Tok::kLbrace, "'{' before the buffer donors")) return false;
  while (kind() != Tok::kRbrace) {
    BufferDonor donor;
    Ints index;
    TextSpan at = token().span();
    if (!Expect(Tok::kLparen, "'(' before the parameter number") || !ReadInt(&donor.parameter) ||
        !Expect(Tok::kComma, "',' after the parameter number") || !ReadShapeIndex(&index) ||
        !Expect(Tok::kRparen, "')' after the buffer donor"))
      return false;
    if (donor.parameter < 0) return Error(at, StrCat("parameter number must not be negative, got ", donor.parameter));
    donor.parameter_index.assign(index.begin(), index.end());
    auto& all = module_.buffer_donors;
    auto position = std::lower_bound(all.begin(), all.end(), donor);
    if (position == all.end() || donor < *position) all.insert(position, std::move(donor));
    if (!Eat(Tok::kComma)) break;
  }
  return Expect(Tok::kRbrace, "'}' after the buffer donors");
}

// {(f32[2]{0}, s32[])->f32[2]{0}}
bool HeaderReader::ReadEntryLayout() {
  EntryLayout layout;
  if (!Expect(Tok::kLbrace, "'{' before the entry layout")) return false;
  if (!Expect(Tok::kLparen, "'(' before the parameter shapes")) return false;
  while (kind() != Tok::kRparen) {
    const Shape* parameter = ReadShape();
    if (parameter == nullptr) return false;
    layout.parameters.push_back(parameter);
    if (kind() != Tok::kRparen && !Expect(Tok::kComma, "',' between parameter shapes")) return false;
  }
  lexer_.Next();
  if (!Expect(Tok::kArrow, "'->' before the result shape")) return false;
  layout.result = ReadShape();
  if (layout.result == nullptr || !Expect(Tok::kRbrace, "'}' after the entry layout")) return false;
  module_.entry_layout = std::move(layout);
  return true;
}

// true, or {true,false}
bool HeaderReader::ReadBools(std::vector<bool>* bools) {
  std::vector<bool> read;
  auto read_one = [&] {
    bool value = false;
    if (!ReadBool(&value)) return false;
    read.push_back(value);
    return true;
  };
  bool good = kind() == Tok::kLbrace ? ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, read_one) : read_one();
  if (good && !read.empty()) *bools = std::move(read);
  return good;
}

// { {"a"} : {"b"}, "HloModule …" }
bool HeaderReader::ReadOriginRecoveryTable() {
  if (!Expect(Tok::kLbrace, "'{' before the recovery table")) return false;
  while (kind() != Tok::kRbrace) {
    OriginRecovery entry;
    if (!ReadOriginalArray(&entry.replaced) || !Expect(Tok::kColon, "':' between original arrays") ||
        !ReadOriginalArray(&entry.replacing))
      return false;
    if (Eat(Tok::kComma)) {
      TextSpan at = token().span();
      std::string_view text;
      if (!ReadString(&text)) return false;
      Depth depth(*this);
      auto inner = Source::FromString("origin_recovery_table", std::string(text));
      Diags found;
      entry.module = depth_ > 8 ? nullptr : ParseModule(inner, options_, found);
      if (entry.module == nullptr) return Error(at, "the recovery module cannot be read");
    }
    auto& all = module_.origin_recovery;
    auto same = [&](const OriginRecovery& other) { return other.replaced == entry.replaced; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(entry));
  }
  lexer_.Next();
  std::sort(module_.origin_recovery.begin(), module_.origin_recovery.end(),
            [](const OriginRecovery& a, const OriginRecovery& b) { return a.replaced < b.replaced; });
  return true;
}

// {{"a"}:({log_mode=default,op_id=1},{…}), …}
bool HeaderReader::ReadDebugAttributes() {
  auto read_entry = [&] {
    DebugAttributesEntry entry;
    if (!ReadOriginalArray(&entry.array) || !Expect(Tok::kColon, "':' before the debug attributes")) return false;
    auto read_one = [&] {
      entry.attributes.emplace_back();
      return ReadDebugAttributesOf(&entry.attributes.back());
    };
    bool good = kind() == Tok::kLparen ? ReadList(Tok::kLparen, Tok::kRparen, Tok::kComma, read_one) : read_one();
    if (!good) return false;
    auto& all = module_.debug_attributes;
    auto same = std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.array == entry.array; });
    if (same != all.end()) {
      same->attributes = std::move(entry.attributes);
    } else {
      all.push_back(std::move(entry));
    }
    return true;
  };
  if (!ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, read_entry)) return false;
  std::sort(module_.debug_attributes.begin(), module_.debug_attributes.end(),
            [](const auto& a, const auto& b) { return a.array < b.array; });
  return true;
}

bool HeaderReader::ReadDebugAttributesOf(DebugAttributes* attributes) {
  if (!Expect(Tok::kLbrace, "'{' before debug attributes")) return false;
  do {
    std::string_view name, mode;
    if (!ReadAttrName(&name)) return false;
    bool good = true;
    if (name == "log_mode") {
      if (!ReadName(&mode)) return false;
      if (mode != "default" && mode != "fusion_debugger") return ErrorHere("expected default or fusion_debugger");
      attributes->log_mode =
          mode == "default" ? DebugAttributes::LogMode::kDefault : DebugAttributes::LogMode::kFusionDebugger;
    } else if (name == "callback_id") {
      good = ReadInt(&attributes->callback_id);
    } else if (name == "partitioned") {
      good = ReadBool(&attributes->partitioned);
    } else if (name == "op_id") {
      good = ReadInt(&attributes->op_id);
    } else {
      good = ErrorHere(StrCat("unknown debug attribute ", name, "; known: log_mode, callback_id, partitioned, op_id"));
    }
    if (!good) return false;
  } while (Eat(Tok::kComma));
  return Expect(Tok::kRbrace, "'}' after debug attributes");
}

namespace {

// A field of {line=3 column=1 …}. The fields may be in any order; all of them are required.
struct TableField {
  std::string_view name;
  int32_t* value;
};

}  // namespace

// Reads the tables FileNames, FunctionNames, FileLocations and StackFrames, which consist of rows "1 …".
bool HeaderReader::ReadStackFrameTables() {
  if (!token().Is(Word::kFileNames)) return true;
  lexer_.Next();
  auto expect_word = [&](Word word, const char* name) {
    if (!token().Is(word)) return ErrorHere(StrCat("expected the table ", name));
    lexer_.Next();
    return true;
  };
  auto read_names = [&](std::span<const std::string_view>* names) {
    std::vector<std::string_view> read;
    while (Eat(Tok::kInt)) {
      read.emplace_back();
      if (!ReadString(&read.back())) return false;
    }
    *names = module_.arena.Copy(read);
    return true;
  };
  auto read_fields = [&](std::span<const TableField> fields) {
    size_t seen = 0;
    if (!Expect(Tok::kLbrace, "'{' before the row")) return false;
    while (kind() != Tok::kRbrace) {
      Eat(Tok::kComma);
      std::string_view name;
      if (!ReadAttrName(&name)) return false;
      auto field = std::find_if(fields.begin(), fields.end(), [&](const TableField& f) { return f.name == name; });
      if (field == fields.end()) return ErrorHere(StrCat("unknown field ", name, " in a table row"));
      if (!ReadInt32(field->value)) return false;
      ++seen;
    }
    if (seen < fields.size()) return ErrorHere(StrCat("this row lacks some of its ", fields.size(), " fields"));
    lexer_.Next();
    return true;
  };

  StackFrames& tables = module_.stack_frames;
  if (!read_names(&tables.file_names)) return false;
  if (!expect_word(Word::kFunctionNames, "FunctionNames") || !read_names(&tables.function_names)) return false;
  if (!expect_word(Word::kFileLocations, "FileLocations")) return false;
  std::vector<StackFrames::Location> locations;
  while (Eat(Tok::kInt)) {
    StackFrames::Location row;
    const TableField fields[] = {{"file_name_id", &row.file_name_id},
                                 {"function_name_id", &row.function_name_id},
                                 {"line", &row.line},
                                 {"end_line", &row.end_line},
                                 {"column", &row.column},
                                 {"end_column", &row.end_column}};
    if (!read_fields(fields)) return false;
    locations.push_back(row);
  }
  if (!expect_word(Word::kStackFrames, "StackFrames")) return false;
  std::vector<StackFrames::Frame> frames;
  while (Eat(Tok::kInt)) {
    StackFrames::Frame row;
    const TableField fields[] = {{"file_location_id", &row.file_location_id},
                                 {"parent_frame_id", &row.parent_frame_id}};
    if (!read_fields(fields)) return false;
    row.parent_frame_id =
        static_cast<int32_t>(int64_t{row.parent_frame_id} - 1);  // in the text, 1 is "no parent", 2 is frame 1
    frames.push_back(row);
  }
  tables.locations = module_.arena.Copy(locations);
  tables.frames = module_.arena.Copy(frames);
  return true;
}

}  // namespace shoal::internal
