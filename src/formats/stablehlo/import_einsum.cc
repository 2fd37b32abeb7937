// einsum: a dot, perhaps with sums of an operand before it and a transpose after it.
#include <algorithm>

#include "core/ops/contraction.h"
#include "core/ops/reduce.h"
#include "formats/stablehlo/import_functions.h"
#include "formats/stablehlo/importer.h"

namespace shoal::internal {
namespace {

// An operand and the letters of its dimensions.
struct Term {
  Instruction* value = nullptr;
  std::string letters;

  int64_t Find(char letter) const { return static_cast<int64_t>(letters.find(letter)); }
  bool Has(char letter) const { return letters.find(letter) != letters.npos; }
};

// Sums over the dimensions whose letters `keeps` does not accept.
template <class Keeps>
Status SumOver(Importer& importer, Term& term, Keeps keeps) {
  std::vector<int64_t> dimensions;
  std::string kept;
  for (const char letter : term.letters) {
    if (keeps(letter)) kept += letter;
    else dimensions.push_back(term.Find(letter));
  }
  if (dimensions.empty()) return {};
  const ElementType type = term.value->shape().element_type();
  SHOAL_ASSIGN(zero, importer.AddSplat(*importer.module().shapes.Scalar(type), 0));
  SHOAL_ASSIGN(sum, importer.SumComputation(type));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kReduce, {term.value, zero},
                                   {{kDimensions.id, Ints(importer.arena().Copy(dimensions))}, {kToApply.id, sum}}));
  term = {value, kept};
  return {};
}

Status Transpose(Importer& importer, Term& term, std::string_view order) {
  if (term.letters == order) return {};
  std::vector<int64_t> dimensions;
  for (const char letter : order) dimensions.push_back(term.Find(letter));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kTranspose, {term.value}, {{kDimensions.id, Ints(importer.arena().Copy(dimensions))}}));
  term = {value, std::string(order)};
  return {};
}

// Letters, each once; spaces are ignored.
bool ReadLetters(std::string_view text, std::string& letters) {
  for (const char c : text) {
    if (c == ' ') continue;
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_letter || letters.find(c) != letters.npos) return false;
    letters += c;
  }
  return true;
}

Result<Term> Dot(Importer& importer, const Term& lhs, const Term& rhs, std::string_view result, const Shape& shape) {
  std::vector<int64_t> batch[2], contracting[2];
  Term out;
  for (const char letter : lhs.letters) {
    if (!rhs.Has(letter)) continue;
    const bool is_batch = result.find(letter) != result.npos;
    (is_batch ? batch : contracting)[0].push_back(lhs.Find(letter));
    (is_batch ? batch : contracting)[1].push_back(rhs.Find(letter));
    if (is_batch) out.letters += letter;
  }
  for (const Term* term : {&lhs, &rhs})
    for (const char letter : term->letters)
      if (!(term == &lhs ? rhs : lhs).Has(letter)) out.letters += letter;
  std::vector<int64_t> sizes;
  for (const char letter : out.letters) {
    const Term& term = lhs.Has(letter) ? lhs : rhs;
    sizes.push_back(term.value->shape().dim(term.Find(letter)));
  }
  Arena& arena = importer.arena();
  NamedAttrs attrs{{kLhsContractingDims.id, Ints(arena.Copy(contracting[0]))},
                               {kRhsContractingDims.id, Ints(arena.Copy(contracting[1]))}};
  if (!batch[0].empty()) attrs.push_back({kLhsBatchDims.id, Ints(arena.Copy(batch[0]))});
  if (!batch[1].empty()) attrs.push_back({kRhsBatchDims.id, Ints(arena.Copy(batch[1]))});
  SHOAL_ASSIGN(value, importer.Add(Opcode::kDot, {lhs.value, rhs.value}, attrs,
                                   importer.module().shapes.Array(shape.element_type(), sizes)));
  out.value = value;
  return out;
}

}  // namespace

// "ij,jk->ik"; unary_einsum has one operand.
Status ImportEinsum(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  std::string_view config = importer.StringAttr(op, "einsum_config");
  const size_t arrow = config.find("->");
  std::string result;
  std::vector<Term> terms(1);
  bool valid = shape->IsArray() && arrow != config.npos && ReadLetters(config.substr(arrow + 2), result);
  std::string_view rest = config.substr(0, arrow);
  for (size_t comma = rest.find(','); valid && comma != rest.npos; comma = rest.find(',')) {
    valid = ReadLetters(rest.substr(0, comma), terms.back().letters);
    rest.remove_prefix(comma + 1);
    terms.emplace_back();
  }
  valid = valid && ReadLetters(rest, terms.back().letters) && terms.size() == operands.size() && terms.size() <= 2;
  for (size_t i = 0; valid && i < terms.size(); ++i) {
    terms[i].value = operands[i];
    valid = operands[i]->shape().IsArray() && operands[i]->shape().rank() == static_cast<int>(terms[i].letters.size());
  }
  for (const char letter : result)
    valid = valid && std::any_of(terms.begin(), terms.end(), [&](const Term& term) { return term.Has(letter); });
  if (!valid)
    return importer.Refused(op, StrCat("einsum_config must have one letter per dimension, such as \"ij,jk->ik\", got \"", config, "\""));
  for (Term& term : terms) {
    const Term* other = terms.size() == 1 ? nullptr : &term == &terms[0] ? &terms[1] : &terms[0];
    SHOAL_TRY(SumOver(importer, term, [&](char letter) {
      return result.find(letter) != result.npos || (other != nullptr && other->Has(letter));
    }));
  }
  Term out = terms[0];
  if (terms.size() == 2) {
    SHOAL_ASSIGN(product, Dot(importer, terms[0], terms[1], result, *shape));
    out = product;
  }
  SHOAL_TRY(Transpose(importer, out, result));
  return importer.SetResult(op, out.value);
}

}  // namespace shoal::internal
