// Predicts the step time of a module on a machine, for `shoal time`.
#pragma once

#include <memory>

#include "analyze/facts/infer_devices.h"
#include "analyze/summary/module_facts.h"
#include "predict/timeline/simulated_step.h"

namespace shoal::internal {

// The module that a prediction simulates on every machine.
class PredictionInput {
 public:
  // Fails if the module is in global form, that is, before SPMD partitioning.
  static Result<std::unique_ptr<PredictionInput>> Of(std::shared_ptr<const ModuleFacts> facts);
  // The module to simulate. If the original module has no schedule, this is a copy with transformed collectives.
  const Module& module() const { return facts_->module(); }
  // The facts of module().
  const ModuleFacts& facts() const { return *facts_; }
  // The facts of the original module.
  const ModuleFacts& original() const { return *original_; }
  const Origins& origins() const { return origins_; }
  int64_t devices() const { return original_->devices().grid.count(); }

 private:
  explicit PredictionInput(std::shared_ptr<const ModuleFacts> original);

  std::shared_ptr<const ModuleFacts> original_;
  Origins origins_;  // of the instructions of a transformed module
  std::shared_ptr<const ModuleFacts> facts_;
};

struct Prediction {
  Machine machine;
  SimulatedStep prediction;
  double scale_out = 1;
  double mfu = 0;           // model flops utilization, a fraction of the matrix units' peak
  double bandwidth = 0;     // average memory bytes per second
  double memory_needed = 0;
  std::vector<std::string> warnings;
};

// If the machine has no fixed number of nodes, adds nodes as needed. Otherwise, fails if the machine is too small.
Result<Prediction> PredictOnMachine(const PredictionInput& input, const Machine& machine);

}  // namespace shoal::internal
