#include "formats/text/value_text.h"

#include "core/base/strings.h"
#include "formats/text/attr_reader.h"

namespace shoal::internal {
namespace {

// A reader of a fragment, which is copied into the module because names and strings point into it.
class ValueReader final : public AttrReader {
 public:
  ValueReader(Module& module, std::string_view text, Diags& diags)
      : AttrReader(module, module.arena.CopyString(text), {/*strict=*/true}, diags) {}

  const Shape* WholeShape() { return Finished(ReadShape()); }
  const Literal* WholeLiteral(const Shape& shape) { return Finished(ReadLiteral(shape)); }

  bool Attributes(Opcode opcode, std::vector<NamedAttr>& attrs) {
    if (kind() == Tok::kEof) return true;
    do {
      if (!Attribute(opcode, attrs)) return false;
    } while (Eat(Tok::kComma));
    return AtEnd();
  }

 private:
  bool Attribute(Opcode opcode, std::vector<NamedAttr>& attrs) {
    const TextSpan at = token().span();
    std::string_view name;
    if (!ReadAttrName(&name)) return false;
    const AttrDef* def = FindAttr(opcode, AttrId(name));
    if (def == nullptr || def->name != name) return Error(at, StrCat(Text(opcode), " has no attribute ", name));
    for (const NamedAttr& other : attrs)
      if (other.id == def->id) return Error(at, StrCat("the attribute ", name, " is given twice"));
    NamedAttr attr{def->id, {}};
    if (!ReadAttrValue(*def, &attr.value)) return false;
    attrs.push_back(attr);
    return true;
  }

  bool AtEnd() { return kind() == Tok::kEof || Expected("the end"); }
  template <class T>
  const T* Finished(const T* value) {
    return value != nullptr && AtEnd() ? value : nullptr;
  }

  bool ReadCalledComputation(Computation** computation) override {
    const TextSpan at = token().span();
    std::string_view name;
    if (!ReadName(&name)) return false;
    for (Computation* other : module_.computations) {
      if (other->name != name) continue;
      *computation = other;
      return true;
    }
    return Error(at, StrCat("unknown computation ", name));
  }
  bool ReadInstructionNames(AttrValue*) override { return ErrorHere("attributes that name instructions cannot be given as text"); }
};

Diag FirstError(const Diags& diags, std::string_view text) {
  for (const Diag& diag : diags.found())
    if (diag.severity == Severity::kError) return Fail({}, diag.rule, StrCat(diag.message, " in '", text, "'"));
  return Fail(StrCat("cannot read '", text, "'"));
}

}  // namespace

Result<const Shape*> ReadShapeText(Module& module, std::string_view text) {
  Diags diags;
  const Shape* shape = ValueReader(module, text, diags).WholeShape();
  if (shape == nullptr) return FirstError(diags, text);
  return shape;
}

Result<const Literal*> ReadLiteralText(Module& module, const Shape& shape, std::string_view text) {
  Diags diags;
  const Literal* literal = ValueReader(module, text, diags).WholeLiteral(shape);
  if (literal == nullptr) return FirstError(diags, text);
  return literal;
}

Result<std::vector<NamedAttr>> ReadAttrsText(Module& module, Opcode opcode, std::string_view text) {
  Diags diags;
  std::vector<NamedAttr> attrs;
  if (!ValueReader(module, text, diags).Attributes(opcode, attrs)) return FirstError(diags, text);
  return attrs;
}

}  // namespace shoal::internal
