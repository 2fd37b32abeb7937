// Reports that another backend compiled a module than the backend of the machine on which its time is predicted.
#pragma once

#include <string>

#include "predict/timeline/predict.h"

namespace shoal::internal {

// A sentence that names both backends, the reason, and the effect on the prediction. Empty if they match.
std::string BackendMismatch(const PredictionInput& input, const Machine& machine);

}  // namespace shoal::internal
