// A module on a machine: all that `shoal time` tells about it.
#pragma once

#include <memory>

#include "memory/memory.h"
#include "sim/prediction.h"

namespace shoal {

// What does not depend on the machine, worked out once for all of them.
class ForecastInput {
 public:
  // Fails where the module is in global form: not partitioned yet.
  static Result<std::unique_ptr<ForecastInput>> Of(const Module& module, const ExecutionOptions& options,
                                                   const DeviceGrid& grid);
  const Module& module() const { return module_; }
  const Executions& executions() const { return executions_; }
  const ModuleCollectives& collectives() const { return collectives_; }
  const ModuleMemory& memory() const;
  int64_t devices() const { return grid_.count(); }

 private:
  ForecastInput(const Module& module, const ExecutionOptions& options, const DeviceGrid& grid)
      : module_(module), grid_(grid), executions_(module, options),
        collectives_(CollectivesOf(module, executions_, grid)) {}

  const Module& module_;
  DeviceGrid grid_;
  Executions executions_;
  ModuleCollectives collectives_;
  mutable std::unique_ptr<ModuleMemory> memory_;
};

struct Forecast {
  Machine machine;
  Prediction prediction;
  double stretch = 1;
  double mfu = 0;           // useful flops over what the matrix units could do in the step
  double bandwidth = 0;     // bytes a second of memory, over the step
  double memory_needed = 0;
  std::vector<std::string> warnings;
};

// The machine is given as many nodes as the module needs where its name does not fix them. Fails if it is too small.
Result<Forecast> ForecastOf(const ForecastInput& input, const Machine& machine);

}  // namespace shoal
