// The rule of the simplifier for loops: loop-invariant values leave the state.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "formats/stablehlo/fold.h"
#include "formats/stablehlo/op_table.h"
#include "formats/stablehlo/simplifier.h"

namespace shoal::internal {

bool Simplifier::RewriteWhile(MlirOp& op) {
  if (op.regions.size() != 2 || op.results.size() != op.operands.size()) return false;
  for (const MlirRegion& region : op.regions)
    if (region.blocks.size() != 1 || region.blocks[0].ops.empty() ||
        region.blocks[0].arguments.size() != op.operands.size())
      return false;
  MlirBlock& condition = op.regions[0].blocks[0];
  MlirBlock& body = op.regions[1].blocks[0];
  MlirOp& end = *body.ops.back();
  if (end.operands.size() != op.operands.size()) return false;
  std::vector<size_t> kept;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    MlirValue* next = Resolve(end.operands[i]);
    const bool invariant = next == &body.arguments[i] || next == op.operands[i];
    if (!invariant) {
      kept.push_back(i);
      continue;
    }
    replaced_[&condition.arguments[i]] = op.operands[i];
    replaced_[&body.arguments[i]] = op.operands[i];
    replaced_[&op.results[i]] = op.operands[i];
  }
  if (kept.size() == op.operands.size() || kept.empty()) {
    if (kept.empty())
      for (size_t i = 0; i < op.operands.size(); ++i) {
        replaced_.erase(&condition.arguments[i]);
        replaced_.erase(&body.arguments[i]);
        replaced_.erase(&op.results[i]);
      }
    return false;
  }
  MlirOp* loop = arena_.New<MlirOp>(op);
  std::vector<MlirValue*> operands, ends;
  for (const size_t i : kept) {
    operands.push_back(op.operands[i]);
    ends.push_back(Resolve(end.operands[i]));
  }
  loop->operands = arena_.Copy(operands);
  end.operands = arena_.Copy(ends);
  loop->results = arena_.NewSpan<MlirValue>(kept.size());
  for (MlirBlock* block : {&condition, &body}) {
    const std::span<MlirValue> arguments = arena_.NewSpan<MlirValue>(kept.size());
    for (size_t i = 0; i < kept.size(); ++i) {
      new (&arguments[i]) MlirValue(block->arguments[kept[i]]);
      arguments[i].index = static_cast<uint32_t>(i);
      replaced_[&block->arguments[kept[i]]] = &arguments[i];
    }
    block->arguments = arguments;
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    MlirValue value = op.results[kept[i]];
    value.owner = loop;
    value.index = static_cast<uint32_t>(i);
    new (&loop->results[i]) MlirValue(value);
    replaced_[&op.results[kept[i]]] = &loop->results[i];
  }
  ResolveAll(loop->regions);
  out_.push_back(loop);
  changed_ = true;
  return true;
}

void Simplifier::ResolveAll(std::span<MlirRegion> regions) {
  for (MlirRegion& region : regions)
    for (MlirBlock& block : region.blocks)
      for (MlirOp* op : block.ops) {
        for (MlirValue*& operand : op->operands) operand = Resolve(operand);
        ResolveAll(op->regions);
      }
}

}  // namespace shoal::internal
