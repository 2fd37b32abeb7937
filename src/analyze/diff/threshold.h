// A bound on how a figure may change between two modules: wire_bytes<=+2%.
#pragma once

#include "analyze/summary/totals.h"
#include "core/base/result.h"

namespace shoal::internal {

struct Threshold {
  enum class Order : uint8_t { kAtMost, kLess, kAtLeast, kMore, kEqual };

  std::string text;    // as given
  std::string figure;  // one of Metrics, or a kind of collective
  Order order = Order::kAtMost;
  bool is_change = false;   // it has a sign, or a percent: of the change, else of B's figure
  bool is_percent = false;  // of A's figure
  double bound = 0;
};

// "flops<=+2%", "peak_memory<80GB", "all-reduce==+0", "wire_bytes>=-1MiB".
Result<Threshold> ParseThreshold(const std::string& text);

// The figure of that name: of a kind of collective that the module does not have, 0.
double MetricValue(const ModuleTotals& totals, const std::string& name);
// (after - before) / before; infinite where there was nothing.
double RelativeChange(double before, double after);

bool Holds(const Threshold& threshold, double before, double after);

}  // namespace shoal::internal
