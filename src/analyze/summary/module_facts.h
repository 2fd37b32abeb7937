// ModuleFacts: everything that the analyses derive from one module. Each fact is computed at its first use, once, and
// is immutable afterwards, so that any number of threads may share one object. The module must not change while its
// facts exist; a pass rewrites a copy, which has facts of its own.
#pragma once

#include <memory>
#include <optional>

#include "analyze/facts/execution_counts.h"
#include "core/ops/backend.h"

namespace shoal::internal {

class FusionWorks;
class InstructionIds;
class SourceLines;
struct DeviceClasses;
struct InferredGrid;
struct ModuleCollectives;
struct ModuleCost;
struct ModuleMemory;
struct ModuleTotals;
struct Overlap;
struct ProgramRow;
struct StepTotals;

struct FactOptions {
  ExecutionOptions execution = {};                                       // trip counts and branch probabilities
  std::optional<int64_t> num_replicas = std::nullopt, num_partitions = std::nullopt;  // default: inferred
  std::optional<Backend> backend = std::nullopt;                         // buffer-assignment rules; default: inferred
  std::vector<std::string> own_packages = {};  // installed packages whose lines count as the user's program
};

class ModuleFacts {
 public:
  explicit ModuleFacts(std::shared_ptr<const Module> module, FactOptions options = {});
  // The module must outlive the facts.
  explicit ModuleFacts(const Module& module, FactOptions options = {});
  ~ModuleFacts();
  ModuleFacts(const ModuleFacts&) = delete;
  ModuleFacts& operator=(const ModuleFacts&) = delete;

  const Module& module() const { return *module_; }
  const FactOptions& options() const { return options_; }

  // To use a fact, include the header of its type.
  const BackendChoice& backend() const;
  const InstructionIds& ids() const;
  const SourceLines& sources() const;
  const InferredGrid& devices() const;
  const ExecutionCounts& executions() const;
  const ModuleCollectives& collectives() const;
  const DeviceClasses& device_classes() const;
  const ModuleCost& cost() const;
  const std::vector<Overlap>& overlaps() const;  // one per collective, in the order of collectives().all
  const ModuleMemory& memory() const;
  const FusionWorks& fusion_works() const;
  const StepTotals& step_totals() const;
  const ModuleTotals& totals() const;
  const std::vector<ProgramRow>& rows() const;

 private:
  struct Facts;
  const std::shared_ptr<const Module> module_;
  const FactOptions options_;
  const std::unique_ptr<const Facts> facts_;
};

}  // namespace shoal::internal
