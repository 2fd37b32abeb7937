// Reads attribute values, with one function per kind. The op table lists the attributes of each op. Kinds with a larger
// grammar are in compound_attr_reader.cc, window_attr_reader.cc and sharding_reader.cc.
#include <algorithm>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "core/ops/elementwise.h"
#include "formats/text/attr_reader.h"

namespace shoal::internal {

// The brackets of a complete text are balanced, so it is not a part of a longer one. A text with a diagnostic is read
// again each time, because every occurrence must be reported.
template <class T, class Read>
bool AttrReader::ReadShared(RecentValues<T>& recent, Read read, AttrValue* value) {
  const uint32_t start = token().offset;
  const std::string_view rest = lexer_.text().substr(start);
  for (const auto& entry : recent.entries) {
    if (entry.value == nullptr || !rest.starts_with(entry.text)) continue;
    *value = entry.value;
    lexer_.Seek(start + static_cast<uint32_t>(entry.text.size()));
    return true;
  }
  const int reported = diags_.errors() + diags_.warnings();
  T* made = module_.arena.New<T>();
  if (!read(made)) return false;
  *value = static_cast<const T*>(made);
  if (diags_.errors() + diags_.warnings() == reported) {
    recent.entries[recent.next] = {rest.substr(0, lexer_.previous_end() - start), made};
    recent.next = (recent.next + 1) % recent.entries.size();
  }
  return true;
}

bool AttrReader::ReadAttrValue(const AttrDef& def, AttrValue* value) {
  switch (def.kind) {
    case AttrKind::kBool: {
      bool read = false;
      if (!ReadBool(&read)) return false;
      *value = read;
      return true;
    }
    case AttrKind::kInt: {
      int64_t read = 0;
      if (!ReadInt(&read)) return false;
      *value = read;
      return true;
    }
    case AttrKind::kInt32: {
      int32_t read = 0;
      if (!ReadInt32(&read)) return false;
      *value = int64_t{read};
      return true;
    }
    case AttrKind::kFloat: {
      TextSpan at = token().span();
      double read = 0;
      if (!ReadDouble(&read)) return false;
      if (read > std::numeric_limits<float>::max() || read < std::numeric_limits<float>::lowest())
        return Error(at, StrCat(read, " is out of the range of a float"));
      *value = static_cast<double>(static_cast<float>(read));
      return true;
    }
    case AttrKind::kString:
    case AttrKind::kStringOrJson: {
      std::string_view read;
      if (!(def.kind == AttrKind::kString ? ReadString(&read) : ReadStringOrJson(&read))) return false;
      *value = read;
      return true;
    }
    case AttrKind::kInts: {
      Ints read;
      if (!ReadInts(&read)) return false;
      *value = read;
      return true;
    }
    case AttrKind::kComputation: {
      Computation* read = nullptr;
      if (!ReadCalledComputation(&read)) return false;
      *value = read;
      return true;
    }
    case AttrKind::kSharding:
      return ReadShared(shardings_, [&](Sharding* made) { return ReadSharding(made); }, value);
    case AttrKind::kFrontendAttributes: {
      std::span<const FrontendAttribute> read;
      if (!ReadFrontendAttributes(&read)) return false;
      *value = read;
      return true;
    }
    case AttrKind::kMetadata:
      return ReadShared(metadata_, [&](Metadata* made) { return ReadMetadata(made); }, value);
    case AttrKind::kShape: {
      const Shape* read = ReadShape();
      *value = read;
      return read != nullptr;
    }
    case AttrKind::kLiteral: {
      const Literal* read = ReadLiteralWithShape();
      *value = read;
      return read != nullptr;
    }
    case AttrKind::kEnum:
      return ReadEnum(def, value);
    case AttrKind::kEnumList:
      return ReadEnumList(def, value);
    case AttrKind::kIntLists:
      return ReadIntLists(value);
    case AttrKind::kComputations:
      return ReadComputations(value);
    case AttrKind::kInstructions:
      return ReadInstructionNames(value);
    case AttrKind::kWindow:
      return ReadWindow(value);
    case AttrKind::kConvDims:
      return ReadDimLabels(value);
    case AttrKind::kSliceRanges:
      return ReadSliceRanges(value);
    case AttrKind::kPadding:
      return ReadPadding(value);
    case AttrKind::kReplicaGroups:
      return ReadReplicaGroups(value);
    case AttrKind::kStatistics:
      return ReadStatistics(value);
    case AttrKind::kBools:
      return ReadBoolSpan(value);
    case AttrKind::kDomain:
      return ReadDomain(value);
    case AttrKind::kShapes:
      return ReadShapes(value);
    case AttrKind::kResultAccuracy:
      return ReadResultAccuracy(value);
    case AttrKind::kAliasing:
      return ReadOutputOperandAliasing(value);
    case AttrKind::kOriginalValue:
      return ReadOriginalValue(value);
    case AttrKind::kSparsity:
      return ReadSparsity(value);
  }
  return false;
}

// Enum names that are all lower-case are matched without regard to case.
bool AttrReader::ReadEnum(const AttrDef& def, AttrValue* value) {
  auto same = [](std::string_view name, std::string_view text) {
    if (name == text) return true;
    auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(name.begin(), name.end(), text.begin(), text.end(),
                      [&](char a, char b) { return a == lower(b); });
  };
  if (kind() == Tok::kIdent) {
    for (size_t i = 0; i < def.enum_names.size(); ++i) {
      if (!same(def.enum_names[i], token().text)) continue;
      *value = EnumValue{static_cast<uint8_t>(i)};
      lexer_.Next();
      return true;
    }
  }
  return ErrorHere(
      StrCat(def.name, " must be one of ", StrJoin(def.enum_names, ", "), "; found ", token().text.substr(0, 40)));
}

bool AttrReader::ReadEnumList(const AttrDef& def, AttrValue* value) {
  std::vector<EnumValue> values;
  AttrValue one;
  bool good = ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, [&] {
    if (!ReadEnum(def, &one)) return false;
    values.push_back(std::get<EnumValue>(one));
    return true;
  });
  *value = EnumList(module_.arena.Copy(values));
  return good;
}

