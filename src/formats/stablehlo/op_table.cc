#include "formats/stablehlo/op_table.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/ops/op.h"
#include "formats/stablehlo/export_functions.h"
#include "formats/stablehlo/import_functions.h"

namespace shoal::internal {
namespace {

constexpr MlirOpInfo kMlirOps[] = {
#define MLIR_OP(name, op, import, export, syntax, attributes) \
  {name, Opcode::k##op, Import##import, Export##export, syntax, attributes},
#include "formats/stablehlo/mlir_ops.def"
#undef MLIR_OP
};

std::vector<MlirAttrRule> ParseRules(const MlirOpInfo& op) {
  std::vector<MlirAttrRule> rules;
  std::string_view rest = op.attributes;
  while (!rest.empty()) {
    const std::string_view text = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    const size_t equal = text.find('=');
    MlirAttrRule rule{FindAttr(op.opcode, AttrId(text.substr(0, equal))), text.substr(equal + 1), {}, -1};
    if (const size_t colon = rule.from.find(':'); colon != rule.from.npos) {
      rule.type = rule.from.substr(colon + 1);
      rule.from = rule.from.substr(0, colon);
    }
    SHOAL_CHECK(rule.to != nullptr, "a row of mlir_ops.def names an attribute that the HLO op lacks");
    if (rule.from[0] == '^') rule.region = rule.from[1] - '0';
    rules.push_back(rule);
  }
  return rules;
}

}  // namespace

std::span<const MlirAttrRule> AttrRulesOf(const MlirOpInfo& op) {
  static const auto kRules = [] {
    std::vector<std::vector<MlirAttrRule>> rules;
    for (const MlirOpInfo& row : kMlirOps) rules.push_back(ParseRules(row));
    return rules;
  }();
  return kRules[static_cast<size_t>(&op - kMlirOps)];
}

std::span<const MlirOpInfo> MlirOps() { return kMlirOps; }

const MlirOpInfo* FindMlirOp(std::string_view name) {
  static const auto kByName = [] {
    absl::flat_hash_map<std::string_view, const MlirOpInfo*> rows;
    for (const MlirOpInfo& row : kMlirOps) rows.emplace(row.name, &row);
    return rows;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? nullptr : found->second;
}

const MlirOpInfo* FormOf(Opcode opcode) {
  static const auto kForms = [] {
    absl::flat_hash_map<Opcode, const MlirOpInfo*> forms;
    for (const MlirOpInfo& row : kMlirOps)
      if (row.write != nullptr) forms.emplace(row.opcode, &row);
    return forms;
  }();
  const auto found = kForms.find(opcode);
  return found == kForms.end() ? nullptr : found->second;
}

}  // namespace shoal::internal
