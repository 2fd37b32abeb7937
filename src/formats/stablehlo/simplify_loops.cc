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
  auto replace = [&](size_t i, MlirValue* by) {
    condition.arguments[i].replacement = body.arguments[i].replacement = op.results[i].replacement = by;
  };
  std::vector<size_t> kept;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    MlirValue* next = Resolve(end.operands[i]);
    const bool invariant = next == &body.arguments[i] || next == op.operands[i];
    if (!invariant) {
      kept.push_back(i);
      continue;
    }
    replace(i, op.operands[i]);
  }
  if (kept.size() == op.operands.size() || kept.empty()) {
    if (kept.empty())
      for (size_t i = 0; i < op.operands.size(); ++i) replace(i, nullptr);
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
      block->arguments[kept[i]].replacement = &arguments[i];
    }
    block->arguments = arguments;
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    MlirValue value = op.results[kept[i]];
    value.owner = loop;
    value.index = static_cast<uint32_t>(i);
    new (&loop->results[i]) MlirValue(value);
    op.results[kept[i]].replacement = &loop->results[i];
  }
  ResolveAll(loop->regions);
  out_.push_back(loop);
  Changed(*loop);
  return true;
}

void Simplifier::ResolveAll(std::span<MlirRegion> regions) {
  for (MlirRegion& region : regions)
    for (MlirBlock& block : region.blocks)
      for (MlirOp* op : block.ops) {
        for (MlirValue*& operand : op->operands) {
          if (operand->replacement != nullptr) op->round = round_;
          operand = Resolve(operand);
        }
        ResolveAll(op->regions);
      }
}

}  // namespace shoal::internal
