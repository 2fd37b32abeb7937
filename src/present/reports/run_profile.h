// The profile of a run: the most expensive instructions and their fraction of the machine peak, or a Perfetto trace.
#pragma once

#include <span>
#include <string>

#include "analyze/facts/device_grid.h"
#include "core/ir/module.h"
#include "core/ir/trace.h"
#include "execute/interp/step_log.h"
#include "present/reports/text_style.h"

namespace shoal::internal {

struct RunProfile {
  std::string file;
  const Module* module = nullptr;  // the module that the log refers to
  DeviceGrid grid;
  const StepLog* log = nullptr;
  std::span<const std::string> own_packages = {};  // see IsInstalledFile
  double peak_flops = 0, peak_bytes = 0;  // per second, of this machine
};

// The instructions with the longest total time over all devices and iterations. Columns: time, flop/s, bytes/s, source.
std::string ProfileText(const RunProfile& profile, const TextStyle& style);

// One process per device, with a track for its waits. Arrows lead from the last device that arrives at a collective to
// each of the others, and from each start to its done.
Trace ProfileTrace(const RunProfile& profile);

}  // namespace shoal::internal
