// A module on a machine: all that `shoal time` tells about it.
#pragma once

#include <memory>

#include "analyze/memory/memory.h"
#include "predict/timeline/simulated_step.h"

namespace shoal::internal {

// What does not depend on the machine, worked out once for all of them.
class PredictionInput {
 public:
  // Fails where the module is in global form: not partitioned yet.
  static Result<std::unique_ptr<PredictionInput>> Of(const Module& module, const ExecutionOptions& options,
                                                   const DeviceGrid& grid);
  // As it is priced: of one without a schedule, what passes make of its collectives.
  const Module& module() const { return module_; }
  const ExecutionCounts& executions() const { return executions_; }
  const ModuleCollectives& collectives() const { return collectives_; }
  const DeviceClasses& classes() const { return classes_; }
  const ModuleMemory& memory() const;
  const Origins& origins() const { return rewritten_.origins; }
  int64_t devices() const { return grid_.count(); }

 private:
  struct Rewritten {
    std::unique_ptr<Module> module;  // null: it is as it was
    Origins origins;
  };
  static Rewritten WithFewerCollectives(const Module& module);

  PredictionInput(const Module& written, Rewritten rewritten, const ExecutionOptions& options, const DeviceGrid& grid)
      : written_(written), rewritten_(std::move(rewritten)),
        module_(rewritten_.module != nullptr ? *rewritten_.module : written), grid_(grid), executions_(module_, options),
        collectives_(CollectivesOf(module_, executions_, grid)),
        classes_(DeviceClassesOf(module_, executions_.calls(), collectives_, grid)) {}

  const Module& written_;
  Rewritten rewritten_;
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
  double mfu = 0;           // useful flops over what the matrix units could do in the step
  double bandwidth = 0;     // bytes a second of memory, over the step
  double memory_needed = 0;
  std::vector<std::string> warnings;
};

// The machine is given as many nodes as the module needs where its name does not fix them. Fails if it is too small.
Result<Prediction> PredictOnMachine(const PredictionInput& input, const Machine& machine);

}  // namespace shoal::internal
