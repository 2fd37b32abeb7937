// Predicts the step time of a module on a machine, for `shoal time`.
#pragma once

#include <memory>

#include "analyze/facts/infer_devices.h"
#include "analyze/summary/module_facts.h"
#include "core/ops/backend.h"
#include "predict/timeline/simulated_step.h"

namespace shoal::internal {

// The module that a prediction simulates on every machine.
class PredictionInput {
 public:
  // Fails if the module is in global form, that is, before SPMD partitioning.
  static Result<std::unique_ptr<PredictionInput>> Of(std::shared_ptr<const ModuleFacts> facts);
  // The module to simulate. If the original module has no schedule, this is a copy with transformed collectives and
  // kernels. If a CPU compiler wrote it, the copy also has no fusions, widened types and schedule of that compiler.
  const Module& module() const { return facts_->module(); }
  // The facts of module().
  const ModuleFacts& facts() const { return *facts_; }
  // The facts of the original module.
  const ModuleFacts& original() const { return *original_; }
  const Origins& origins() const { return origins_; }
  int64_t devices() const { return original_->devices().grid.count(); }
  // The backend that compiled the original module.
  const BackendChoice& backend() const { return original_->backend(); }
  // True if the rewrites of the CPU compiler were undone.
  bool is_cpu_undone() const { return is_cpu_undone_; }

 private:
  explicit PredictionInput(std::shared_ptr<const ModuleFacts> original);
  std::unique_ptr<Module> TransformedModule();

  std::shared_ptr<const ModuleFacts> original_;
  bool is_cpu_undone_ = false;
  Origins origins_;  // of the instructions of a transformed module
  std::shared_ptr<const ModuleFacts> facts_;
};

struct Prediction {
  Machine machine;
  SimulatedStep prediction;
  double scale_out = 1;
  // The time that the matrix units need at peak rate, as a fraction of the step: without and with recomputed products.
  double mfu = 0, hfu = 0;
  std::string backend_mismatch;  // a sentence, if another backend than that of the machine compiled the module
  double bandwidth = 0;     // average memory bytes per second
  double memory_needed = 0;
  std::vector<std::string> warnings;
};

// If the machine has no fixed number of nodes, adds nodes as needed. Otherwise, fails if the machine is too small.
Result<Prediction> PredictOnMachine(const PredictionInput& input, const Machine& machine);

}  // namespace shoal::internal
