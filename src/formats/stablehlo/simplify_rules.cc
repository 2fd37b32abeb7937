// The rules of the simplifier for elementwise ops and constants.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "formats/stablehlo/fold.h"
#include "formats/stablehlo/op_table.h"
#include "formats/stablehlo/simplifier.h"

namespace shoal::internal {

bool Simplifier::IsStatic(const MlirType& type) {
  return type.kind == MlirType::Kind::kTensor && IsArrayType(type.element) &&
         std::find(type.dims.begin(), type.dims.end(), kUnboundedSize) == type.dims.end();
}

bool Simplifier::IsIotaList(std::span<const int64_t> ints) {
  for (size_t i = 0; i < ints.size(); ++i)
    if (ints[i] != static_cast<int64_t>(i)) return false;
  return true;
}

const MlirOp* Simplifier::Producer(const MlirValue* value, std::string_view name) {
  return value->owner != nullptr && value->owner->name == name ? value->owner : nullptr;
}

const MlirAttr* Simplifier::ConstantOf(const MlirValue* value) const {
  static const MlirOpInfo* const kConstant = FindMlirOp("stablehlo.constant");
  const MlirOp* op = value->owner;
  if (op == nullptr || op->info != kConstant) return nullptr;
  const MlirAttr* attr = op->Find("value");
  const bool usable = attr != nullptr && attr->kind == MlirAttr::Kind::kDense && !attr->elided && IsStatic(*attr->type) &&
                      !attr->data.empty();
  return usable ? attr : nullptr;
}

// The integers of an attribute; VHLO stores lists as tensors.
std::span<const int64_t> Simplifier::IntsOf(const MlirOp& op, std::string_view name) {
  const MlirAttr* attr = op.Find(name);
  if (attr == nullptr) return {};
  if (attr->kind == MlirAttr::Kind::kInts) return attr->ints;
  if (!attr->folded_ints.empty()) return attr->folded_ints;
  std::vector<int64_t> values;
  if (attr->kind == MlirAttr::Kind::kInt) values.push_back(attr->number);
  if (attr->kind == MlirAttr::Kind::kDense && attr->type->kind == MlirType::Kind::kTensor &&
      IsInteger(attr->type->element) && !attr->data.empty()) {
    const int64_t count = std::min(ElementCount(*attr->type), kMaxFoldedElements);
    for (int64_t i = 0; i < count; ++i) values.push_back(ElementAt(*attr, i).whole);
  }
  return attr->folded_ints = arena_.Copy(values);
}

bool Simplifier::Rewrite(MlirOp& op) {
  if (op.info == nullptr || op.results.size() == 0) return false;
  if (op.info->opcode == Opcode::kWhile) return RewriteWhile(op);
  if (!op.name.starts_with("stablehlo.") || op.results.size() != 1) return false;
  if (op.name == "stablehlo.constant") {
    const MlirAttr* value = op.Find("value");
    if (value == nullptr || value->kind != MlirAttr::Kind::kDense || value->elided || !IsStatic(*value->type)) return false;
    // A tensor of equal elements is stored as one.
    const int64_t count = ElementCount(*value->type);
    const auto bytes = static_cast<size_t>(StorageBytes(value->type->element));
    if (!value->splat && count > 1 && value->data.size() == static_cast<size_t>(count) * bytes &&
        std::equal(value->data.begin() + static_cast<ptrdiff_t>(bytes), value->data.end(), value->data.begin())) {
      MlirAttr splat = *value;
      splat.splat = true;
      splat.data = value->data.first(bytes);
      return ReplaceWithConstant(op, arena_.New<MlirAttr>(splat));
    }
    if (MlirValue* known = KnownConstant(*value); known != nullptr && known != &op.results[0]) return ReplaceWith(op, known);
    constants_.back().emplace(value, &op.results[0]);
    return false;
  }
  if (FoldConstants(op)) return true;
  using Rule = bool (Simplifier::*)(MlirOp&);
  struct Row {
    std::string_view name;
    Rule rule;
  };
  static constexpr Row kRows[] = {
      {"stablehlo.add", &Simplifier::RewriteBinary},
      {"stablehlo.and", &Simplifier::RewriteBinary},
      {"stablehlo.broadcast_in_dim", &Simplifier::RewriteBroadcast},
      {"stablehlo.compare", &Simplifier::RewriteCompare},
      {"stablehlo.concatenate", &Simplifier::RewriteConcatenate},
      {"stablehlo.convert", &Simplifier::RewriteReshape},
      {"stablehlo.dynamic_slice", &Simplifier::RewriteDynamicSlice},
      {"stablehlo.gather", &Simplifier::RewriteGather},
      {"stablehlo.iota", &Simplifier::RewriteIota},
      {"stablehlo.maximum", &Simplifier::RewriteBinary},
      {"stablehlo.minimum", &Simplifier::RewriteBinary},
      {"stablehlo.multiply", &Simplifier::RewriteBinary},
      {"stablehlo.or", &Simplifier::RewriteBinary},
      {"stablehlo.pad", &Simplifier::RewritePad},
      {"stablehlo.reshape", &Simplifier::RewriteReshape},
      {"stablehlo.reverse", &Simplifier::RewriteReverse},
      {"stablehlo.select", &Simplifier::RewriteSelect},
      {"stablehlo.slice", &Simplifier::RewriteSlice},
      {"stablehlo.subtract", &Simplifier::RewriteBinary},
      {"stablehlo.transpose", &Simplifier::RewriteTranspose},
      {"stablehlo.xor", &Simplifier::RewriteBinary},
  };
  static const std::vector<Rule> kRules = [] {  // by row of the table of ops
    std::vector<Rule> rules(MlirOps().size());
    for (const Row& row : kRows) rules[static_cast<size_t>(FindMlirOp(row.name) - MlirOps().data())] = row.rule;
    return rules;
  }();
  const Rule rule = kRules[static_cast<size_t>(op.info - MlirOps().data())];
  return rule != nullptr && (this->*rule)(op);
}

// Elementwise ops of constants.
bool Simplifier::FoldConstants(MlirOp& op) {
  if (op.operands.empty() || op.operands.size() > 3 || !op.regions.empty()) return false;
  const MlirAttr* values[3];
  for (size_t i = 0; i < op.operands.size(); ++i) {
    values[i] = ConstantOf(op.operands[i]);
    if (values[i] == nullptr) return false;
  }
  if (!IsStatic(*op.results[0].type)) return false;
  const MlirAttr* direction = op.Find("comparison_direction");
  const MlirAttr* order = op.Find("compare_type");
  if (order != nullptr && order->text == "TOTALORDER") return false;
  const MlirAttr* folded =
      FoldElementwise(op.info->opcode, std::span(values, op.operands.size()), *op.results[0].type,
                      direction == nullptr ? std::string_view() : direction->text, arena_);
  return ReplaceWithConstant(op, folded);
}

// Constants move to the right; x + 0, x * 1 and their like are x.
bool Simplifier::RewriteBinary(MlirOp& op) {
  if (op.operands.size() != 2) return false;
  const bool commutes = op.name != "stablehlo.subtract";
  if (commutes && ConstantOf(op.operands[0]) != nullptr && ConstantOf(op.operands[1]) == nullptr) {
    std::swap(op.operands[0], op.operands[1]);
    Changed(op);
  }
  MlirValue* x = op.operands[0];
  const MlirType& type = *op.results[0].type;
  const bool is_integer = IsInteger(type.element) || type.element == ElementType::kPred;
  if (x == op.operands[1] && IsStatic(type) &&
      ((op.name == "stablehlo.subtract" && IsInteger(type.element)) || op.name == "stablehlo.xor"))
    return ReplaceWithConstant(op, SplatOf(0, type, arena_));
  const MlirAttr* y = ConstantOf(op.operands[1]);
  if (y == nullptr || !SameType(*x->type, type)) return false;
  const bool zero = IsSplatOf(*y, 0);
  const bool one = !zero && IsSplatOf(*y, 1);
  const bool all_ones = !zero && is_integer && (type.element == ElementType::kPred ? one : IsSigned(type.element) && IsSplatOf(*y, -1));
  if (zero && (op.name == "stablehlo.add" || op.name == "stablehlo.subtract")) return ReplaceWith(op, x);
  if (zero && (op.name == "stablehlo.or" || op.name == "stablehlo.xor")) return ReplaceWith(op, x);
  if (one && op.name == "stablehlo.multiply") return ReplaceWith(op, x);
  if (all_ones && op.name == "stablehlo.and") return ReplaceWith(op, x);
  if (zero && is_integer && (op.name == "stablehlo.multiply" || op.name == "stablehlo.and"))
    return ReplaceWith(op, op.operands[1]);
  if (all_ones && op.name == "stablehlo.or") return ReplaceWith(op, op.operands[1]);
  return false;
}

bool Simplifier::RewriteCompare(MlirOp& op) {
  const MlirAttr* direction = op.Find("comparison_direction");
  const MlirAttr* compare_type = op.Find("compare_type");
  if (direction == nullptr || op.operands.size() != 2) return false;
  const MlirAttr* right = ConstantOf(op.operands[1]);
  const bool is_pred = op.operands[0]->type->element == ElementType::kPred;
  if (is_pred && right != nullptr && SameType(*op.operands[0]->type, *op.results[0].type)) {
    if (direction->text == "NE" && IsSplatOf(*right, 0)) return ReplaceWith(op, op.operands[0]);
    if (direction->text == "EQ" && IsSplatOf(*right, 1)) return ReplaceWith(op, op.operands[0]);
  }
  const bool integers = compare_type != nullptr && (compare_type->text == "SIGNED" || compare_type->text == "UNSIGNED");
  if (!integers) return false;
  if (op.operands[0] == op.operands[1] && IsStatic(*op.results[0].type)) {
    const bool holds = direction->text == "EQ" || direction->text == "GE" || direction->text == "LE";
    return ReplaceWithConstant(op, SplatOf(holds ? 1 : 0, *op.results[0].type, arena_));
  }
  if (ConstantOf(op.operands[0]) == nullptr || right != nullptr) return false;
  std::swap(op.operands[0], op.operands[1]);
  std::string_view text = direction->text;
  if (text == "LT" || text == "LE" || text == "GT" || text == "GE") {
    MlirAttr* swapped = arena_.New<MlirAttr>(*direction);
    swapped->text = text == "LT" ? "GT" : text == "GT" ? "LT" : text == "LE" ? "GE" : "LE";
    std::vector<MlirNamedAttr> attrs(op.attrs.begin(), op.attrs.end());
    for (MlirNamedAttr& attr : attrs)
      if (attr.name == "comparison_direction") attr.value = swapped;
    op.attrs = arena_.Copy(attrs);
  }
  Changed(op);
  return false;
}

bool Simplifier::RewriteSelect(MlirOp& op) {
  if (op.operands.size() != 3) return false;
  if (op.operands[1] == op.operands[2]) return ReplaceWith(op, op.operands[1]);
  if (const MlirOp* negated = Producer(op.operands[0], "stablehlo.not")) {
    op.operands[0] = Resolve(negated->operands[0]);
    std::swap(op.operands[1], op.operands[2]);
    Changed(op);
  }
  const MlirAttr* predicate = ConstantOf(op.operands[0]);
  if (predicate == nullptr) return false;
  if (IsSplatOf(*predicate, 1)) return ReplaceWith(op, op.operands[1]);
  if (IsSplatOf(*predicate, 0)) return ReplaceWith(op, op.operands[2]);
  return false;
}

}  // namespace shoal::internal
