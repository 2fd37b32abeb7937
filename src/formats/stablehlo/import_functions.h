// The import functions that rows of mlir_ops.def name. Each makes the HLO of one op. Private to formats/stablehlo.
#pragma once

#include "core/base/result.h"

namespace shoal::internal {

class Importer;
struct MlirOp;

Status ImportAllToAll(Importer& importer, const MlirOp& op);
Status ImportAsyncDone(Importer& importer, const MlirOp& op);
Status ImportAsyncStart(Importer& importer, const MlirOp& op);
Status ImportBarrier(Importer& importer, const MlirOp& op);
Status ImportBroadcastInDim(Importer& importer, const MlirOp& op);
Status ImportBroadcastMajor(Importer& importer, const MlirOp& op);
Status ImportBroadcastScalars(Importer& importer, const MlirOp& op);
Status ImportCase(Importer& importer, const MlirOp& op);
Status ImportChloAcos(Importer& importer, const MlirOp& op);
Status ImportChloAcosh(Importer& importer, const MlirOp& op);
Status ImportChloAsin(Importer& importer, const MlirOp& op);
Status ImportChloAsinh(Importer& importer, const MlirOp& op);
Status ImportChloAtan(Importer& importer, const MlirOp& op);
Status ImportChloAtanh(Importer& importer, const MlirOp& op);
Status ImportChloBesselI1e(Importer& importer, const MlirOp& op);
Status ImportChloBroadcast(Importer& importer, const MlirOp& op);
Status ImportChloConj(Importer& importer, const MlirOp& op);
Status ImportChloConstantLike(Importer& importer, const MlirOp& op);
Status ImportChloCosh(Importer& importer, const MlirOp& op);
Status ImportChloDigamma(Importer& importer, const MlirOp& op);
Status ImportChloErfInv(Importer& importer, const MlirOp& op);
Status ImportChloErfc(Importer& importer, const MlirOp& op);
Status ImportChloIsInf(Importer& importer, const MlirOp& op);
Status ImportChloLgamma(Importer& importer, const MlirOp& op);
Status ImportChloNextAfter(Importer& importer, const MlirOp& op);
Status ImportChloPolygamma(Importer& importer, const MlirOp& op);
Status ImportChloScan(Importer& importer, const MlirOp& op);
Status ImportChloSinh(Importer& importer, const MlirOp& op);
Status ImportChloSquare(Importer& importer, const MlirOp& op);
Status ImportChloZeta(Importer& importer, const MlirOp& op);
Status ImportCollective(Importer& importer, const MlirOp& op);
Status ImportCompare(Importer& importer, const MlirOp& op);
Status ImportComposite(Importer& importer, const MlirOp& op);
Status ImportConstant(Importer& importer, const MlirOp& op);
Status ImportConvert(Importer& importer, const MlirOp& op);
Status ImportConvolution(Importer& importer, const MlirOp& op);
Status ImportCrossReplicaSum(Importer& importer, const MlirOp& op);
Status ImportCustomCall(Importer& importer, const MlirOp& op);
Status ImportDot(Importer& importer, const MlirOp& op);
Status ImportDotGeneral(Importer& importer, const MlirOp& op);
Status ImportDynamicReshape(Importer& importer, const MlirOp& op);
Status ImportForward(Importer& importer, const MlirOp& op);
Status ImportEinsum(Importer& importer, const MlirOp& op);
Status ImportFunctionCall(Importer& importer, const MlirOp& op);
Status ImportIf(Importer& importer, const MlirOp& op);
Status ImportIndexSelect(Importer& importer, const MlirOp& op);
Status ImportInfeed(Importer& importer, const MlirOp& op);
Status ImportManualComputation(Importer& importer, const MlirOp& op);
Status ImportNamedComputation(Importer& importer, const MlirOp& op);
Status ImportNothing(Importer& importer, const MlirOp& op);
Status ImportOutfeed(Importer& importer, const MlirOp& op);
Status ImportPad(Importer& importer, const MlirOp& op);
Status ImportPlain(Importer& importer, const MlirOp& op);
Status ImportPropagationBarrier(Importer& importer, const MlirOp& op);
Status ImportRecv(Importer& importer, const MlirOp& op);
Status ImportReduceWindow(Importer& importer, const MlirOp& op);
Status ImportReturn(Importer& importer, const MlirOp& op);
Status ImportRng(Importer& importer, const MlirOp& op);
Status ImportSelectAndScatter(Importer& importer, const MlirOp& op);
Status ImportSend(Importer& importer, const MlirOp& op);
Status ImportSetDimensionSize(Importer& importer, const MlirOp& op);
Status ImportShardingConstraint(Importer& importer, const MlirOp& op);
Status ImportShardingGroup(Importer& importer, const MlirOp& op);
Status ImportSlice(Importer& importer, const MlirOp& op);
Status ImportStaticBroadcast(Importer& importer, const MlirOp& op);
Status ImportStaticGather(Importer& importer, const MlirOp& op);
Status ImportStaticIota(Importer& importer, const MlirOp& op);
Status ImportStaticPad(Importer& importer, const MlirOp& op);
Status ImportStaticSlice(Importer& importer, const MlirOp& op);
Status ImportTopK(Importer& importer, const MlirOp& op);
Status ImportUnsupported(Importer& importer, const MlirOp& op);
Status ImportWhile(Importer& importer, const MlirOp& op);

}  // namespace shoal::internal
