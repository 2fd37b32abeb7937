#include "transform/passes/pipeline.h"

#include <algorithm>
#include <chrono>

#include "core/base/diags.h"
#include "core/base/strings.h"
#include "core/verify/verify.h"

namespace shoal::internal {
namespace {

constexpr Pass kEnginePipeline[] = {
    {"drop-control-edges", DropControlEdges, "first, because most passes do not rewrite ops that have control edges"},
    {"inline-calls", InlineCalls, "early, so that all later passes see across function boundaries"},
    {"simplify-tuples", SimplifyTuples, "before passes that inspect users, because a tuple uses every element"},
    {"rebuild-comparisons", RebuildComparisons, "after inline-calls, because comparators may contain calls"},
    {"extract-sort-keys", ExtractSortKeys, "after rebuild-comparisons, which leaves fewer functions of elements"},
    {"expand-maps", ExpandMaps, "after inline-calls, because the functions of maps may contain calls"},
    {"expand-batch-norms", ExpandBatchNorms, "before simplify-reductions, because it creates reductions"},
    {"simplify-reductions", SimplifyReductions, "before simplify-algebra, because it creates reshapes"},
    {"normalize-layouts", NormalizeLayouts, "before simplify-algebra, which merges the transposes it creates"},
    {"expand-dots", ExpandDots, "before the passes that rewrite reductions, because it creates some"},
    {"unroll-short-reductions", UnrollShortReductions, "after normalize-layouts, so that the last dimension is contiguous"},
    {"decompose-reduce-windows", DecomposeReduceWindows, "before fusion, whose loops would read each window in full"},
    {"sink-broadcasts", SinkBroadcasts, "before fold-constants, because a scalar is smaller than its broadcast"},
    {"fold-constants", FoldConstants, "before simplify-loops, so that computed loop bounds are constants"},
    {"simplify-loops", SimplifyLoops, "before hoist-invariants, so that loops have less state and more constants"},
    {"hoist-invariants", HoistInvariants, "before fusion, which would hide the loop-invariant instructions"},
    {"simplify-algebra", SimplifyAlgebra, "before share-common-subexpressions: it makes more instructions equal"},
    {"fold-transposes", FoldTransposes, "after simplify-algebra, which merges consecutive transposes"},
    {"share-common-subexpressions", ShareCommonSubexpressions, "after inline-calls, which leaves many equal constants"},
    {"remove-dead-code", RemoveDeadCode, "before fusion, which would otherwise fuse unused instructions"},
    {"fuse-loops", FuseLoops, "after the passes above, because a fusion hides its instructions from them"},
    {"fuse-rows", FuseRows, "after fuse-loops, because it merges the fusions created there"},
    {"sink-per-device-values", SinkPerDeviceValues, "after fusion, because it reorders the remaining instructions"},
    {"order-reads-before-writes", OrderReadsBeforeWrites, "after the passes above, because only now the readers of each value are final"},
    {"group-small-ops", GroupSmallOps, "last, because a call hides its ops from all other passes"},
};

// The passes that XLA's GPU pipeline runs on collectives after SPMD partitioning. The engine does not need them: its
// devices run on their own threads, and a collective completes when all its devices have arrived.
constexpr Pass kCommunicationPipeline[] = {
    {"create-reduce-scatters", CreateReduceScatters, "first, so that the reduce-scatters can be combined"},
    {"combine-collectives", CombineCollectives, "before collectives become async, so that many share one start"},
    {"simplify-algebra", SimplifyAlgebra, "before fuse-kernels: a copy to the same layout needs no kernel"},
    {"fold-transposes", FoldTransposes, "before fuse-kernels: a GEMM reads transposed operands"},
    {"fuse-kernels", FuseKernels, "after the passes that look for slices of collectives; before scheduling"},
    {"make-collectives-async", MakeCollectivesAsync, "before scheduling, which moves the starts and dones"},
    {"schedule-latency-hiding", ScheduleLatencyHiding, "last, because any later pass would have to preserve the schedule"},
};

// The passes that turn a module compiled by XLA:CPU back into one that another backend could compile.
constexpr Pass kCpuUndoPipeline[] = {
    {"drop-control-edges", DropControlEdges, "first, because passes do not rewrite ops that have control edges"},
    {"inline-fusions", InlineFusions, "early, because fusions hide conversions"},
    {"simplify-tuples", SimplifyTuples, "before narrow-widened-types, which follows values through loops"},
    {"normalize-layouts", NormalizeLayouts, "before drop-layouts, because bitcasts depend on layouts"},
    {"drop-layouts", DropLayouts, "before simplify-algebra, which then removes the copies between layouts"},
    {"simplify-algebra", SimplifyAlgebra, "before narrow-widened-types: removes the copies between buffers"},
    {"narrow-widened-types", NarrowWidenedTypes, "before collectives are combined, because their types decide"},
    {"simplify-algebra", SimplifyAlgebra, "after narrow-widened-types, which leaves conversions to the same type"},
    {"share-common-subexpressions", ShareCommonSubexpressions, "after inline-fusions, which leaves many equal constants"},
    {"remove-dead-code", RemoveDeadCode, "after all passes that leave unused instructions"},
    {"drop-schedule", DropSchedule, "last: the other backend has its own schedule"},
};

Result<bool> Verified(Module& module, const Pass& pass) {
  Diags found;
  Verify(module, found);
  for (const Diag& diag : found.found())
    if (diag.severity == Severity::kError) return Fail(diag.at, diag.rule, StrCat("after ", pass.name, ": ", diag.message));
  return true;
}

}  // namespace

std::span<const Pass> EnginePipeline() { return kEnginePipeline; }

std::span<const Pass> CommunicationPipeline() { return kCommunicationPipeline; }

std::span<const Pass> KernelPipeline() { return CommunicationPipeline().first(5); }

std::span<const Pass> CpuUndoPipeline() { return kCpuUndoPipeline; }

const Pass* PassByName(std::string_view name) {
  for (std::span<const Pass> passes : {EnginePipeline(), CommunicationPipeline(), CpuUndoPipeline()})
    for (const Pass& pass : passes)
      if (pass.name == name) return &pass;
  return nullptr;
}

Result<bool> RunPipeline(Module& module, std::span<const Pass> passes, const PipelineOptions& options) {
  using Clock = std::chrono::steady_clock;
  bool any = false;
  for (const Pass& pass : passes) {
    if (std::find(options.disabled.begin(), options.disabled.end(), pass.name) != options.disabled.end()) continue;
    const auto start = Clock::now();
    Result<bool> changed = pass.run(module, options.context);
    if (!changed.ok()) return Fail(changed.diag().at, changed.diag().rule, StrCat(pass.name, ": ", changed.diag().message));
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    any = any || *changed;
    if (options.verify && *changed) SHOAL_TRY(Verified(module, pass));
    if (options.after) options.after(pass, *changed, seconds);
  }
  return any;
}

}  // namespace shoal::internal
