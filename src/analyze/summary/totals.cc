#include "analyze/summary/totals.h"

#include "analyze/cost/cost.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/memory/memory.h"
#include "core/ops/op.h"

namespace shoal::internal {

ModuleTotals TotalsOf(const ModuleFacts& facts) {
  const Module& module = facts.module();
  ModuleTotals totals;
  totals.devices = facts.devices();
  totals.computations = std::ssize(module.computations);
  for (const Computation* computation : module.computations)
    totals.instructions += static_cast<double>(computation->instructions.size());
  const ModuleCost& cost = facts.cost();
  totals.flops = cost.total.flops;
  totals.transcendentals = cost.total.transcendentals;
  totals.bytes = cost.total.bytes();
  const ModuleCollectives& collectives = facts.collectives();
  for (const LogicalCollective& collective : collectives.all) {
    totals.wire_bytes += collective.times * static_cast<double>(collective.MaxWireBytes());
    totals.collectives += collective.times;
    totals.by_kind[std::string(Text(collective.kind))] += collective.times;
  }
  const ModuleMemory& memory = facts.memory();
  totals.peak_memory = static_cast<double>(memory.device.peak);
  totals.assumptions = collectives.assumptions;
  totals.assumptions.insert(totals.assumptions.end(), memory.assumptions.begin(), memory.assumptions.end());
  return totals;
}

std::span<const Metric> Metrics() {
  static constexpr Metric kMetrics[] = {
      {"instructions", &ModuleTotals::instructions, false},
      {"flops", &ModuleTotals::flops, false},
      {"transcendentals", &ModuleTotals::transcendentals, false},
      {"bytes", &ModuleTotals::bytes, true},
      {"wire_bytes", &ModuleTotals::wire_bytes, true},
      {"collectives", &ModuleTotals::collectives, false},
      {"peak_memory", &ModuleTotals::peak_memory, true}, {"step_seconds", &ModuleTotals::step_seconds, false},
  };
  return kMetrics;
}

}  // namespace shoal::internal
