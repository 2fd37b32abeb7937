#include "formats/stablehlo/op_table.h"

#include "absl/container/flat_hash_map.h"
#include "core/ops/op.h"
#include "formats/stablehlo/import_functions.h"

namespace shoal::internal {
namespace {

constexpr MlirOpInfo kMlirOps[] = {
#define MLIR_OP(name, op, import, syntax, attributes) {name, Opcode::k##op, Import##import, syntax, attributes},
#include "formats/stablehlo/mlir_ops.def"
#undef MLIR_OP
};

}  // namespace

const MlirOpInfo* FindMlirOp(std::string_view name) {
  static const auto kByName = [] {
    absl::flat_hash_map<std::string_view, const MlirOpInfo*> rows;
    for (const MlirOpInfo& row : kMlirOps) rows.emplace(row.name, &row);
    return rows;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? nullptr : found->second;
}

}  // namespace shoal::internal
