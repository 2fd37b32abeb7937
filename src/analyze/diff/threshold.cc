#include "analyze/diff/threshold.h"

#include <limits>

#include "core/base/numbers.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ops/op.h"

namespace shoal::internal {
namespace {

bool IsMetricName(const std::string& name) {
  for (const Metric& metric : Metrics())
    if (name == metric.name) return true;
  const std::optional<Opcode> opcode = ParseOpcode(name);
  return opcode && (Info(*opcode).op_class == OpClass::kCollective || Info(*opcode).op_class == OpClass::kTransfer);
}

std::string MetricNames() {
  std::string names;
  for (const Metric& metric : Metrics()) StrAppend(&names, metric.name, ", ");
  return names + "all-reduce or another kind of collective";
}

}  // namespace

Result<Threshold> ParseThreshold(const std::string& text) {
  static constexpr std::pair<std::string_view, Threshold::Order> kOrders[] = {
      {"<=", Threshold::Order::kAtMost}, {">=", Threshold::Order::kAtLeast}, {"==", Threshold::Order::kEqual},
      {"<", Threshold::Order::kLess},    {">", Threshold::Order::kMore},
  };
  Threshold threshold;
  threshold.text = text;
  const size_t at = text.find_first_of("<>=");
  if (at == std::string::npos)
    return Fail(StrCat("a threshold must be a metric, then <=, <, >=, > or ==, then a bound; got ", text));
  threshold.metric = text.substr(0, text.find_last_not_of(' ', at == 0 ? 0 : at - 1) + 1);
  if (!IsMetricName(threshold.metric))
    return Fail(StrCat("unknown metric ", threshold.metric, " in a threshold; known: ", MetricNames()));
  std::string_view rest = std::string_view(text).substr(at);
  bool valid = false;
  for (const auto& [sign, order] : kOrders)
    if (!valid && rest.starts_with(sign)) {
      threshold.order = order;
      rest.remove_prefix(sign.size());
      valid = true;
    }
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const bool minus = rest.starts_with('-'), plus = rest.starts_with('+');
  if (minus || plus) rest.remove_prefix(1);
  valid &= !rest.starts_with('-');  // the only sign is removed
  threshold.is_percent = rest.ends_with('%');
  threshold.is_change = threshold.is_percent || minus || plus;
  if (threshold.is_percent) rest.remove_suffix(1);
  double bound = 0;
  if (threshold.is_percent || threshold.metric == "step_seconds") {
    const std::optional<double> number = ParseNumber(rest);
    valid &= number.has_value();
    bound = number.value_or(0);
  } else {
    const std::optional<int64_t> number = ParseBytes(rest);
    valid &= number.has_value();
    bound = static_cast<double>(number.value_or(0));
  }
  if (!valid)
    return Fail(StrCat("the bound must be a number, optionally with a unit such as %, k, M, G, KB or MiB; got ", text));
  threshold.bound = (minus ? -bound : bound) / (threshold.is_percent ? 100 : 1);
  return threshold;
}

double MetricValue(const ModuleTotals& totals, const std::string& name) {
  for (const Metric& metric : Metrics())
    if (name == metric.name) return totals.*metric.value;
  auto kind = totals.by_kind.find(name);
  return kind == totals.by_kind.end() ? 0 : kind->second;
}

double RelativeChange(double before, double after) {
  if (before == after) return 0;
  if (before == 0)
    return after > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  return (after - before) / before;
}

bool IsSatisfied(const Threshold& threshold, double before, double after) {
  double value = after;
  if (threshold.is_change) value = threshold.is_percent ? RelativeChange(before, after) : after - before;
  switch (threshold.order) {
    case Threshold::Order::kAtMost:
      return value <= threshold.bound;
    case Threshold::Order::kLess:
      return value < threshold.bound;
    case Threshold::Order::kAtLeast:
      return value >= threshold.bound;
    case Threshold::Order::kMore:
      return value > threshold.bound;
    case Threshold::Order::kEqual:
      return value == threshold.bound;
  }
  return false;
}

}  // namespace shoal::internal
