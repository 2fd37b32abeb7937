// The pretty syntax of the ops, for reading and printing (print_text.cc). A row of the table is a list of tokens:
//   o operand   O list of operands   A operands with a comma after each   D attribute dictionary
//   T one type for the operands and the result, or (types) -> types   F (types) -> types   N types -> types
//   S the types of select   P one type per operand and result   L types of operands   C complex   U tuple
//   , ( ) [ ] =  the character   $a an attribute   @a a symbol   ~a raw text in brackets   word=a  word = attribute
//   ?token… optional, if the next character or word is there   %name one of the functions below
#include <algorithm>

#include "formats/stablehlo/element_names.h"
#include "formats/stablehlo/text_reader.h"

namespace shoal::internal {
namespace {

bool IsNumberStart(char c) { return (c >= '0' && c <= '9') || c == '-'; }

}  // namespace

bool MlirTextReader::ReadPrettyOp(Draft& draft) {
  if (draft.name == "func.func") return ReadFunction(draft);
  if (draft.name == "builtin.module") return ReadModuleOp(draft);
  if (draft.name == "stablehlo.while") return ReadWhile(draft);
  if (draft.name == "stablehlo.reduce") return ReadReduce(draft);
  if (draft.name == "sdy.manual_computation" || draft.name == "sdy.named_computation")
    return ReadManualComputation(draft);
  if (draft.name == "chlo.scan") return ReadScan(draft);
  if (draft.name.ends_with(".constant") && draft.info != nullptr) return ReadConstant(draft);
  if (draft.info == nullptr || draft.info->syntax.empty()) {
    std::string message = StrCat("unknown op ", draft.name);
    if (draft.info != nullptr) message = StrCat("the op ", draft.name, " has only a generic form, \"", draft.name, "\"(…)");
    return ErrorAt(draft.start, std::move(message));
  }
  std::string_view rest = draft.info->syntax;
  while (!rest.empty()) {
    const size_t space = rest.find(' ');
    if (!ReadToken(rest.substr(0, space), draft)) return false;
    rest = space == rest.npos ? std::string_view() : rest.substr(space + 1);
  }
  return true;
}

bool MlirTextReader::ReadToken(std::string_view token, Draft& draft) {
  const std::string_view name = token.substr(1);
  auto add = [&](std::string_view attr, const MlirAttr* value) {
    draft.attrs.push_back({attr, value});
    return value != nullptr;
  };
  switch (token[0]) {
    case 'o':
      if (token.size() > 1) break;
      return ReadOperand(draft.operands);
    case 'O':
      return ReadOperandList(draft.operands);
    case 'A':
      while (Peek() == '%')
        if (!ReadOperand(draft.operands) || !Expect(',')) return false;
      return true;
    case 'D':
      return ReadOptionalAttrDict(draft.attrs);
    case 'T':
    case 'F':
    case 'N':
    case 'S':
    case 'P':
    case 'L':
    case 'C':
    case 'U':
      return ReadTypes(token[0] == 'F' || token[0] == 'N' ? 'T' : token[0], draft);
    case '$': {
      const char c = Peek();
      const bool is_word = c >= 'A' && c <= 'Z';
      if (IsNumberStart(c)) return add(name, ReadPlainInt());
      return add(name, is_word ? Keyword(ReadBareName()) : ReadAttr());
    }
    case '@': {
      MlirAttr* symbol = NewAttr(Kind::kString);
      return ReadSymbol(&symbol->text) && add(name, symbol);
    }
    case '~': {
      MlirAttr* raw = NewAttr(Kind::kOpaque);
      return ReadBalanced(&raw->text) && add(name, raw);
    }
    case '?': {
      if (name[0] == ',') return !Eat(',') || ReadToken(name.substr(1), draft);
      return !AtKeyword(name.substr(0, name.find('='))) || ReadToken(name, draft);
    }
    case '%':
      if (name == "slice") return ReadSliceRanges(draft);
      if (name == "dot") return ReadDotDimensions(draft);
      if (name == "precision") return ReadPrecision(draft);
      if (name == "conv") return ReadConvWindow(draft);
      return ReadFormat(draft);
    default:
      break;
  }
  const size_t equal = token.find('=');
  if (equal == token.npos || token.size() == 1) return Expect(token);
  if (!EatKeyword(token.substr(0, equal))) return Error(StrCat("expected '", token.substr(0, equal), " ='"));
  if (!Expect('=')) return false;
  const std::string_view attr = token.substr(equal + 1);
  if (attr[0] == '~') return ReadToken(attr, draft);
  const char c = Peek();
  if (c == '[') {
    std::vector<int64_t> values;
    return ReadInts(values) && add(attr, IntsAttr(values));
  }
  if (c >= 'A' && c <= 'Z') return add(attr, Keyword(ReadBareName()));
  if (c == '"') {  // a string without a type
    MlirAttr* text = NewAttr(Kind::kString);
    return ReadString(&text->text) && add(attr, text);
  }
  if (IsNumberStart(c)) return add(attr, ReadPlainInt());
  return add(attr, ReadAttr());
}

// A number without a type: the ':' after it belongs to the op.
const MlirAttr* MlirTextReader::ReadPlainInt() {
  int64_t value = 0;
  const char* stop = at_ + 1;
  while (stop != end_ && *stop >= '0' && *stop <= '9') ++stop;
  if (stop != end_ && *stop == '.') return ReadNumber();
  return ReadInt(&value) ? IntAttr(value) : nullptr;
}

// The types after ':'. Operands that are read have types already; a difference is an error of the text.
bool MlirTextReader::ReadTypes(char mode, Draft& draft) {
  const bool optional = mode == 'L' || mode == 'P';
  if (optional && Peek() == '(') {  // optimization_barrier() without operands
    return Expect('(') && Expect(')');
  }
  if (optional && Peek() != ':') return true;
  if (!Expect(':')) return false;
  const char* const start = at_;
  std::vector<const MlirType*>& types = draft.operand_types;
  types.clear();
  do {
    const MlirType* type = ReadType();
    if (type == nullptr) return false;
    types.push_back(type);
  } while (Eat(','));
  draft.has_types = true;
  if (Eat("->")) {
    if (!Eat('(')) {
      draft.result_types.push_back(ReadType());
      return draft.result_types.back() != nullptr;
    }
    return ReadTypeList(draft.result_types, ')');
  }
  const MlirType* first = types[0];
  const size_t count = draft.operands.size();
  if (types.size() == 1 && first->kind == MlirType::Kind::kFunction && mode != 'L' && mode != 'P') {
    types.assign(first->elements.begin(), first->elements.end());
    draft.result_types.assign(first->results.begin(), first->results.end());
    return true;
  }
  if (mode == 'L') {
    draft.has_types = false;
    return true;
  }
  if (mode == 'P') {
    draft.result_types = types;
    return true;
  }
  if (types.size() != (mode == 'S' ? 2u : 1u)) return ErrorAt(start, "unexpected number of types");
  draft.result_types.push_back(types.back());
  if (mode == 'T') types.assign(count, first);
  if (mode != 'T') draft.has_types = false;
  return true;
}

// stablehlo.constant {attributes} dense<…> : type
bool MlirTextReader::ReadConstant(Draft& draft) {
  if (Peek() == '(') return ReadGenericOp(draft);
  if (!ReadOptionalAttrDict(draft.attrs)) return false;
  const MlirAttr* value = ReadAttr();
  if (value == nullptr) return false;
  if (value->type == nullptr) return ErrorAt(draft.start, "the value of a constant needs a type");
  draft.attrs.push_back({"value", value});
  draft.result_types.push_back(value->type);
  return true;
}

// stablehlo.while(%x = %a, …) : types attributes {…} cond { … } do { … }
bool MlirTextReader::ReadWhile(Draft& draft) {
  if (!Expect('(')) return false;
  std::vector<std::pair<std::string_view, const MlirType*>> arguments;
  if (!Eat(')')) {
    do {
      if (!Expect('%')) return false;
      arguments.emplace_back(ReadWord(), nullptr);
      if (!Expect('=') || !ReadOperand(draft.operands)) return false;
    } while (Eat(','));
    if (!Expect(')') || !Expect(':')) return false;
    for (auto& [name, type] : arguments) {
      if (&type != &arguments[0].second && !Expect(',')) return false;
      type = ReadType();
      if (type == nullptr) return false;
      draft.result_types.push_back(type);
    }
  }
  if (EatKeyword("attributes") && !ReadOptionalAttrDict(draft.attrs)) return false;
  for (const std::string_view keyword : {"cond", "do"}) {
    MlirRegion region;
    if (!Expect(keyword) || !ReadRegion(region, arguments)) return false;
    draft.regions.push_back(region);
  }
  return true;
}

// stablehlo.reduce(%a init: %b), … applies stablehlo.add across dimensions = [0] : types
// stablehlo.reduce(%a init: %b), … across dimensions = [0] : types reducer(%x: type, %y: type) … { … }
bool MlirTextReader::ReadReduce(Draft& draft) {
  Values inits;
  do {
    if (!Expect('(') || !ReadOperand(draft.operands) || !Expect("init") || !Expect(':') || !ReadOperand(inits) ||
        !Expect(')'))
      return false;
  } while (Eat(','));
  draft.operands.insert(draft.operands.end(), inits.begin(), inits.end());
  std::string_view applied;
  if (EatKeyword("applies")) applied = ReadWord();
  std::vector<int64_t> dimensions;
  if (!Expect("across") || !Expect("dimensions") || !Expect('=') || !ReadInts(dimensions)) return false;
  draft.attrs.push_back({"dimensions", IntsAttr(dimensions)});
  if (!ReadOptionalAttrDict(draft.attrs) || !ReadTypes('T', draft)) return false;
  MlirRegion region;
  if (!applied.empty()) {
    const MlirOpInfo* info = FindMlirOp(applied);
    if (info == nullptr) return ErrorAt(applied.data(), StrCat("unknown op ", applied));
    if (draft.operand_types.empty()) return ErrorAt(draft.start, "a reduce needs operands");
    MlirType* scalar = NewType(MlirType::Kind::kTensor);
    scalar->element = draft.operand_types[0]->element;
    const std::span<MlirBlock> blocks = module_.arena.NewSpan<MlirBlock>(1);
    MlirBlock block;
    block.arguments = module_.arena.NewSpan<MlirValue>(2);
    for (uint32_t i = 0; i < 2; ++i) {
      MlirValue argument;
      argument.type = scalar;
      argument.index = i;
      new (&block.arguments[i]) MlirValue(argument);
    }
    Draft& body = TakeDraft();
    body.start = applied.data();
    body.name = info->name;
    body.info = info;
    body.operands = {&block.arguments[0], &block.arguments[1]};
    body.result_types = {scalar};
    MlirOp* op = Finish(body, {});
    if (op == nullptr) return false;
    body.Clear();
    body.name = "stablehlo.return";
    body.info = FindMlirOp(body.name);
    body.operands = {&op->results[0]};
    // The location after the reduce is also that of the ops in its body.
    MlirOp* end = module_.arena.New<MlirOp>();
    end->name = body.name;
    end->info = body.info;
    end->at = op->at;
    end->operands = module_.arena.Copy(body.operands);
    end->location = op->location;
    --draft_depth_;
    MlirOp* const ops[] = {op, end};
    block.ops = module_.arena.Copy(ops);
    new (&blocks[0]) MlirBlock(block);
    region.blocks = blocks;
    draft.regions.push_back(region);
    return true;
  }
  if (!Expect("reducer")) return false;
  std::vector<std::pair<std::string_view, const MlirType*>> arguments, accumulators;
  while (Peek() == '(') {
    std::pair<std::string_view, const MlirType*> element, accumulator;
    const MlirLocation* location = nullptr;
    if (!Expect('(') || !ReadArgument(&element.first, &element.second, nullptr, &location) || !Expect(',') ||
        !ReadArgument(&accumulator.first, &accumulator.second, nullptr, &location) || !Expect(')'))
      return false;
    arguments.push_back(element);
    accumulators.push_back(accumulator);
  }
  arguments.insert(arguments.end(), accumulators.begin(), accumulators.end());
  if (!ReadRegion(region, arguments)) return false;
  draft.regions.push_back(region);
  return true;
}

// sdy.manual_computation(%a) in_shardings=[…] out_shardings=[…] manual_axes={…} (%x: type) { … } : types
bool MlirTextReader::ReadManualComputation(Draft& draft) {
  if (Eat('<')) {
    MlirAttr* name = NewAttr(Kind::kString);
    if (!ReadString(&name->text) || !Expect('>')) return false;
    draft.attrs.push_back({"name", name});
  }
  if (!Expect('(') || !ReadOperandList(draft.operands) || !Expect(')')) return false;
  for (const std::string_view name : {"in_shardings", "out_shardings", "manual_axes"}) {
    if (!EatKeyword(name)) continue;
    MlirAttr* raw = NewAttr(Kind::kOpaque);
    if (!Expect('=') || !ReadBalanced(&raw->text)) return false;
    draft.attrs.push_back({name, raw});
  }
  std::vector<std::pair<std::string_view, const MlirType*>> arguments;
  if (!Expect('(')) return false;
  if (!Eat(')')) {
    do {
      std::pair<std::string_view, const MlirType*> argument;
      const MlirLocation* location = nullptr;
      if (!ReadArgument(&argument.first, &argument.second, nullptr, &location)) return false;
      arguments.push_back(argument);
    } while (Eat(','));
    if (!Expect(')')) return false;
  }
  MlirRegion region;
  if (!ReadRegion(region, arguments)) return false;
  draft.regions.push_back(region);
  return ReadOptionalAttrDict(draft.attrs) && ReadTypes('T', draft);
}

// [0:4, 2:8:2]
bool MlirTextReader::ReadSliceRanges(Draft& draft) {
  std::vector<int64_t> starts, limits, strides;
  if (!Expect('[')) return false;
  if (!Eat(']')) {
    do {
      int64_t start = 0, limit = 0, stride = 1;
      if (!ReadInt(&start) || !Expect(':') || !ReadInt(&limit) || (Eat(':') && !ReadInt(&stride))) return false;
      starts.push_back(start);
      limits.push_back(limit);
      strides.push_back(stride);
    } while (Eat(','));
    if (!Expect(']')) return false;
  }
  draft.attrs.push_back({"start_indices", IntsAttr(starts)});
  draft.attrs.push_back({"limit_indices", IntsAttr(limits)});
  draft.attrs.push_back({"strides", IntsAttr(strides)});
  return true;
}

// batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = […], algorithm = <…>
bool MlirTextReader::ReadFormat(Draft& draft) {
  int64_t exponent = 0, mantissa = 0;
  if (!EatKeyword("format") || !Expect('=') || !Expect('e') || !ReadInt(&exponent) || !Expect('m') ||
      !ReadInt(&mantissa))
    return Error("expected a format, format = e5m2");
  draft.attrs.push_back({"exponent_bits", IntAttr(exponent)});
  draft.attrs.push_back({"mantissa_bits", IntAttr(mantissa)});
  return true;
}

}  // namespace shoal::internal
