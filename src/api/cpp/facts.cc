#include "shoal/facts.h"

#include <algorithm>

#include "analyze/cost/overlap.h"
#include "analyze/facts/infer_devices.h"
#include "analyze/memory/memory.h"
#include "analyze/summary/totals.h"
#include "api/cpp/facts_state.h"
#include "core/base/strings.h"
#include "core/ops/op.h"
#include "execute/interp/memory_preflight.h"
#include "present/reports/assumptions.h"
#include "present/reports/comm_report.h"
#include "present/reports/cost_report.h"
#include "present/reports/mem_report.h"
#include "present/reports/show_report.h"

namespace shoal::internal {
namespace {

// A sentence that says which values are allowed. Empty if `value` is one of them.
std::string NotOneOf(const char* property, const std::string& value, std::span<const std::string_view> allowed) {
  if (std::ranges::find(allowed, value) != allowed.end()) return {};
  return StrCat(property, " ", StrJoin(allowed, ", "), ", not by '", value, "'");
}

// Fails if a loop, branch or backend does not exist.
shoal::Result<FactOptions> InternalOptions(std::initializer_list<const Module*> modules, const shoal::FactOptions& options) {
  FactOptions out;
  out.execution = {options.trip_counts, options.probabilities};
  for (const auto& [loop, count] : options.trip_counts) {
    if (count < 0) return ArgumentError(StrCat("the trip count of ", loop, " must not be negative, got ", count));
    if (Status known = CheckLoopName(loop, modules); !known.ok()) return ArgumentError(known.diag().message);
  }
  for (const auto& [branch, probability] : options.probabilities) {
    if (!(probability >= 0 && probability <= 1))
      return ArgumentError(StrCat("the probability of ", branch, " must lie in [0, 1], got ", probability));
    if (Status known = CheckBranchName(branch, modules); !known.ok()) return ArgumentError(known.diag().message);
  }
  for (const std::optional<int64_t>& count : {options.num_replicas, options.num_partitions})
    if (count && *count < 1) return ArgumentError(StrCat("the number of replicas and partitions must be positive, got ", *count));
  out.num_replicas = options.num_replicas;
  out.num_partitions = options.num_partitions;
  if (options.backend.empty()) return out;
  out.backend = ParseBackend(options.backend);
  if (!out.backend) return ArgumentError(StrCat("the backend must be cpu, gpu or tpu, got '", options.backend, "'"));
  return out;
}

shoal::Collective PublicCollective(const FactsState& state, const CommRow& row) {
  const LogicalCollective& use = *row.use;
  shoal::Collective out{state.View(*use.hlo), state.View(*use.start), state.View(*use.done)};
  out.kind = Info(use.kind).text;
  out.axis = use.axis();
  out.executions = use.times;
  out.payload_bytes = use.payload_bytes;
  out.wire_bytes = row.direct_bytes;
  out.ring_bytes = row.ring_bytes;
  out.group_count = std::ssize(use.groups());
  for (const DeviceGroup& group : use.groups()) out.group_size = std::max(out.group_size, std::ssize(group));
  out.overlapped_flops = row.overlap.flops;
  out.is_async = use.async();
  return out;
}

shoal::CostTotals PublicCost(const Cost& cost) {
  return {cost.flops, cost.transcendentals, cost.bytes_read, cost.bytes_written};
}

Status AddRunMemory(const ModuleFacts& facts, MemReport& report) {
  SHOAL_TRY(CheckBounded(facts.module()));
  SHOAL_TRY(CheckConstantMemory(facts.module()));
  report.run = RunMemoryOf(facts.module(), facts.executions(), facts.devices().grid);
  if (report.run->peaks.empty()) report.run.reset();
  return {};
}

std::string_view BufferKind(const LiveBuffer& buffer) {
  constexpr std::string_view kKinds[] = {"argument", "output", "constant", "temporary"};
  return kKinds[static_cast<size_t>(buffer.kind)];
}

}  // namespace

shoal::Totals PublicTotals(const ModuleTotals& totals) {
  return {totals.computations, totals.instructions, totals.flops,       totals.transcendentals, totals.bytes,
          totals.wire_bytes,   totals.collectives,  totals.peak_memory, totals.by_kind};
}

}  // namespace shoal::internal

