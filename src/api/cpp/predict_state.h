// What handles to machines, predictions and traces share.
#pragma once

#include <optional>

#include "analyze/cost/machine.h"
#include "api/cpp/facts_state.h"
#include "present/reports/time_report.h"
#include "shoal/predict.h"

namespace shoal::internal {

struct MachineState {
  Machine machine;
};

struct TraceState {
  Trace trace;
};

// A prediction and what it points to.
struct PredictionState {
  FactsHandle facts;
  std::unique_ptr<PredictionInput> input;
  TimeReport report;  // with one forecast

  const SimulatedStep& step() const { return report.forecasts.front().prediction; }
};

using PredictionHandle = std::shared_ptr<const PredictionState>;

// The instruction of the user's module if there is one, also if a transformed copy was simulated.
shoal::Instruction ViewOf(const PredictionHandle& prediction, const Instruction& hlo);

}  // namespace shoal::internal
