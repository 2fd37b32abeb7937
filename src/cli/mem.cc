// shoal mem: what a module keeps in memory, and when most.
#include "base/strings.h"
#include "base/units.h"
#include "cli/input.h"
#include "cli/verbs.h"
#include "devices/infer_devices.h"
#include "memory/run_need.h"
#include "report/mem_report.h"
#include "verify/verify.h"

namespace shoal {
namespace {

struct MemFlags {
  CommonFlags common;
  std::string file, budget, backend;
  int64_t top = 10;
  bool run = false;
};

// False if the module could not be run.
bool WorkOutRun(Input& input, MemReport& report) {
  Verify(*input.module, input.diags);
  if (input.diags.errors() > 0) return false;
  if (Status room = CheckConstantMemory(*input.module); !room.ok()) {
    input.diags.Add(room.diag());
    return false;
  }
  const DeviceGrid grid = InferDevices(*input.module).grid;
  report.run = RunMemoryOf(*input.module, Executions(*input.module), grid);
  std::vector<std::string>& assumptions = report.memory.assumptions;
  assumptions.insert(assumptions.end(), report.run->assumptions.begin(), report.run->assumptions.end());
  return !report.run->peaks.empty();
}

int MemVerb(const MemFlags& flags) {
  Input input = ReadInput(flags.file, {flags.common.strict});
  if (input.module == nullptr) return Refuse(input, flags.common);
  if (const Instruction* beyond = FirstBeyondCount(*input.module))
    return Refuse(input, Fail(beyond->at, "mem.C1", StrCat("the module's values up to this one must have fewer bytes than can be "
                                                           "counted, got one of ", ToString(beyond->shape()))), flags.common);
  ModuleMemory memory = MemoryOf(*input.module, BackendNamed(flags.backend));
  MemReport report{flags.file, input.module.get(), std::move(memory), {}, BytesNamed(flags.budget), flags.top};
  if (flags.run && !WorkOutRun(input, report)) return Refuse(input, flags.common);
  const int status = Finish(input, flags.common.json ? MemJson(report) : MemText(report), flags.common);
  return status == kOk && !report.Fits() ? kInputAtFault : status;
}

}  // namespace

Run AddMem(Options& verb) {
  auto flags = std::make_shared<MemFlags>();
  verb.Value("FILE", flags->file, "HLO text, .pb, either with gzip, or - for standard input").Required();
  verb.Value("--budget", flags->budget, "Exit with 1 if a device needs more: 80GB, 512MiB, 1000000")
      .Check([](const std::string& text) {
        return BytesNamed(text) ? std::string() : StrCat("not a number of bytes: ", text);
      });
  verb.Value("--top", flags->top, "So many buffers; 0: all").NotNegative();
  verb.Value("--backend", flags->backend, "Whose rules for buffers hold; default: what the module shows")
      .OneOf({std::begin(kBackends), std::end(kBackends)});
  verb.Flag("--run", flags->run, "Also work out what shoal run would hold");
  flags->common.AddTo(verb);
  verb.Footer(
      "Figures are per device, counted as XLA assigns buffers: temporaries are one block that holds them all, "
      "packed.\n\n"
      "Examples:\n"
      "  shoal mem module.hlo\n"
      "  shoal mem --budget=80GB module.hlo\n"
      "  shoal mem --json module.hlo | jq .device.peak");
  return [=] { return MemVerb(*flags); };
}

}  // namespace shoal
