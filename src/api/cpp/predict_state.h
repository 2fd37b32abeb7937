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

// The predictions of a module and what they point to.
struct PredictionState {
  FactsHandle facts;
  std::unique_ptr<PredictionInput> input;
  TimeReport report;  // a forecast per machine

  // The report on one of the machines.
  TimeReport ReportOn(size_t machine) const;
};

using PredictionHandle = std::shared_ptr<const PredictionState>;

// The instruction of the user's module if there is one, also if a transformed copy was simulated.
shoal::Instruction ViewOf(const PredictionHandle& prediction, const Instruction& hlo);

}  // namespace shoal::internal
