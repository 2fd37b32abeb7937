// Predictions for several values of one parameter of a machine.
#pragma once

#include "predict/timeline/predict.h"

namespace shoal::internal {

struct Sweep {
  std::string parameter;            // as the user wrote it; empty: no sweep
  std::vector<std::string> values;
  std::vector<Machine> machines;    // one for each value
};
// Parses "nodes=1,2,4".
Result<Sweep> ParseSweep(const Machine& machine, std::string_view text);

// The reason why no value of the sweep changes the prediction. Empty if some value does.
std::string WhySweepIsConstant(const Sweep& sweep, const PredictionInput& input, std::span<const Prediction> predictions);

}  // namespace shoal::internal