namespace shoal::inline v0_1 {

static_assert(std::ranges::equal(kBackends, internal::kBackends));

std::string View::ToText(const TextStyle& style) const {
  return state_ == nullptr ? "" : state_->text({style.width, style.color});
}
std::string View::ToJson() const { return state_ == nullptr ? "" : state_->json(); }
std::string View::ToCsv() const { return state_ == nullptr || !state_->csv ? "" : state_->csv(); }

Result<Facts> Facts::Of(const Module& module, const FactOptions& options) {
  if (module.empty()) return internal::NoModuleError();
  return internal::Guarded([&]() -> Result<Facts> {
    Result<internal::FactOptions> inner = internal::InternalOptions({&module.state()->module()}, options);
    if (!inner.ok()) return inner.error();
    return Facts(std::make_shared<const internal::FactsState>(module.state(), std::move(*inner)));
  });
}

Result<std::pair<Facts, Facts>> Facts::OfPair(const Module& a, const Module& b, const FactOptions& options) {
  if (a.empty() || b.empty()) return internal::NoModuleError();
  return internal::Guarded([&]() -> Result<std::pair<Facts, Facts>> {
    Result<internal::FactOptions> inner = internal::InternalOptions({&a.state()->module(), &b.state()->module()}, options);
    if (!inner.ok()) return inner.error();
    return std::pair(Facts(std::make_shared<const internal::FactsState>(a.state(), *inner)),
                     Facts(std::make_shared<const internal::FactsState>(b.state(), *inner)));
  });
}

Module Facts::module() const { return Module(state_->module); }

Devices Facts::devices() const {
  const internal::InferredGrid& devices = state_->facts.devices();
  return {devices.grid.count(), devices.grid.replicas, devices.grid.partitions, devices.from};
}

std::vector<Loop> Facts::loops() const {
  const internal::ExecutionCounts& executions = state_->facts.executions();
  std::vector<Loop> loops;
  for (const internal::Instruction* hlo : executions.Loops()) {
    const internal::TripCount& trips = executions.TripCountOfLoop(*hlo);
    Loop loop{state_->View(*hlo), {}, trips.from == internal::TripCount::Provenance::kAssumed, executions.Of(*hlo)};
    if (trips.known()) loop.trip_count = trips.count;
    loops.push_back(std::move(loop));
  }
  return loops;
}

Result<Collectives> Facts::collectives(const CollectiveOptions& options) const {
  if (options.devices_per_node < 1 || options.top < 0)
    return internal::ArgumentError("devices_per_node must be positive, and top must not be negative");
  if (const std::string wrong = internal::NotOneOf("collectives are sorted by", options.sort, internal::kCommOrders); !wrong.empty())
    return internal::ArgumentError(wrong);
  return internal::Guarded([&]() -> Result<Collectives> {
    auto report = std::make_shared<const internal::CommReport>(internal::CommReportOf(
        state_->facts, state_->file(), {options.devices_per_node, options.matrix, options.sort, options.top}));
    const auto state = state_;
    Collectives out{internal::MakeView([report, state](const auto& style) { return CommText(*report, style); },
                                       [report, state] { return CommJson(*report); },
                                       [report, state] { return report->matrix ? CommMatrixCsv(*report) : ""; }),
                    {}};
    for (const internal::CommRow& row : report->rows) out.all.push_back(internal::PublicCollective(*state_, row));
    return out;
  });
}

Result<Cost> Facts::cost(const CostOptions& options) const {
  if (const std::string wrong = internal::NotOneOf("cost is grouped by", options.by, internal::kCostGroupings); !wrong.empty())
    return internal::ArgumentError(wrong);
  if (const std::string wrong = internal::NotOneOf("cost is sorted by", options.sort, internal::kCostOrders); !wrong.empty())
    return internal::ArgumentError(wrong);
  if (options.top < 0) return internal::ArgumentError("top must not be negative");
  return internal::Guarded([&]() -> Result<Cost> {
    auto report = std::make_shared<const internal::CostReport>(
        internal::CostReportOf(state_->facts, state_->file(), {options.by, options.sort, options.top}));
    const auto state = state_;
    Cost out{internal::MakeView([report, state](const auto& style) { return CostText(*report, style); },
                                [report, state] { return CostJson(*report); }),
             internal::PublicCost(state_->facts.cost().total),
             {}};
    for (const internal::InstructionCost& cost : state_->facts.cost().instructions)
      out.instructions.push_back({state_->View(*cost.hlo), cost.times, internal::PublicCost(cost.once)});
    return out;
  });
}

Result<Memory> Facts::memory(const MemoryOptions& options) const {
  if (options.top < 0 || options.budget.value_or(0) < 0)
    return internal::ArgumentError("top and budget must not be negative");
  return internal::Guarded([&]() -> Result<Memory> {
    if (internal::Status fits = CheckTotalSize(state_->facts.module()); !fits.ok())
      return state_->module->MakeError(fits.diag());
    const internal::ModuleMemory& memory = state_->facts.memory();
    auto report = std::make_shared<internal::MemReport>(
        internal::MemReportOf(state_->facts, state_->file(), options.budget, options.top));
    if (options.run) {
      if (const shoal::Result<internal::ModuleHandle> valid = internal::VerifiedModule(state_->module); !valid.ok()) return valid.error();
      if (internal::Status done = internal::AddRunMemory(state_->facts, *report); !done.ok()) return state_->module->MakeError(done.diag());
    }
    const auto state = state_;
    Memory out{internal::MakeView([report, state](const auto& style) { return MemText(*report, style); },
                                  [report, state] { return MemJson(*report); })};
    out.fits = report->Fits();
    out.device_bytes = DeviceBytes(memory);
    out.peak_bytes = memory.device.peak;
    out.argument_bytes = memory.device.arguments;
    out.output_bytes = memory.device.outputs;
    out.constant_bytes = memory.device.constants;
    out.temporary_bytes = memory.device.temporaries;
    out.backend = ToString(memory.backend);
    out.backend_reason = memory.backend_reason;
    for (const internal::LiveBuffer& buffer : memory.live_at_peak)
      if (buffer.hlo != nullptr)
        out.live_at_peak.push_back({state_->View(*buffer.hlo), buffer.index, std::string(internal::BufferKind(buffer)), buffer.bytes});
    return out;
  });
}

Result<View> Facts::outline(const OutlineOptions& options) const {
  if (options.ops > OutlineOptions::Ops::kAll || options.depth < 0)
    return internal::ArgumentError("ops must be one of the enumerators, and depth must not be negative");
  return internal::Guarded([&]() -> Result<View> {
    const internal::SkeletonOptions skeleton{static_cast<internal::ShownOps>(options.ops), options.inside_fusions};
    internal::SkeletonStyle style;
    style.names = options.names;
    style.groups_as_written = options.groups_as_written;
    style.stack = options.stack;
    style.depth = options.depth;
    auto report = std::make_shared<const internal::ShowReport>(state_->facts, state_->file(), skeleton, style);
    const auto state = state_;
    return internal::MakeView([report, state](const auto& text) { return report->Text(text); },
                              [report, state] { return report->Json(); });
  });
}

Totals Facts::totals() const { return internal::PublicTotals(state_->facts.totals()); }

std::vector<std::string> Facts::assumptions() const {
  std::vector<std::string> all = internal::AssumptionsOf(state_->facts);
  for (const std::vector<std::string>& more : {state_->facts.collectives().assumptions, internal::AssumptionsOf(state_->facts.cost())})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace shoal::inline v0_1
