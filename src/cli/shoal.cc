#include "cli/shoal.h"

#include <cstdio>
#include <map>
#include <new>
#include <string>

#include "cli/input.h"
#include "cli/verbs.h"

namespace shoal {
namespace {

int Dispatch(int argc, char** argv) {
  CLI::App app("shoal opens the compiled programs of distributed machine learning (XLA HLO modules) on any machine.",
               "shoal");
  app.require_subcommand(1);
  app.set_version_flag("--version", "shoal 0.1");
  app.footer(
      "shoal VERB --help says more. Files may be HLO text, .pb or either packed with gzip; - is standard input.");
  std::map<const CLI::App*, Run> runs;
  for (auto add :
       {AddCheck, AddPrint, AddRun, AddCompare, AddShow, AddComm, AddCost, AddMem, AddTime, AddMachines, AddDiff, AddStats,
        AddReport, AddOps, AddOpt}) {
    Run run = add(app);
    runs[app.get_subcommands(nullptr).back()] = run;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kCallAtFault;
  }
  return runs.at(app.get_subcommands().front())();
}

}  // namespace

int Shoal(int argc, char** argv) {
  try {
    return Dispatch(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("shoal: error: not enough memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shoal: error: %s\n", error.what());
  }
  return kCallAtFault;
}

}  // namespace shoal
