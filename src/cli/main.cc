// shoal: opens the compiled programs of distributed machine learning.
#include <csignal>
#include <cstdio>
#include <map>
#include <string>

#include "cli/input.h"
#include "cli/verbs.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // `shoal print x | head` ends quietly
  CLI::App app("shoal opens the compiled programs of distributed machine learning (XLA HLO modules) on any machine.",
               "shoal");
  app.require_subcommand(1);
  app.set_version_flag("--version", "shoal 0.1");
  app.footer(
      "shoal VERB --help says more. Files may be HLO text, .pb or either packed with gzip; - is standard input.");
  std::map<const CLI::App*, shoal::Run> runs;
  for (auto add : {shoal::AddCheck, shoal::AddPrint, shoal::AddRun, shoal::AddCompare, shoal::AddShow, shoal::AddComm,
                   shoal::AddCost, shoal::AddMem, shoal::AddDiff, shoal::AddStats, shoal::AddOps}) {
    shoal::Run run = add(app);
    runs[app.get_subcommands(nullptr).back()] = run;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? shoal::kOk : shoal::kCallAtFault;
  }
  return runs.at(app.get_subcommands().front())();
}
