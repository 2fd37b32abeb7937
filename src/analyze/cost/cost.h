// What the instructions of a module cost when it runs once: work and memory traffic, as often as each runs.
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
  double times = 1;  // it runs
  Cost once;
  bool unknown = false;  // a custom call nobody can price
};

struct ModuleCost {
  std::vector<InstructionCost> instructions;  // that do something, in the order of execution; fusions as one
  Cost total;
  OpCost xla;
  std::map<std::string, int64_t> unknown_calls;  // targets, and how many calls there are
};

ModuleCost CostOf(const Module& module, const ExecutionCounts& executions);
// Of one instruction, once, wherever it stands.
Cost CostOf(const Instruction& hlo, XlaCost& xla);

// Fusions and functions of elements are priced with the op that holds them.
bool IsCostedByCaller(const Computation& computation, const CallGraph& calls);

// What a custom call comes to, if its target and shapes say so.
std::optional<Cost> CustomCallCost(const Instruction& hlo);
// What is known of every custom call: it reads its operands and writes its results.
Cost MemoryOfCall(const Instruction& hlo);
// A custom call that only says something about a value.
bool IsFreeCall(const Instruction& hlo);

}  // namespace shoal::internal
