// A profile of a run: which steps took the time, and how near to what the machine can do; as a Trace for Perfetto.
#pragma once

#include <string>

#include "analyze/facts/device_grid.h"
#include "core/ir/module.h"
#include "core/ir/trace.h"
#include "execute/interp/step_log.h"
#include "present/reports/terminal.h"

namespace shoal::internal {

struct RunProfile {
  std::string file;
  const Module* module = nullptr;  // whose instructions the log has
  DeviceGrid grid;
  const StepLog* log = nullptr;
  double peak_flops = 0, peak_bytes = 0;  // per second, of this machine
};

// The steps that took longest, all devices and rounds together: time, work and traffic per second, and where they come from.
std::string ProfileText(const RunProfile& profile, const TextStyle& style = OutputStyle());

// Devices as processes; what each waited for beside its steps; an arrow from the last to come to a collective to each of
// the others, and from each start to its done.
Trace ProfileTrace(const RunProfile& profile);

}  // namespace shoal::internal
