#include "cli/commands/show.h"

namespace shoal::cli {

int ShowCommand(const ShowFlags& flags) {
  const Result<Module> module = ReadModule(flags.file, {flags.common.strict});
  if (!module.ok()) return Fail(module.error(), flags.common);
  const Result<Facts> facts = Facts::Of(*module, flags.loops.ToFactOptions());
  if (!facts.ok()) return Fail(facts.error(), flags.common);
  const Result<View> outline = facts->outline(flags.options);
  return outline.ok() ? Finish(*module, TextOf(*outline, flags.common), flags.common) : Fail(outline.error(), flags.common);
}

}  // namespace shoal::cli
