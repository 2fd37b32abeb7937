// What `shoal compare` says when it is done.
#pragma once

#include "devices/infer_devices.h"
#include "data/same_inputs.h"
#include "interp/run.h"
#include "report/table.h"

namespace shoal {

struct CompareReport {
  std::string a, b;    // the modules and their devices
  std::string inputs;  // where they came from
  std::vector<std::string> notes;
  std::vector<OutputComparison> outputs;

  bool Agree() const;
};

std::string CompareText(const CompareReport& report, const TextStyle& style = OutputStyle());
std::string CompareJson(const CompareReport& report);

}  // namespace shoal
