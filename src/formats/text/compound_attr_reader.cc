// Reads attribute values with nested fields: domains, shapes, aliases, original values, sparsity.

#include "formats/text/attr_reader.h"

namespace shoal::internal {

// {kind="sharding", entry={replicated}, exit={maximal device=0}}
bool AttrReader::ReadDomain(AttrValue* value) {
  Domain* domain = module_.arena.New<Domain>();
  *value = static_cast<const Domain*>(domain);
  const TextSpan at = token().span();
  if (!Expect(Tok::kLbrace, "'{' before the domain")) return false;
  while (kind() != Tok::kRbrace) {
    Eat(Tok::kComma);
    std::string_view name;
    if (!ReadAttrName(&name)) return false;
    if (name == "kind") {
      if (!ReadString(&domain->kind)) return false;
    } else if (name == "entry" || name == "exit") {
      Sharding* sharding = module_.arena.New<Sharding>();
      if (!ReadSharding(sharding)) return false;
      (name == "entry" ? domain->entry : domain->exit) = sharding;
    } else {
      return ErrorHere(StrCat("unknown domain field ", name, "; expected kind, entry or exit"));
    }
  }
  if (domain->kind.data() == nullptr || domain->entry == nullptr || domain->exit == nullptr)
    return Error(at, "a domain needs kind, entry and exit");
  lexer_.Next();
  return true;
}

bool AttrReader::ReadShapes(AttrValue* value) {
  std::vector<const Shape*> shapes;
  bool good = ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, [&] {
    shapes.push_back(ReadShape());
    return shapes.back() != nullptr;
  });
  *value = std::span<const Shape* const>(module_.arena.Copy(shapes));
  return good;
}

// {{0}: (1, {}), {1}: (0, {2})}
bool AttrReader::ReadOutputOperandAliasing(AttrValue* value) {
  std::vector<OutputOperandAlias> aliases;
  if (!Expect(Tok::kLbrace, "'{' before the aliases")) return false;
  while (kind() != Tok::kRbrace) {
    OutputOperandAlias alias;
    if (!ReadShapeIndex(&alias.output_index) || !Expect(Tok::kColon, "':' after the output index") ||
        !Expect(Tok::kLparen, "'(' before the operand number") || !ReadInt(&alias.operand) ||
        !Expect(Tok::kComma, "',' after the operand number") || !ReadShapeIndex(&alias.operand_index) ||
        !Expect(Tok::kRparen, "')' after the alias"))
      return false;
    aliases.push_back(alias);
    if (!Eat(Tok::kComma)) break;
  }
  *value = std::span<const OutputOperandAlias>(module_.arena.Copy(aliases));
  return Expect(Tok::kRbrace, "'}' after the aliases");
}

// {"name" {1,0}}, or {} if there is none
bool AttrReader::ReadOriginalArray(OriginalArray* array) {
  if (!Expect(Tok::kLbrace, "'{' before an original array")) return false;
  if (kind() == Tok::kString) {
    if (!ReadString(&array->instruction_name)) return false;
    if (kind() == Tok::kLbrace && !ReadShapeIndex(&array->shape_index)) return false;
  }
  return Expect(Tok::kRbrace, "'}' after an original array");
}

// {({"a"}, {"b" {1}}),["f"]}, or {[synthetic_call]}
bool AttrReader::ReadOriginalValue(AttrValue* value) {
  OriginalValue* original = module_.arena.New<OriginalValue>();
  *value = static_cast<const OriginalValue*>(original);
  if (!Expect(Tok::kLbrace, "'{' before the original value")) return false;
  if (Eat(Tok::kLsquare)) {
    if (kind() != Tok::kIdent || token().text != "synthetic_call") return ErrorHere("expected synthetic_call");
    lexer_.Next();
    original->calls = module_.arena.Copy(std::vector<std::string_view>{""});
    return Expect(Tok::kRsquare, "']'") && Expect(Tok::kRbrace, "'}' after the original value");
  }
  std::vector<OriginalValue::Leaf> leaves;
  std::vector<int64_t> index;
  while (kind() != Tok::kRbrace) {
    switch (kind()) {
      case Tok::kLparen:
        index.push_back(0);
        lexer_.Next();
        break;
      case Tok::kRparen:
        if (index.empty()) return ErrorHere("unmatched ')'");
        index.pop_back();
        lexer_.Next();
        break;
      case Tok::kComma:
        lexer_.Next();
        if (index.empty()) {
          std::vector<std::string_view> calls;
          auto read_call = [&] { return ReadString(&calls.emplace_back()); };
          if (!ReadList(Tok::kLsquare, Tok::kRsquare, Tok::kComma, read_call)) return false;
          original->calls = module_.arena.Copy(calls);
          break;
        }
        ++index.back();
        break;
      case Tok::kLbrace:
        leaves.emplace_back();
        leaves.back().index = module_.arena.Copy(index);
        if (!ReadOriginalArray(&leaves.back().array)) return false;
        break;
      default:
        return ErrorHere("expected a tuple of original arrays");
    }
    if (index.size() > kMaxDepth) return ErrorHere("nesting is deeper than 1024 levels");
  }
  original->leaves = module_.arena.Copy(leaves);
  lexer_.Next();
  return true;
}

// {lhs={sparsity=1x4 dimension=0 stride=1 idx=2} rhs={…}}
bool AttrReader::ReadSparsity(AttrValue* value) {
  SparsityConfig* config = module_.arena.New<SparsityConfig>();
  *value = static_cast<const SparsityConfig*>(config);
  if (!Expect(Tok::kLbrace, "'{' before the sparsity")) return false;
  while (kind() != Tok::kRbrace) {
    std::string_view name;
    if (!ReadAttrName(&name)) return false;
    if (name != "lhs" && name != "rhs") return ErrorHere("expected lhs or rhs");
    auto& tensor = name == "lhs" ? config->lhs : config->rhs;
    if (!tensor) tensor.emplace();
    if (!ReadTensorSparsity(&*tensor)) return false;
  }
  lexer_.Next();
  return true;
}

bool AttrReader::ReadTensorSparsity(TensorSparsity* tensor) {
  if (!Expect(Tok::kLbrace, "'{' before the sparsity of an operand")) return false;
  while (kind() != Tok::kRbrace) {
    std::string_view name;
    if (!ReadAttrName(&name)) return false;
    if (name == "sparsity") {
      std::vector<int64_t> numbers;
      if (!ReadDxD(&numbers)) return false;
      if (numbers.size() != 2) return ErrorHere("expected a sparsity such as 1x4");
      tensor->num_non_zero = numbers[0];
      tensor->block_size = numbers[1];
      continue;
    }
    int64_t* field = name == "dimension" ? &tensor->dimension
                     : name == "stride"  ? &tensor->stride
                     : name == "idx"     ? &tensor->idx
                                         : nullptr;
    if (field == nullptr) return ErrorHere(StrCat("unknown sparsity field ", name));
    if (!ReadInt(field)) return false;
  }
  lexer_.Next();
  return true;
}

}  // namespace shoal::internal
