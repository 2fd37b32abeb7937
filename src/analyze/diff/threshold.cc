#include "analyze/diff/threshold.h"

#include <charconv>
#include <limits>

#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ops/op.h"

namespace shoal::internal {
namespace {

bool IsFigure(const std::string& name) {
  for (const Metric& total : Metrics())
    if (name == total.name) return true;
  const std::optional<Opcode> opcode = ParseOpcode(name);
  return opcode && (Info(*opcode).op_class == OpClass::kCollective || Info(*opcode).op_class == OpClass::kTransfer);
}

std::string FigureNames() {
  std::string names;
  for (const Metric& total : Metrics()) StrAppend(&names, total.name, ", ");
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
    return Fail(StrCat("a threshold is a figure, <=, <, >=, > or ==, and a bound; got ", text));
  threshold.figure = text.substr(0, text.find_last_not_of(' ', at == 0 ? 0 : at - 1) + 1);
  if (!IsFigure(threshold.figure))
    return Fail(StrCat("a threshold is about ", FigureNames(), "; got ", threshold.figure));
  std::string_view rest = std::string_view(text).substr(at);
  bool known = false;
  for (const auto& [sign, order] : kOrders)
    if (!known && rest.starts_with(sign)) {
      threshold.order = order;
      rest.remove_prefix(sign.size());
      known = true;
    }
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const bool minus = rest.starts_with('-'), plus = rest.starts_with('+');
  if (minus || plus) rest.remove_prefix(1);
  threshold.is_percent = rest.ends_with('%');
  threshold.is_change = threshold.is_percent || minus || plus;
  if (threshold.is_percent) rest.remove_suffix(1);
  double bound = 0;
  if (threshold.is_percent) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), bound);
    known &= error == std::errc() && end == rest.data() + rest.size();
  } else {
    const std::optional<int64_t> number = ParseBytes(rest);
    known &= number.has_value();
    bound = static_cast<double>(number.value_or(0));
  }
  if (!known) return Fail(StrCat("a bound is a number, alone or with %, k, M, G, KB, MiB and so on; got ", text));
  threshold.bound = (minus ? -bound : bound) / (threshold.is_percent ? 100 : 1);
  return threshold;
}

double MetricValue(const ModuleTotals& totals, const std::string& name) {
  for (const Metric& total : Metrics())
    if (name == total.name) return totals.*total.value;
  auto kind = totals.by_kind.find(name);
  return kind == totals.by_kind.end() ? 0 : kind->second;
}

double RelativeChange(double before, double after) {
  if (before == after) return 0;
  if (before == 0)
    return after > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  return (after - before) / before;
}

bool Holds(const Threshold& threshold, double before, double after) {
  double figure = after;
  if (threshold.is_change) figure = threshold.is_percent ? RelativeChange(before, after) : after - before;
  switch (threshold.order) {
    case Threshold::Order::kAtMost:
      return figure <= threshold.bound;
    case Threshold::Order::kLess:
      return figure < threshold.bound;
    case Threshold::Order::kAtLeast:
      return figure >= threshold.bound;
    case Threshold::Order::kMore:
      return figure > threshold.bound;
    case Threshold::Order::kEqual:
      return figure == threshold.bound;
  }
  return false;
}

}  // namespace shoal::internal
