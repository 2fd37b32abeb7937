#include "cli/commands/mem.h"

#include "cli/commands/base.h"

namespace shoal::cli {

int MemCommand(const MemFlags& flags) {
  const Result<Facts> facts = ReadFacts(flags.file, flags.common, {.backend = flags.backend});
  if (!facts.ok()) return Fail(facts.error(), flags.common);
  const Result<Memory> memory = facts->memory({flags.top, ParseBytes(flags.budget), flags.run});
  if (!memory.ok()) return Fail(memory.error(), flags.common);
  const int status = Finish(facts->module(), TextOf(*memory, flags.common), flags.common);
  return status == kOk && !memory->fits ? kCheckFailed : status;
}

}  // namespace shoal::cli
