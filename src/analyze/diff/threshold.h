// A bound on a metric of module B, or on its change from A to B, such as wire_bytes<=+2%.
#pragma once

#include "analyze/summary/totals.h"
#include "core/base/result.h"

namespace shoal::internal {

struct Threshold {
  enum class Order : uint8_t { kAtMost, kLess, kAtLeast, kMore, kEqual };

  std::string text;    // the threshold as given on the command line
  std::string metric;  // a metric name from Metrics(), or a kind of collective
  Order order = Order::kAtMost;
  bool is_change = false;   // true if the bound has a sign or a % and limits the change instead of B's value
  bool is_percent = false;  // true if the bound is relative to A's value
  double bound = 0;
};

// Parses text such as "flops<=+2%", "peak_memory<80GB", "all-reduce==+0" or "wire_bytes>=-1MiB".
Result<Threshold> ParseThreshold(const std::string& text);

// Returns the value of a metric. A kind of collective that the module does not contain has the value 0.
double MetricValue(const ModuleTotals& totals, const std::string& name);
// Returns (after - before) / before, or positive or negative infinity if `before` is 0 and `after` is not.
double RelativeChange(double before, double after);

bool IsSatisfied(const Threshold& threshold, double before, double after);

}  // namespace shoal::internal
