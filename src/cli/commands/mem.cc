#include "cli/commands/mem.h"

#include "analyze/facts/infer_devices.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/verify/verify.h"
#include "execute/interp/memory_preflight.h"
#include "present/reports/mem_report.h"

namespace shoal::internal {
namespace {

// False if the module could not be run.
bool WorkOutRun(Input& input, MemReport& report) {
  Verify(*input.module, input.diags);
  if (input.diags.errors() > 0) return false;
  if (Status room = CheckConstantMemory(*input.module); !room.ok()) {
    input.diags.Add(room.diag());
    return false;
  }
  const DeviceGrid grid = InferDevices(*input.module).grid;
  report.run = RunMemoryOf(*input.module, ExecutionCounts(*input.module), grid);
  std::vector<std::string>& assumptions = report.memory.assumptions;
  assumptions.insert(assumptions.end(), report.run->assumptions.begin(), report.run->assumptions.end());
  return !report.run->peaks.empty();
}

}  // namespace

int MemVerb(const MemFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return FailOnInput(input, flags.common);
  if (const Instruction* beyond = FirstSizeOverflow(*input.module))
    return FailOnInput(input, Fail(beyond->at, "mem.C1", StrCat("the module's values up to this one must have fewer bytes than can be "
                                                           "counted, got one of ", ToString(beyond->shape()))), flags.common);
  ModuleMemory memory = MemoryOf(*input.module, ParseBackend(flags.backend));
  MemReport report{flags.file, input.module.get(), std::move(memory), {}, ParseBytes(flags.budget), flags.top};
  if (flags.run && !WorkOutRun(input, report)) return FailOnInput(input, flags.common);
  const int status = Finish(input, flags.common.json ? MemJson(report) : MemText(report), flags.common);
  return status == kOk && !report.Fits() ? kInputError : status;
}

}  // namespace shoal::internal
