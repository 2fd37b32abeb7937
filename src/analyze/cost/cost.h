// Cost of one run of a module: the work and memory traffic of each instruction, multiplied by its execution count.
#pragma once

#include "analyze/cost/xla_cost.h"
#include "analyze/facts/execution_counts.h"

namespace shoal::internal {

struct Cost {
  double flops = 0;
  double transcendentals = 0;
  double bytes_read = 0;
  double bytes_written = 0;

  double bytes() const { return bytes_read + bytes_written; }
  void Add(const Cost& other, double times = 1);
};

struct InstructionCost {
  const Instruction* hlo = nullptr;
  double times = 1;  // execution count
  Cost once;
  bool unknown = false;  // true for a custom call whose cost is unknown
};

struct ModuleCost {
  std::vector<InstructionCost> instructions;  // instructions with a cost, in execution order; a fusion is one entry
  Cost total;
  OpCost xla;  // XLA's own estimate for the entry computation
  std::map<std::string, int64_t> unknown_calls;  // number of calls by target
};

ModuleCost CostOf(const Module& module, const ExecutionCounts& executions);
// The cost of one execution of an instruction.
Cost CostOf(const Instruction& hlo, XlaCost& xla);

// True for fused computations and per-element functions. Their cost is included in that of the calling op.
bool IsCostedByCaller(const Computation& computation, const CallGraph& calls);

// The cost of a custom call. Returns nullopt if the target and the shapes do not determine the cost.
std::optional<Cost> CustomCallCost(const Instruction& hlo);
// The minimum memory traffic of a custom call, which reads all operands and writes all results.
Cost MemoryOfCall(const Instruction& hlo);
// True for a custom call that only annotates a value.
bool IsFreeCall(const Instruction& hlo);

}  // namespace shoal::internal
