#include "transform/passes/pipeline.h"

#include <algorithm>
#include <chrono>

#include "core/base/diags.h"
#include "core/base/strings.h"
#include "core/verify/verify.h"

namespace shoal::internal {
namespace {

constexpr Pass kEnginePipeline[] = {
    {"inline-calls", InlineCalls, "first: everything after it sees across what were borders of functions"},
    {"simplify-tuples", SimplifyTuples, "before anything that asks who uses a value: a tuple uses all of it"},
    {"simplify-reductions", SimplifyReductions, "before reshapes are simplified: it makes some"},
    {"normalize-layouts", NormalizeLayouts, "before simplify-algebra: the transposes it makes meet others"},
    {"expand-dots", ExpandDots, "before anything that looks at sums: it makes some"},
    {"unroll-short-reductions", UnrollShortReductions, "when the last dimension is the one that lies together in memory"},
    {"decompose-reduce-windows", DecomposeReduceWindows, "before fusion, which would look at every element of a window"},
    {"sink-broadcasts", SinkBroadcasts, "before constants are folded: what is one number everywhere is small"},
    {"fold-constants", FoldConstants, "before loops are looked at: a bound that is computed becomes a constant"},
    {"simplify-loops", SimplifyLoops, "before invariants are looked for: fewer elements, and constants inside"},
    {"hoist-invariants", HoistInvariants, "before fusion, which would hide them"},
    {"simplify-algebra", SimplifyAlgebra, "before equal instructions are looked for: it makes more of them equal"},
    {"fold-transposes", FoldTransposes, "after simplify-algebra, which makes one of two that follow each other"},
    {"share-common-subexpressions", ShareCommonSubexpressions, "inlining brings many copies of the same constants"},
    {"remove-dead-code", RemoveDeadCode, "what the passes above left behind would be fused otherwise"},
    {"fuse-loops", FuseLoops, "late: it hides instructions from every pass above"},
    {"fuse-rows", FuseRows, "joins what fuse-loops made"},
    {"sink-per-device-values", SinkPerDeviceValues, "when it is known what is one step: it orders what is left"},
    {"order-reads-before-writes", OrderReadsBeforeWrites, "last: a writer waits for the readers as they are now"},
};

// What XLA's GPU pipeline does to collectives after SPMD partitioning. The engine has no use for it: its devices meet
// whenever they arrive.
constexpr Pass kCommunicationPipeline[] = {
    {"create-reduce-scatters", CreateReduceScatters, "first: a reduce-scatter is combined with others of its kind"},
    {"combine-collectives", CombineCollectives, "before they are split: one start for many"},
    {"make-collectives-async", MakeCollectivesAsync, "gives the schedule something to move"},
    {"schedule-latency-hiding", ScheduleLatencyHiding, "last: what follows would have to keep its order"},
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

const Pass* PassByName(std::string_view name) {
  for (std::span<const Pass> passes : {EnginePipeline(), CommunicationPipeline()})
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