// {{0,1},{1,2}}
bool AttrReader::ReadIntLists(AttrValue* value) {
  std::vector<Ints> lists;
  bool good = ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, [&] {
    lists.emplace_back();
    return ReadInts(&lists.back());
  });
  *value = IntLists(module_.arena.Copy(lists));
  return good;
}

bool AttrReader::ReadComputations(AttrValue* value) {
  std::vector<Computation*> computations;
  bool good = ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, [&] {
    computations.emplace_back();
    return ReadCalledComputation(&computations.back());
  });
  *value = Computations(module_.arena.Copy(computations));
  return good;
}

// {visualizing_index=0,count=3.5}
bool AttrReader::ReadStatistics(AttrValue* value) {
  Statistics* statistics = module_.arena.New<Statistics>();
  std::vector<Statistic> values;
  std::string_view name;
  if (!Expect(Tok::kLbrace, "'{' before statistics")) return false;
  if (kind() != Tok::kRbrace) {
    if (!ReadAttrName(&name) || !ReadInt(&statistics->visualizing_index)) return false;
    while (Eat(Tok::kComma)) {
      Statistic one;
      if (!ReadAttrName(&one.name)) return false;
      if (kind() != Tok::kDecimal && kind() != Tok::kInt) return ErrorHere("expected a number");
      one.value = kind() == Tok::kDecimal ? token().decimal : static_cast<double>(token().integer);
      lexer_.Next();
      values.push_back(one);
    }
  }
  statistics->values = module_.arena.Copy(values);
  *value = static_cast<const Statistics*>(statistics);
  return Expect(Tok::kRbrace, "'}' after statistics");
}

bool AttrReader::ReadBoolSpan(AttrValue* value) {
  absl::InlinedVector<bool, 16> bools;
  bool good = ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, [&] {
    bools.emplace_back();
    return ReadBool(&bools.back());
  });
  *value = std::span<const bool>(module_.arena.Copy(std::span<const bool>(bools.data(), bools.size())));
  return good;
}

// {mode=highest} or {tolerance={atol=…,rtol=…,ulps=…}}
bool AttrReader::ReadResultAccuracy(AttrValue* value) {
  ResultAccuracy* accuracy = module_.arena.New<ResultAccuracy>();
  *value = static_cast<const ResultAccuracy*>(accuracy);
  std::string_view name;
  if (!Expect(Tok::kLbrace, "'{' before the result accuracy") || !ReadAttrName(&name)) return false;
  if (name == "mode") {
    AttrDef def;
    def.name = "mode";
    def.enum_names = kResultAccuracyModes;
    AttrValue mode;
    if (!ReadEnum(def, &mode)) return false;
    accuracy->mode = std::get<EnumValue>(mode).index;
  } else if (name == "tolerance") {
    accuracy->has_tolerance = true;
    bool good = ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, [&] {
      double number = 0;
      if (!ReadAttrName(&name)) return false;
      if (name != "atol" && name != "rtol" && name != "ulps") return ErrorHere("expected atol, rtol or ulps");
      if (!ReadDouble(&number)) return false;
      if (name == "atol") accuracy->atol = number;
      if (name == "rtol") accuracy->rtol = number;
      if (name == "ulps") accuracy->ulps = static_cast<int64_t>(std::clamp(number, -9e18, 9e18));
      return true;
    });
    if (!good) return false;
  } else {
    return ErrorHere("expected mode or tolerance");
  }
  return Expect(Tok::kRbrace, "'}' after the result accuracy");
}

// Stores `name=value` unchanged, up to the first comma or line end that is not inside brackets or a string.
bool AttrReader::ReadUnknownAttr(std::string_view name, TextSpan at, std::vector<NamedAttr>& attrs) {
  int depth = 0;
  uint32_t end = lexer_.previous_end();
  std::string_view text = lexer_.text();
  while (kind() != Tok::kEof) {
    if (depth == 0 &&
        (kind() == Tok::kComma || text.substr(end, token().offset - end).find('\n') != std::string_view::npos))
      break;
    if (kind() == Tok::kLbrace || kind() == Tok::kLparen || kind() == Tok::kLsquare) ++depth;
    if (kind() == Tok::kRbrace || kind() == Tok::kRparen || kind() == Tok::kRsquare) {
      if (depth == 0) break;
      --depth;
    }
    end = token().end;
    lexer_.Next();
  }
  if (depth != 0) return Error(at, StrCat("attribute ", name, " has an unclosed bracket"));
  attrs.push_back({AttrId(name), RawText{text.substr(at.offset, end - at.offset)}});
  return true;
}

}  // namespace shoal::internal
