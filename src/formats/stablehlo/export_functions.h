// The export functions that rows of mlir_ops.def name. Each makes the MLIR op of one HLO op. Private to
// formats/stablehlo.
#pragma once

#include "core/base/result.h"
#include "core/ir/instruction.h"

namespace shoal::internal {

class Exporter;
struct MlirOpInfo;
using ExportFunction = Status (*)(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);

inline constexpr ExportFunction ExportNone = nullptr;
Status ExportAllToAll(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportBarrier(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportBroadcast(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportCall(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportCollective(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportCollectivePermute(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportCompare(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportConditional(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportConstant(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportConvolution(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportCustomCall(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportDimensionSize(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportDotGeneral(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportDynamicReshape(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportGather(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportInfeed(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportOutfeed(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportPad(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportPlain(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportRaggedDot(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportRecvDone(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportRng(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportScan(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportScatter(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportSendDone(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportSlice(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportTopK(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportTransferStart(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportTuple(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportTupleElement(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportWhile(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);
Status ExportWindow(Exporter& exporter, const MlirOpInfo& row, const Instruction& hlo);

}  // namespace shoal::internal
