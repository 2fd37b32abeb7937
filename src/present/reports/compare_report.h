// What `shoal compare` says when it is done.
#pragma once

#include "analyze/facts/infer_devices.h"
#include "execute/data/partitioned_inputs.h"
#include "execute/interp/run.h"
#include "present/reports/table.h"

namespace shoal::internal {

struct CompareReport {
  std::string a, b;    // the modules and their devices
  std::string inputs;  // where they came from
  std::vector<std::string> notes;
  std::vector<OutputComparison> outputs;

  bool Agree() const;
};

std::string CompareText(const CompareReport& report, const TextStyle& style = OutputStyle());
std::string CompareJson(const CompareReport& report);

}  // namespace shoal::internal
