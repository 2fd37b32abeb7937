// A bound on a metric or on its change between two modules: wire_bytes<=+2%.
#pragma once

#include "analyze/summary/totals.h"
#include "core/base/result.h"

namespace shoal::internal {

struct Threshold {
  enum class Order : uint8_t { kAtMost, kLess, kAtLeast, kMore, kEqual };

  std::string text;    // as on the command line
  std::string metric;  // a metric name from Metrics(), or a kind of collective
  Order order = Order::kAtMost;
  bool is_change = false;   // the bound has a sign or a %, so it limits the change; else it limits B's value
  bool is_percent = false;  // the bound is relative to A's value
  double bound = 0;
};

// "flops<=+2%", "peak_memory<80GB", "all-reduce==+0", "wire_bytes>=-1MiB".
Result<Threshold> ParseThreshold(const std::string& text);

// Returns the value of a metric. A kind of collective that the module does not contain has the value 0.
double MetricValue(const ModuleTotals& totals, const std::string& name);
// Returns (after - before) / before, or infinity if `before` is 0 and `after` is not.
double RelativeChange(double before, double after);

bool IsSatisfied(const Threshold& threshold, double before, double after);

}  // namespace shoal::internal
