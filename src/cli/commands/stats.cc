#include "cli/commands/stats.h"

#include "cli/commands/base.h"
#include "cli/commands/progress.h"
#include "shoal/files.h"

namespace shoal::cli {

int StatsCommand(const StatsFlags& flags) {
  ProgressLine line("reading");
  StatsOptions options{flags.common.strict, flags.diff, flags.top};
  options.own_packages = OwnPackages();
  options.progress = [&](int64_t read, int64_t files, std::string_view module) {
    line.Show(static_cast<double>(read), static_cast<double>(files), StrCat(read, " of ", files, " files, ", module));
  };
  const Result<DumpStats> stats = Stats(flags.folder, options);
  line.Clear();
  if (!stats.ok()) return Fail(stats.error(), flags.common);
  const int status = WriteText(TextOf(*stats, flags.common));
  if (status != kOk || stats->modules > 0) return status;
  PrintToStderr(StrCat("shoal stats: ", flags.folder, " contains no readable module\n"));
  return kInputError;
}

}  // namespace shoal::cli
