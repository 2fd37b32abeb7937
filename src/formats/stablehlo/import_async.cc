// Async collectives: a start whose region holds one op, and a done.
#include "core/ops/async_pairs.h"
#include "core/ops/callee.h"
#include "formats/stablehlo/import_functions.h"
#include "formats/stablehlo/importer.h"

namespace shoal::internal {
namespace {

// The pair of ops that HLO has for a collective; null for those that are wrapped in a computation.
const AsyncPair* PairFor(Opcode kind) {
  for (const Opcode start : {Opcode::kAllGatherStart, Opcode::kAllReduceStart, Opcode::kCollectivePermuteStart})
    if (KindOf(start) == kind) return PairOf(start);
  return nullptr;
}

// The op in the region of a start; null if the region is not one collective of the arguments and a return.
const MlirOp* StartedOp(const MlirOp& start) {
  if (start.regions.size() != 1 || start.regions[0].blocks.size() != 1) return nullptr;
  const MlirBlock& block = start.regions[0].blocks[0];
  if (block.ops.size() != 2 || block.arguments.size() != 1) return nullptr;
  const MlirOp& op = *block.ops[0];
  const bool is_collective = op.info != nullptr && Info(op.info->opcode).op_class == OpClass::kCollective;
  const bool of_argument = op.operands.size() == 1 && op.operands[0] == &block.arguments[0];
  const bool returned = block.ops[1]->operands.size() == 1 && op.results.size() == 1 && block.ops[1]->operands[0] == &op.results[0];
  return is_collective && of_argument && returned ? &op : nullptr;
}

}  // namespace

Status ImportAsyncStart(Importer& importer, const MlirOp& op) {
  if (op.operands.size() != 1 || op.results.size() != 1) return importer.Refused(op, "the op must have one operand and one result");
  SHOAL_ASSIGN(operand, importer.Operand(op, 0));
  const MlirOp* started = StartedOp(op);
  if (started == nullptr) return importer.Refused(op, "the region must hold one collective of its argument, and a return");
  ShapePool& shapes = importer.module().shapes;
  if (const AsyncPair* pair = PairFor(started->info->opcode)) {
    SHOAL_ASSIGN(attrs, importer.CollectiveAttrs(*started));
    importer.Reset(op);
    SHOAL_ASSIGN(result, importer.ResultShape(*started));
    const Shape* const parts[] = {operand->shape_, result};
    const Shape* shape = pair->start_is_result ? result : shapes.Tuple(parts);
    // XLA's converter gives the result of an all-gather-start a layout.
    if (FindAttr(pair->start, kConstrainLayout.id) != nullptr && !pair->start_is_result)
      attrs.push_back({kConstrainLayout.id, true});
    SHOAL_ASSIGN(start, importer.Add(pair->start, {operand}, attrs, shape));
    op.results[0].lowered = start;
    return {};
  }
  SHOAL_ASSIGN(computation, importer.ImportRegion(op.regions[0], op.at));
  importer.Reset(op);
  const Shape* const operands[] = {operand->shape_};
  const Shape* const parts[] = {shapes.Tuple(operands), computation->root->shape_};
  SHOAL_ASSIGN(start, importer.Add(Opcode::kAsyncStart, {operand}, {{kCalls.id, computation}}, shapes.Tuple(parts)));
  op.results[0].lowered = start;
  return {};
}

Status ImportAsyncDone(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(start, importer.Operand(op, 0));
  const AsyncPair* pair = PairOf(start->opcode);
  if (pair == nullptr || pair->start != start->opcode) return importer.Refused(op, "the operand must be an async_start");
  SHOAL_ASSIGN(shape, importer.ResultShape(op));
  SHOAL_ASSIGN(done, importer.Add(pair->done, {start}, {}, shape));
  return importer.SetResult(op, done);
}

}  // namespace shoal::internal
