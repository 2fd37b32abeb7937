// The table of MLIR ops: their text, how they become HLO, and how HLO becomes them. Rows are in mlir_ops.def.
#pragma once

#include "core/ops/op.h"
#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

class Exporter;
class Importer;

struct MlirOpInfo {
  std::string_view name;
  Opcode opcode{};                                      // the HLO op; Unknown if the op becomes several
  Status (*import)(Importer& importer, const MlirOp& op) = nullptr;
  Status (*write)(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo) = nullptr;  // null: not its form
  std::string_view syntax;                              // pretty syntax; empty: generic form only
  std::string_view attributes;                          // HLO attribute=MLIR attribute …
};

// An HLO attribute and its MLIR form: an attribute, or a region.
struct MlirAttrRule {
  const AttrDef* to = nullptr;
  std::string_view from, type;
  int region = -1;
};
// The rules of a row's `attributes`.
std::span<const MlirAttrRule> AttrRulesOf(const MlirOpInfo& op);

std::span<const MlirOpInfo> MlirOps();
// The row of an op, by its full name; null if there is none.
const MlirOpInfo* FindMlirOp(std::string_view name);
// The row that is the form of an HLO op; null if it has none.
const MlirOpInfo* FormOf(Opcode opcode);

}  // namespace shoal::internal
