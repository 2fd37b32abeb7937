// What a module comes to, per device and step, in a few figures.
#pragma once

#include <map>

#include "analyze/facts/execution_counts.h"
#include "analyze/facts/infer_devices.h"

namespace shoal::internal {

struct ModuleTotals {
  InferredGrid devices;
  int64_t computations = 0;
  double instructions = 0;
  double flops = 0;
  double transcendentals = 0;
  double bytes = 0;                       // read and written
  double wire_bytes = 0;                  // received from other devices, by the device that receives most
  double collectives = 0;                 // that run
  double peak_memory = 0;                 // the most that is needed at one time
  std::map<std::string, double> by_kind;  // of collective
  std::vector<std::string> assumptions;
};

ModuleTotals TotalsOf(const Module& module, const ExecutionCounts& executions);

// The figures by the names that reports and thresholds use.
struct Metric {
  const char* name;
  double ModuleTotals::*value;
  bool is_bytes;
};
std::span<const Metric> Metrics();

}  // namespace shoal::internal
