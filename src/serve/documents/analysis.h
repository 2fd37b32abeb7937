// The facts of a module by instruction, as the server shows them. Each table is computed at its first use.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyze/cost/cost.h"
#include "analyze/cost/overlap.h"
#include "analyze/facts/infer_devices.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/memory/memory.h"
#include "analyze/summary/module_facts.h"
#include "core/base/lazy.h"
#include "predict/timeline/predict.h"

namespace shoal::internal {

struct AnalysisSettings {
  std::shared_ptr<const Machine> machine = nullptr;  // of predictions; null: there are no times
  std::vector<std::string> own_packages = {};        // installed packages whose lines count as the user's program
};

class ModuleAnalysis {
 public:
  // The module must outlive the analysis.
  ModuleAnalysis(const Module& module, AnalysisSettings settings);

  const std::shared_ptr<const ModuleFacts>& facts() const { return facts_; }
  const Module& module() const { return facts_->module(); }
  const ExecutionCounts& executions() const { return facts_->executions(); }
  const ModuleMemory* memory() const;  // null if the sizes overflow
  // Null if there is no machine, or if the time cannot be predicted, for the reason in prediction_error().
  const Prediction* prediction() const { return times().prediction.get(); }
  const std::string& prediction_error() const { return times().error; }

  // Null if the instruction has no cost, is not part of a collective, or has no predicted time.
  const InstructionCost* CostOf(const Instruction& hlo) const;
  const LogicalCollective* CollectiveOf(const Instruction& hlo) const;
  const OpTime* TimeOf(const Instruction& hlo) const;
  const AsyncTime* AsyncTimeOf(const Instruction& hlo) const;
  const Overlap& OverlapOf(const LogicalCollective& collective) const;
  // Number of instructions that have this one as an operand.
  int64_t UserCountOf(const Instruction& hlo) const;
  // Computes all tables.
  void Warm() const;

 private:
  template <class T>
  using ByInstruction = absl::flat_hash_map<const Instruction*, T>;
  struct Times {
    std::unique_ptr<PredictionInput> input;
    std::unique_ptr<Prediction> prediction;
    std::string error;
    ByInstruction<const OpTime*> ops;
    ByInstruction<const AsyncTime*> asyncs;  // by the start
  };
  const Times& times() const;
  Times ComputeTimes() const;

  std::shared_ptr<const ModuleFacts> facts_;
  std::shared_ptr<const Machine> machine_;
  Lazy<bool> fits_memory_;
  Lazy<Times> times_;
  Lazy<ByInstruction<const InstructionCost*>> costs_;
  Lazy<ByInstruction<const LogicalCollective*>> collectives_;
};

}  // namespace shoal::internal
