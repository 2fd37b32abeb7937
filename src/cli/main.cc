// shoal: opens the compiled programs of distributed machine learning.
#include <csignal>
#include <cstdio>
#include <map>
#include <new>
#include <string>

#include "cli/input.h"
#include "cli/verbs.h"
#include "report/table.h"

namespace shoal {
namespace {

// Help in lines that fit, with what is said about options below each other.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    const std::string help = CLI::Formatter::make_help(app, std::move(name), mode);
    const size_t column = get_column_width();
    std::string text;
    for (size_t at = 0; at < help.size();) {
      const size_t end = std::min(help.find('\n', at), help.size() - 1) + 1;
      const std::string line = help.substr(at, end - at);
      const bool described = line.size() > column && line[column - 1] == ' ' && line[column] != ' ';
      const size_t indent = std::min(line.find_first_not_of(' '), column);
      text += Wrapped(line, OutputStyle().width, described ? column - indent : 2);
      at = end;
    }
    return text;
  }
};

int Shoal(int argc, char** argv) {
  CLI::App app("shoal opens the compiled programs of distributed machine learning (XLA HLO modules) on any machine.",
               "shoal");
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.set_version_flag("--version", "shoal 0.1");
  app.footer(
      "shoal VERB --help says more. Files may be HLO text, .pb or either packed with gzip; - is standard input.");
  std::map<const CLI::App*, Run> runs;
  for (auto add :
       {AddCheck, AddPrint, AddRun, AddCompare, AddShow, AddComm, AddCost, AddMem, AddTime, AddMachines, AddDiff, AddStats,
        AddReport, AddOps, AddOpt}) {
    Run run = add(app);
    CLI::App* verb = app.get_subcommands(nullptr).back();
    runs[verb] = run;
    verb->add_option_function<size_t>("--width", SetWidth,
                                      "No line of text is longer; 0: as long as they are (default: the terminal's)")
        ->check(WidthFault);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kCallAtFault;
  }
  return runs.at(app.get_subcommands().front())();
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // `shoal print x | head` ends quietly
  try {
    return shoal::Shoal(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("shoal: error: not enough memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shoal: error: %s\n", error.what());
  }
  return shoal::kCallAtFault;
}
