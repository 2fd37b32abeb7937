// Pass: one rewrite of a module. It returns whether it changed something; a failure is a bug of ours, with the
// instruction it was about. Passes work on a private copy (ir/rewrite.h).
#pragma once

#include <string_view>

#include "ir/module.h"

namespace shoal {

struct Pass {
  std::string_view name;
  Result<bool> (*run)(Module& module);
  std::string_view why;  // and why here
};

// Calls that run their computation once and as they are written become part of the caller: call, and fusions of plain
// ops, which are fused again for this machine. What the interpreter computes otherwise inside a fusion stays there.
Result<bool> InlineCalls(Module& module);
// Instructions nobody asks for, and computations nobody calls.
Result<bool> RemoveDeadCode(Module& module);
// get-tuple-element of a tuple is the element; a tuple of all elements of a tuple is that tuple.
Result<bool> SimplifyTuples(Module& module);
// Equal instructions of equal operands become one.
Result<bool> ShareCommonSubexpressions(Module& module);
// Index maps that undo each other, conversions to the same type, operations with a neutral element.
Result<bool> SimplifyAlgebra(Module& module);
// Products of what is transposed, and transposed products, become products.
Result<bool> FoldTransposes(Module& module);
// Bitcasts through layouts become the reshapes and the transpose that they are, for values that are always row-major.
Result<bool> NormalizeLayouts(Module& module);
// Products of vectors in a batch become multiplications and sums, outer products multiplications.
Result<bool> ExpandDots(Module& module);
// Reductions of rows of a few elements become ops of slices.
Result<bool> ExpandShortRows(Module& module);
// Windows of many elements that overlap share the sums of their parts.
Result<bool> DoubleWindows(Module& module);
// Elementwise ops of repeated scalars become repeated results of scalars.
Result<bool> SinkBroadcasts(Module& module);
// Small results of constants alone become constants.
Result<bool> FoldConstants(Module& module);
// Elements of a loop's state that nobody needs go; those that never change are known outside, and made inside where a few
// cheap ops of constants make them.
Result<bool> SimplifyLoops(Module& module);
// What the rounds of a loop compute alike moves before the loop.
Result<bool> HoistInvariants(Module& module);
// Everything one loop nest can compute becomes one fusion.
Result<bool> FuseLoops(Module& module);
// Reductions that fold nothing become reshapes.
Result<bool> SimplifyReductions(Module& module);
// Fusions that reduce rows, and those that use the results row by row, become one.
Result<bool> FuseRows(Module& module);
// What each device makes of a result that all were given is made late: until then they hold that one together.
Result<bool> KeepShared(Module& module);
// What is written in place is read before, where the order is free.
Result<bool> ReadBeforeWrite(Module& module);

// An all-reduce of which each device keeps its own part becomes a reduce-scatter.
Result<bool> CreateReduceScatters(Module& module);
// Collectives of one kind over the same groups, of which none needs another, become one of up to 30 MiB.
Result<bool> CombineCollectives(Module& module);
// Each collective becomes a start and a done.
Result<bool> MakeCollectivesAsync(Module& module);
// A schedule for a module that has none: starts as early, dones as late as what is between them hides.
Result<bool> ScheduleLatencyHiding(Module& module);

}  // namespace shoal
