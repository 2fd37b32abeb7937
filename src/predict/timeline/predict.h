// Predicts the step time of a module on a machine, for `shoal time`.
#pragma once

#include <memory>

#include "analyze/memory/memory.h"
#include "predict/timeline/simulated_step.h"

namespace shoal::internal {

// The analyses of a module that do not depend on the machine. They are computed once for all machines.
class PredictionInput {
 public:
  // Fails if the module is in global form, that is, before SPMD partitioning.
  static Result<std::unique_ptr<PredictionInput>> Of(const Module& module, const ExecutionOptions& options,
                                                   const DeviceGrid& grid);
  // The module to simulate. If the original module has no schedule, this is a copy with transformed collectives.
  const Module& module() const { return module_; }
  const ExecutionCounts& executions() const { return executions_; }
  const ModuleCollectives& collectives() const { return collectives_; }
  const DeviceClasses& classes() const { return classes_; }
  const ModuleMemory& memory() const;
  const Origins& origins() const { return transformed_.origins; }
  int64_t devices() const { return grid_.count(); }

 private:
  struct Transformed {
    std::unique_ptr<Module> module;  // null if no pass changed the module
    Origins origins;
  };
  static Transformed TransformCollectives(const Module& module);

  PredictionInput(const Module& original, Transformed t, const ExecutionOptions& options, const DeviceGrid& grid)
      : original_(original), transformed_(std::move(t)),
        module_(transformed_.module != nullptr ? *transformed_.module : original), grid_(grid),
        executions_(module_, options), collectives_(CollectivesOf(module_, executions_, grid)),
        classes_(DeviceClassesOf(module_, executions_.calls(), collectives_, grid)) {}

  const Module& original_;
  Transformed transformed_;
  const Module& module_;
  DeviceGrid grid_;
  ExecutionCounts executions_;
  ModuleCollectives collectives_;
  DeviceClasses classes_;
  mutable std::unique_ptr<ModuleMemory> memory_;
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
