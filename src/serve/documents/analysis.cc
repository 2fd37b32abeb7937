#include "serve/documents/analysis.h"

namespace shoal::internal {

ModuleAnalysis::ModuleAnalysis(const Module& module, const Machine* machine)
    : module_(module), devices_(InferDevices(module)), executions_(module),
      collectives_(CollectivesOf(module, executions_, devices_.grid)), cost_(internal::CostOf(module, executions_)) {
  if (FirstSizeOverflow(module) == nullptr) memory_ = std::make_unique<ModuleMemory>(MemoryOf(module));
  for (const InstructionCost& cost : cost_.instructions) costs_.emplace(cost.hlo, &cost);
  for (const LogicalCollective& collective : collectives_.all)
    for (const Instruction* hlo : {collective.hlo, collective.start, collective.done})
      if (hlo != nullptr) collective_of_.emplace(hlo, &collective);
  if (machine != nullptr) Predict(*machine);
}

// The prediction is of a transformed copy if the module has no schedule; its origins lead back to this module.
void ModuleAnalysis::Predict(const Machine& machine) {
  auto input = PredictionInput::Of(module_, {}, devices_.grid);
  if (!input.ok()) {
    prediction_error_ = input.diag().message;
    return;
  }
  prediction_input_ = std::move(*input);
  auto predicted = PredictOnMachine(*prediction_input_, machine);
  if (!predicted.ok()) {
    prediction_error_ = predicted.diag().message;
    return;
  }
  prediction_ = std::make_unique<Prediction>(std::move(*predicted));
  const Origins& origins = prediction_input_->origins();
  const auto original = [&](const Instruction* hlo) {
    const auto found = origins.find(hlo);
    return found == origins.end() ? hlo : found->second;
  };
  for (const OpTime& time : prediction_->prediction.ops) times_.emplace(original(time.hlo), &time);
  for (const AsyncTime& time : prediction_->prediction.asyncs)
    if (time.async->start != nullptr) async_times_.emplace(original(time.async->start), &time);
}

namespace {

template <class Map>
typename Map::mapped_type Find(const Map& map, const Instruction& hlo) {
  const auto found = map.find(&hlo);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

const InstructionCost* ModuleAnalysis::CostOf(const Instruction& hlo) const { return Find(costs_, hlo); }
const LogicalCollective* ModuleAnalysis::CollectiveOf(const Instruction& hlo) const { return Find(collective_of_, hlo); }
const OpTime* ModuleAnalysis::TimeOf(const Instruction& hlo) const { return Find(times_, hlo); }
const AsyncTime* ModuleAnalysis::AsyncTimeOf(const Instruction& hlo) const {
  const LogicalCollective* collective = CollectiveOf(hlo);
  return Find(async_times_, collective == nullptr ? hlo : *collective->start);
}

std::span<const Instruction* const> ModuleAnalysis::UsersOf(const Instruction& hlo) const {
  std::lock_guard lock(mutex_);
  return users_.Of(hlo);
}

Overlap ModuleAnalysis::OverlapOf(const LogicalCollective& collective) const {
  std::lock_guard lock(mutex_);
  if (overlaps_ == nullptr) overlaps_ = std::make_unique<Overlaps>(cost_, executions_);
  return overlaps_->Of(*collective.start, *collective.done);
}

}  // namespace shoal::internal
