// The analyses that the server shows for a module: counts, collectives, costs, memory and predicted times.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "analyze/cost/cost.h"
#include "analyze/cost/overlap.h"
#include "analyze/facts/infer_devices.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/memory/memory.h"
#include "core/ir/users.h"
#include "predict/timeline/predict.h"

namespace shoal::internal {

class ModuleAnalysis {
 public:
  // `machine` may be null; then there are no times. The module must outlive the analysis.
  ModuleAnalysis(const Module& module, const Machine* machine);

  const Module& module() const { return module_; }
  const InferredGrid& devices() const { return devices_; }
  const ExecutionCounts& executions() const { return executions_; }
  const ModuleCollectives& collectives() const { return collectives_; }
  const ModuleCost& cost() const { return cost_; }
  const ModuleMemory* memory() const { return memory_.get(); }  // null if the sizes overflow
  const Prediction* prediction() const { return prediction_.get(); }
  const std::string& prediction_error() const { return prediction_error_; }

  // Null if the instruction has no cost, is not part of a collective, or has no predicted time.
  const InstructionCost* CostOf(const Instruction& hlo) const;
  const LogicalCollective* CollectiveOf(const Instruction& hlo) const;
  const OpTime* TimeOf(const Instruction& hlo) const;
  const AsyncTime* AsyncTimeOf(const Instruction& hlo) const;
  std::span<const Instruction* const> UsersOf(const Instruction& hlo) const;
  Overlap OverlapOf(const LogicalCollective& collective) const;

 private:
  void Predict(const Machine& machine);

  const Module& module_;
  InferredGrid devices_;
  ExecutionCounts executions_;
  ModuleCollectives collectives_;
  ModuleCost cost_;
  std::unique_ptr<ModuleMemory> memory_;
  std::unique_ptr<PredictionInput> prediction_input_;
  std::unique_ptr<Prediction> prediction_;
  std::string prediction_error_;
  absl::flat_hash_map<const Instruction*, const InstructionCost*> costs_;
  absl::flat_hash_map<const Instruction*, const LogicalCollective*> collective_of_;
  absl::flat_hash_map<const Instruction*, const OpTime*> times_;
  absl::flat_hash_map<const Instruction*, const AsyncTime*> async_times_;  // by the start
  mutable std::mutex mutex_;  // guards the lazy tables below
  mutable Users users_;
  mutable std::unique_ptr<Overlaps> overlaps_;
};

}  // namespace shoal::internal
