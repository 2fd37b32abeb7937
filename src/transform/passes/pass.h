// Pass: one rewrite of a module. It returns true if it changed the module. An error indicates a bug in shoal and names
// the instruction that caused it. Passes work on a private copy of the module (core/ir/rewrite.h).
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "analyze/facts/device_grid.h"
#include "core/ir/module.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

class KernelCache;

// Rates of a device, to compare durations. The default is a typical accelerator; rough values suffice.
struct DeviceRates {
  double bytes_per_second = 3e12, flops_per_second = 4e14, link_bytes_per_second = 5e10, link_latency = 2e-5;
};

// What passes know beyond the module, and services that are implemented in higher layers. Everything is optional.
struct PassContext {
  std::optional<DeviceGrid> grid;  // the devices of a run; null: those of the module's header
  DeviceRates device;
  // Evaluates the entry computation of a module without parameters on one device. Empty: constants are not folded.
  std::function<Result<Value>(const Module& module)> evaluate = {};
  // True if the target compiles the instruction, such as a loop, as one unit. Empty: it compiles none.
  std::function<bool(const Instruction& hlo)> compiles_as_unit = {};
  KernelCache* kernels = nullptr;  // shared with other passes and the lowering
  // Called if a pass does not fuse a group because the kernel builder refused it. `root` is the root of the group.
  std::function<void(const Instruction& root, std::string_view reason)> on_refusal = {};

  DeviceGrid GridOf(const Module& module) const {
    return grid.value_or(DeviceGrid{std::max<int64_t>(1, module.replica_count), std::max<int64_t>(1, module.num_partitions)});
  }
};

struct Pass {
  std::string_view name;
  Result<bool> (*run)(Module& module, const PassContext& context);
  std::string_view reason;  // the reason for its position in the pipeline
};

// Drops control edges that do not affect any value: those of ops without effects.
Result<bool> DropControlEdges(Module& module, const PassContext& context);
// Inlines calls, and also fusions of plain ops, which FuseLoops then fuses again for this machine. Keeps fusions with
// ops that the interpreter evaluates differently inside a fusion.
Result<bool> InlineCalls(Module& module, const PassContext& context);
// Removes unused instructions and uncalled computations.
Result<bool> RemoveDeadCode(Module& module, const PassContext& context);
// Replaces a get-tuple-element of a tuple by the element, and a tuple of all elements of a tuple by that tuple.
Result<bool> SimplifyTuples(Module& module, const PassContext& context);
// Replaces equal instructions with equal operands by one instruction.
Result<bool> ShareCommonSubexpressions(Module& module, const PassContext& context);
// Removes index maps that undo each other and ops that forward their operand, such as conversions to the same type.
Result<bool> SimplifyAlgebra(Module& module, const PassContext& context);
// Folds transposes of dot operands and of dot results into the dot.
Result<bool> FoldTransposes(Module& module, const PassContext& context);
// Rewrites bitcasts between layouts as reshapes and a transpose of row-major values.
Result<bool> NormalizeLayouts(Module& module, const PassContext& context);
// Rewrites batched dots with a vector as a multiply and a reduce, and outer products as a multiply.
Result<bool> ExpandDots(Module& module, const PassContext& context);
// Rewrites reductions of rows with few elements as elementwise ops on slices.
Result<bool> UnrollShortReductions(Module& module, const PassContext& context);
// Rewrites reduce-windows with large overlapping windows so that the windows share partial sums.
Result<bool> DecomposeReduceWindows(Module& module, const PassContext& context);
// Rewrites elementwise ops of broadcast scalars as broadcasts of scalar ops.
Result<bool> SinkBroadcasts(Module& module, const PassContext& context);
// Rewrites batch normalizations as reductions and elementwise ops.
Result<bool> ExpandBatchNorms(Module& module, const PassContext& context);
// Rewrites maps as elementwise ops on arrays.
Result<bool> ExpandMaps(Module& module, const PassContext& context);
// Rebuilds comparisons of floats in total order from the integer comparisons that XLA:CPU expands them to.
Result<bool> RebuildComparisons(Module& module, const PassContext& context);
// Rewrites sorts that compare functions of elements as sorts by precomputed keys.
Result<bool> ExtractSortKeys(Module& module, const PassContext& context);
// Evaluates instructions that depend only on constants, if the result is small.
Result<bool> FoldConstants(Module& module, const PassContext& context);
// Removes unused elements of a loop's state. Uses the initial value of a loop-invariant element after the loop, and
// recomputes it inside the loop if a few cheap ops of constants suffice.
Result<bool> SimplifyLoops(Module& module, const PassContext& context);
// Hoists loop-invariant code out of while loops.
Result<bool> HoistInvariants(Module& module, const PassContext& context);
// Fuses instructions that one loop nest can compute.
Result<bool> FuseLoops(Module& module, const PassContext& context);
// Rewrites reductions over dimensions of size 1 as reshapes. Removes sorts of rows of one element.
Result<bool> SimplifyReductions(Module& module, const PassContext& context);
// Merges fusions that reduce rows with fusions that use the results row by row.
Result<bool> FuseRows(Module& module, const PassContext& context);
// Sinks values that each device computes from a result shared by all devices. This shortens the values' live ranges.
Result<bool> SinkPerDeviceValues(Module& module, const PassContext& context);
// Orders reads of a value before ops that write it in place, where dependencies permit.
Result<bool> OrderReadsBeforeWrites(Module& module, const PassContext& context);
// Outlines consecutive small ops into calls, which run as one step.
Result<bool> GroupSmallOps(Module& module, const PassContext& context);

// Rewrites an all-reduce as a reduce-scatter if each device keeps only its own shard of the result.
Result<bool> CreateReduceScatters(Module& module, const PassContext& context);
// Combines independent collectives of the same kind over the same groups, up to 30 MiB.
Result<bool> CombineCollectives(Module& module, const PassContext& context);
// Fuses elementwise ops into their users, as XLA's GPU pipeline would.
Result<bool> FuseKernels(Module& module, const PassContext& context);
// Splits each collective into a start and a done.
Result<bool> MakeCollectivesAsync(Module& module, const PassContext& context);
// Schedules a module that has no schedule: starts as early as possible, dones once other work has hidden the latency.
Result<bool> ScheduleLatencyHiding(Module& module, const PassContext& context);

// The passes that undo XLA:CPU's own rewrites.
// Inlines every call and fusion.
Result<bool> InlineFusions(Module& module, const PassContext& context);
// Gives values that a compiler widened from bf16 or f16 to f32 their narrow type back: collectives, matrix products,
// convolutions, loop state, and data movement between them. Rounds where the original program rounds.
Result<bool> NarrowWidenedTypes(Module& module, const PassContext& context);
// Gives every value the row-major layout. Bitcasts must not depend on layouts (NormalizeLayouts).
Result<bool> DropLayouts(Module& module, const PassContext& context);
// Drops the schedule.
Result<bool> DropSchedule(Module& module, const PassContext& context);

}  // namespace shoal::internal
