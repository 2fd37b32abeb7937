// The totals of a module, per device and step.
#pragma once

#include <map>

#include "analyze/facts/infer_devices.h"
#include "analyze/summary/module_facts.h"

namespace shoal::internal {

struct ModuleTotals {
  InferredGrid devices;
  int64_t computations = 0;
  double instructions = 0;
  double flops = 0;
  double transcendentals = 0;
  double bytes = 0;                       // bytes read and written
  double wire_bytes = 0;                  // maximum bytes received by any device from other devices
  double collectives = 0;                 // number of executed collectives
  double peak_memory = 0;                 // maximum of the live bytes
  double step_seconds = 0;                // predicted on the machine of an option; 0: there is none
  std::map<std::string, double> by_kind;  // number of executed collectives by kind
  std::vector<std::string> assumptions;
};

ModuleTotals TotalsOf(const ModuleFacts& facts);

// The totals as metrics, with the names that reports and thresholds use.
struct Metric {
  const char* name;
  double ModuleTotals::*value;
  bool is_bytes;
};
std::span<const Metric> Metrics();

}  // namespace shoal::internal
