#include "analyze/summary/module_facts.h"

#include "analyze/cost/overlap.h"
#include "analyze/facts/device_class.h"
#include "analyze/facts/infer_devices.h"
#include "analyze/facts/instruction_ids.h"
#include "analyze/facts/source_lines.h"
#include "analyze/memory/memory.h"
#include "analyze/summary/program_rows.h"
#include "analyze/summary/step_totals.h"
#include "analyze/summary/totals.h"
#include "core/base/lazy.h"

namespace shoal::internal {

struct ModuleFacts::Facts {
  Lazy<BackendChoice> backend;
  Lazy<InstructionIds> ids;
  Lazy<SourceLines> sources;
  Lazy<InferredGrid> devices;
  Lazy<ExecutionCounts> executions;
  Lazy<ModuleCollectives> collectives;
  Lazy<DeviceClasses> device_classes;
  Lazy<ModuleCost> cost;
  Lazy<std::vector<Overlap>> overlaps;
  Lazy<ModuleMemory> memory;
  Lazy<FusionWorks> fusion_works;
  Lazy<StepTotals> step_totals;
  Lazy<ModuleTotals> totals;
  Lazy<std::vector<ProgramRow>> rows;
};

ModuleFacts::ModuleFacts(std::shared_ptr<const Module> module, FactOptions options)
    : module_(std::move(module)), options_(std::move(options)), facts_(std::make_unique<Facts>()) {}

ModuleFacts::ModuleFacts(const Module& module, FactOptions options)
    : ModuleFacts(std::shared_ptr<const Module>(std::shared_ptr<void>(), &module), std::move(options)) {}

ModuleFacts::~ModuleFacts() = default;

const BackendChoice& ModuleFacts::backend() const {
  return facts_->backend.Get([&] { return ChooseBackend(module(), options_.backend); });
}

const InstructionIds& ModuleFacts::ids() const {
  return facts_->ids.Get([&] { return InstructionIds(module()); });
}

const SourceLines& ModuleFacts::sources() const {
  return facts_->sources.Get([&] { return SourceLines(module(), options_.own_packages); });
}

const InferredGrid& ModuleFacts::devices() const {
  return facts_->devices.Get([&] { return InferDevices(module(), options_.num_replicas, options_.num_partitions); });
}

const ExecutionCounts& ModuleFacts::executions() const {
  return facts_->executions.Get([&] { return ExecutionCounts(module(), options_.execution); });
}

const ModuleCollectives& ModuleFacts::collectives() const {
  return facts_->collectives.Get([&] { return CollectivesOf(module(), executions(), devices().grid); });
}

const DeviceClasses& ModuleFacts::device_classes() const {
  return facts_->device_classes.Get(
      [&] { return DeviceClassesOf(module(), executions().calls(), collectives(), devices().grid); });
}

const ModuleCost& ModuleFacts::cost() const {
  return facts_->cost.Get([&] { return CostOf(module(), executions()); });
}

const std::vector<Overlap>& ModuleFacts::overlaps() const {
  return facts_->overlaps.Get([&] {
    Overlaps overlaps(cost(), executions());
    std::vector<Overlap> all;
    for (const LogicalCollective& each : collectives().all) all.push_back(overlaps.Of(*each.start, *each.done));
    return all;
  });
}

const ModuleMemory& ModuleFacts::memory() const {
  return facts_->memory.Get([&] { return MemoryOf(module(), backend()); });
}

const FusionWorks& ModuleFacts::fusion_works() const {
  return facts_->fusion_works.Get([&] { return FusionWorks(module()); });
}

const StepTotals& ModuleFacts::step_totals() const {
  return facts_->step_totals.Get([&] { return StepTotalsOf(*this); });
}

const ModuleTotals& ModuleFacts::totals() const {
  return facts_->totals.Get([&] { return TotalsOf(*this); });
}

const std::vector<ProgramRow>& ModuleFacts::rows() const {
  return facts_->rows.Get([&] { return ProgramRowsOf(*this); });
}

}  // namespace shoal::internal
