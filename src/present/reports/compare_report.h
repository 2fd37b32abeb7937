// The output of `shoal compare`.
#pragma once

#include "analyze/facts/infer_devices.h"
#include "execute/data/partitioned_inputs.h"
#include "execute/interp/run.h"
#include "present/reports/table.h"

namespace shoal::internal {

struct CompareReport {
  std::string a, b;    // each module and the devices it ran on
  std::string inputs;  // the origin of the inputs
  std::vector<std::string> notes;
  std::vector<OutputComparison> outputs;
};

// True if no element of any output is out of bounds.
bool Agree(const std::vector<OutputComparison>& outputs);

std::string CompareText(const CompareReport& report, const TextStyle& style);
std::string CompareJson(const CompareReport& report);

}  // namespace shoal::internal
