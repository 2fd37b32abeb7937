// The table of MLIR ops: how the text parser reads them and how they become HLO. Rows are in mlir_ops.def.
#pragma once

#include "core/ops/opcode.h"
#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

class Importer;

struct MlirOpInfo {
  std::string_view name;
  Opcode opcode{};                                      // the HLO op; Unknown if the op becomes several
  Status (*import)(Importer& importer, const MlirOp& op) = nullptr;
  std::string_view syntax;                              // pretty syntax; empty: generic form only
  std::string_view attributes;                          // HLO attribute=MLIR attribute …
};

// The row of an op, by its full name; null if there is none.
const MlirOpInfo* FindMlirOp(std::string_view name);

}  // namespace shoal::internal
