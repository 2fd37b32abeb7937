#include "predict/timeline/sweep.h"

#include <algorithm>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxValues = 1000;

bool IsEqual(const Prediction& a, const Prediction& b) {
  const bool fits_alike = (a.memory_needed > a.machine.device.memory) == (b.memory_needed > b.machine.device.memory);
  return a.prediction.step_seconds == b.prediction.step_seconds && a.prediction.kinds == b.prediction.kinds && fits_alike &&
         a.scale_out == b.scale_out;
}

}  // namespace

Result<Sweep> ParseSweep(const Machine& machine, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return Fail("a sweep is PARAM=V1,V2,…, as in nodes=1,2,4");
  Sweep sweep{std::string(text.substr(0, equals)), {}, {}};
  std::string_view values = text.substr(equals + 1);
  while (!values.empty()) {
    const size_t comma = std::min(values.find(','), values.size());
    sweep.values.emplace_back(values.substr(0, comma));
    Machine& changed = sweep.machines.emplace_back(machine);
    SHOAL_TRY(SetMachineParameter(changed, StrCat(sweep.parameter, "=", sweep.values.back())));
    values.remove_prefix(std::min(values.size(), comma + 1));
    if (sweep.machines.size() > kMaxValues) return Fail(StrCat("a sweep has at most ", kMaxValues, " values"));
  }
  return sweep;
}

std::string WhySweepIsConstant(const Sweep& sweep, const PredictionInput& input, std::span<const Prediction> predictions) {
  if (predictions.size() < 2 || sweep.parameter.empty()) return {};
  for (const Prediction& one : predictions)
    if (!IsEqual(one, predictions.front())) return {};
  const std::string_view name = FindMachineParameter(sweep.parameter)->name;
  const Machine& machine = predictions.front().machine;
  std::string reason = StrCat("no kernel or collective of this module is limited by ", name);
  if (input.facts().collectives().all.empty() && !name.starts_with("device."))
    reason = "the module has no collectives";
  else if (name.starts_with("cluster.") && machine.node.links != NodeLinks::kTorus)
    reason = StrCat("all groups of the module's ", input.devices(), " devices fit in one node of ",
                    machine.devices_per_node(), ", so the network between nodes is not used");
  return StrCat("the sweep of ", sweep.parameter, " does not change the prediction: ", reason);
}

}  // namespace shoal::internal
