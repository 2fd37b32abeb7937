// Pass: one rewrite of a module. It returns whether it changed something; a failure is a bug of ours, with the
// instruction it was about. Passes work on a private copy (core/ir/rewrite.h).
#pragma once

#include <functional>
#include <string_view>

#include "core/ir/module.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

// The services that passes may use and that are defined above them.
struct PassContext {
  // Evaluates the entry computation of a module without parameters on one device.
  std::function<Result<Value>(const Module& module)> evaluate;
};

struct Pass {
  std::string_view name;
  Result<bool> (*run)(Module& module, const PassContext& context);
  std::string_view why;  // and why here
};

// Calls that run their computation once and as they are written become part of the caller: call, and fusions of plain
// ops, which are fused again for this machine. What the interpreter computes otherwise inside a fusion stays there.
Result<bool> InlineCalls(Module& module, const PassContext& context);
// Instructions nobody asks for, and computations nobody calls.
Result<bool> RemoveDeadCode(Module& module, const PassContext& context);
// get-tuple-element of a tuple is the element; a tuple of all elements of a tuple is that tuple.
Result<bool> SimplifyTuples(Module& module, const PassContext& context);
// Equal instructions of equal operands become one.
Result<bool> ShareCommonSubexpressions(Module& module, const PassContext& context);
// Index maps that undo each other, conversions to the same type, operations with a neutral element.
Result<bool> SimplifyAlgebra(Module& module, const PassContext& context);
// Products of what is transposed, and transposed products, become products.
Result<bool> FoldTransposes(Module& module, const PassContext& context);
// Bitcasts through layouts become the reshapes and the transpose that they are, for values that are always row-major.
Result<bool> NormalizeLayouts(Module& module, const PassContext& context);
// Products of vectors in a batch become multiplications and sums, outer products multiplications.
Result<bool> ExpandDots(Module& module, const PassContext& context);
// Reductions of rows of a few elements become ops of slices.
Result<bool> UnrollShortReductions(Module& module, const PassContext& context);
// Windows of many elements that overlap share the sums of their parts.
Result<bool> DecomposeReduceWindows(Module& module, const PassContext& context);
// Elementwise ops of repeated scalars become repeated results of scalars.
Result<bool> SinkBroadcasts(Module& module, const PassContext& context);
// Small results of constants alone become constants.
Result<bool> FoldConstants(Module& module, const PassContext& context);
// Elements of a loop's state that nobody needs go; those that never change are known outside, and made inside where a few
// cheap ops of constants make them.
Result<bool> SimplifyLoops(Module& module, const PassContext& context);
// What the rounds of a loop compute alike moves before the loop.
Result<bool> HoistInvariants(Module& module, const PassContext& context);
// Everything one loop nest can compute becomes one fusion.
Result<bool> FuseLoops(Module& module, const PassContext& context);
// Reductions that fold nothing become reshapes.
Result<bool> SimplifyReductions(Module& module, const PassContext& context);
// Fusions that reduce rows, and those that use the results row by row, become one.
Result<bool> FuseRows(Module& module, const PassContext& context);
// What each device makes of a result that all were given is made late: until then they hold that one together.
Result<bool> SinkPerDeviceValues(Module& module, const PassContext& context);
// What is written in place is read before, where the order is free.
Result<bool> OrderReadsBeforeWrites(Module& module, const PassContext& context);

// An all-reduce of which each device keeps its own part becomes a reduce-scatter.
Result<bool> CreateReduceScatters(Module& module, const PassContext& context);
// Collectives of one kind over the same groups, of which none needs another, become one of up to 30 MiB.
Result<bool> CombineCollectives(Module& module, const PassContext& context);
// Each collective becomes a start and a done.
Result<bool> MakeCollectivesAsync(Module& module, const PassContext& context);
// A schedule for a module that has none: starts as early, dones as late as what is between them hides.
Result<bool> ScheduleLatencyHiding(Module& module, const PassContext& context);

}  // namespace shoal::internal
