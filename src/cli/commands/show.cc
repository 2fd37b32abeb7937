#include "cli/commands/show.h"

namespace shoal::cli {

int ShowCommand(const ShowFlags& flags) {
  const Result<Facts> facts = ReadFacts(flags.file, flags.common, flags.loops.ToFactOptions());
  if (!facts.ok()) return Fail(facts.error(), flags.common);
  const Result<View> outline = facts->outline(flags.options);
  return outline.ok() ? Finish(facts->module(), TextOf(*outline, flags.common), flags.common) : Fail(outline.error(), flags.common);
}

}  // namespace shoal::cli
