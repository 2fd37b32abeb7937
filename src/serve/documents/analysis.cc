#include "serve/documents/analysis.h"

#include <algorithm>

namespace shoal::internal {
namespace {

template <class Map>
typename Map::mapped_type Find(const Map& map, const Instruction& hlo) {
  const auto found = map.find(&hlo);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

ModuleAnalysis::ModuleAnalysis(const Module& module, AnalysisSettings settings)
    : facts_(std::make_shared<const ModuleFacts>(module, FactOptions{.own_packages = std::move(settings.own_packages)})),
      machine_(std::move(settings.machine)) {}

const ModuleMemory* ModuleAnalysis::memory() const {
  const bool fits = fits_memory_.Get([&] { return FirstSizeOverflow(module()) == nullptr; });
  return fits ? &facts_->memory() : nullptr;
}

const ModuleAnalysis::Times& ModuleAnalysis::times() const {
  return times_.Get([&] { return ComputeTimes(); });
}

// The prediction is of a transformed copy if the module has no schedule; its origins lead back to this module.
ModuleAnalysis::Times ModuleAnalysis::ComputeTimes() const {
  Times times;
  if (machine_ == nullptr) return times;
  auto input = PredictionInput::Of(facts_);
  if (!input.ok()) {
    times.error = input.diag().message;
    return times;
  }
  times.input = std::move(*input);
  auto predicted = PredictOnMachine(*times.input, *machine_);
  if (!predicted.ok()) {
    times.error = predicted.diag().message;
    return times;
  }
  times.prediction = std::make_unique<Prediction>(std::move(*predicted));
  const Origins& origins = times.input->origins();
  const auto original = [&](const Instruction* hlo) {
    const auto found = origins.find(hlo);
    return found == origins.end() ? hlo : found->second;
  };
  for (const OpTime& time : times.prediction->prediction.ops) times.ops.emplace(original(time.hlo), &time);
  for (const AsyncTime& time : times.prediction->prediction.asyncs)
    if (time.async->start != nullptr) times.asyncs.emplace(original(time.async->start), &time);
  return times;
}

const InstructionCost* ModuleAnalysis::CostOf(const Instruction& hlo) const {
  return Find(costs_.Get([&] {
    ByInstruction<const InstructionCost*> costs;
    for (const InstructionCost& cost : facts_->cost().instructions) costs.emplace(cost.hlo, &cost);
    return costs;
  }), hlo);
}

const LogicalCollective* ModuleAnalysis::CollectiveOf(const Instruction& hlo) const {
  return Find(collectives_.Get([&] {
    ByInstruction<const LogicalCollective*> collectives;
    for (const LogicalCollective& collective : facts_->collectives().all)
      for (const Instruction* part : {collective.hlo, collective.start, collective.done})
        if (part != nullptr) collectives.emplace(part, &collective);
    return collectives;
  }), hlo);
}

const OpTime* ModuleAnalysis::TimeOf(const Instruction& hlo) const { return Find(times().ops, hlo); }

const AsyncTime* ModuleAnalysis::AsyncTimeOf(const Instruction& hlo) const {
  const LogicalCollective* collective = CollectiveOf(hlo);
  return Find(times().asyncs, collective == nullptr ? hlo : *collective->start);
}

const Overlap& ModuleAnalysis::OverlapOf(const LogicalCollective& collective) const {
  return facts_->overlaps()[static_cast<size_t>(&collective - facts_->collectives().all.data())];
}

int64_t ModuleAnalysis::UserCountOf(const Instruction& hlo) const {
  const auto uses = [&](const Instruction* other) {
    return std::find(other->operands.begin(), other->operands.end(), &hlo) != other->operands.end();
  };
  return std::count_if(hlo.parent->instructions.begin(), hlo.parent->instructions.end(), uses);
}

void ModuleAnalysis::Warm() const {
  if (module().entry == nullptr) return;
  const Instruction& any = *module().entry->root;
  CostOf(any);
  AsyncTimeOf(any);
  memory();
  facts_->overlaps();
  facts_->sources();
}

}  // namespace shoal::internal
