#include "cli/commands/mem.h"

#include "analyze/facts/infer_devices.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/verify/verify.h"
#include "execute/interp/memory_preflight.h"
#include "present/reports/mem_report.h"

namespace shoal::internal {
namespace {

// Computes the memory of a run. Returns false if the module cannot be run.
bool ComputeRunMemory(Input& input, const ModuleFacts& facts, MemReport& report) {
  Verify(*input.module, input.diags);
  if (input.diags.errors() > 0) return false;
  Status fits = CheckBounded(*input.module);
  if (fits.ok()) fits = CheckConstantMemory(*input.module);
  if (!fits.ok()) {
    input.diags.Add(fits.diag());
    return false;
  }
  report.run = RunMemoryOf(*input.module, facts.executions(), facts.devices().grid);
  return !report.run->peaks.empty();
}

}  // namespace

int MemCommand(const MemFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return FailOnInput(input, flags.common);
  if (Status fits = CheckTotalSize(*input.module); !fits.ok()) return FailOnInput(input, fits.diag(), flags.common);
  const ModuleFacts facts(*input.module, {.backend = ParseBackend(flags.backend)});
  MemReport report = MemReportOf(facts, flags.file, ParseBytes(flags.budget), flags.top);
  if (flags.run && !ComputeRunMemory(input, facts, report)) return FailOnInput(input, flags.common);
  const int status = Finish(input, flags.common.json ? MemJson(report) : MemText(report, OutputStyle()), flags.common);
  return status == kOk && !report.Fits() ? kCheckFailed : status;
}

}  // namespace shoal::internal
