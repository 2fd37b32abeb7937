// The output of `shoal run`.
#pragma once

#include <optional>
#include <string>

#include "core/base/diags.h"
#include "analyze/facts/infer_devices.h"
#include "execute/data/outputs.h"
#include "execute/data/partitioned_inputs.h"
#include "execute/interp/run.h"
#include "present/reports/text_style.h"

namespace shoal::internal {

struct RunReport {
  std::string file;
  InferredGrid devices;
  std::string inputs;  // their origin
  std::string processes;  // of a job: "4 processes on one machine, Open MPI v4.1.4"; else empty
  NumericsChoice numerics;
  RunStats stats;
  double compile_seconds = 0;       // of the engine
  std::vector<double> run_seconds;  // of each repeat
  std::vector<Output> outputs;
  std::optional<std::vector<OutputComparison>> snapshot;  // with the result recorded in the snapshot, if requested
  Diags diags;
  const Source* text = nullptr;  // the source that `diags` refer to
};

// Devices, time, and a table of the outputs.
std::string ReportText(const RunReport& report, const TextStyle& style);
// JSON, as described in docs/run.md.
std::string ReportJson(const RunReport& report);
// The program of `shoal run --explain` as JSON.
std::string ExplainedProgramJson(const std::string& file, const std::string& program);
// Each output as a literal; devices with identical outputs share one.
std::string ReportLiterals(const RunReport& report);

}  // namespace shoal::internal
