// What `shoal run` says when it is done.
#pragma once

#include <string>

#include "core/base/diags.h"
#include "analyze/facts/infer_devices.h"
#include "execute/data/outputs.h"
#include "execute/interp/run.h"
#include "present/reports/terminal.h"

namespace shoal::internal {

struct RunReport {
  std::string file;
  InferredGrid devices;
  std::string inputs;  // where they came from
  std::string processes;  // of a job: "4 processes on one machine, Open MPI v4.1.4"; else nothing
  NumericsChoice numerics;
  RunStats stats;
  double compile_seconds = 0;       // of the engine
  std::vector<double> run_seconds;  // of each repeat
  std::vector<Output> outputs;
  Diags diags;
  const Source* text = nullptr;  // that they are about
};

// For people: devices, time, and a table of the outputs.
std::string ReportText(const RunReport& report, const TextStyle& style = OutputStyle());
// For programs; docs/run.md says what stands in it.
std::string ReportJson(const RunReport& report);
// Each output as a literal; those of several devices that are the same once.
std::string ReportLiterals(const RunReport& report);

}  // namespace shoal::internal
