// Options of shoal completion and shoal man.
#include "cli/commands/output.h"
#include "cli/commands/base.h"
#include "cli/options/command_info.h"
#include "cli/options/commands.h"
#include "cli/options/shoal.h"

namespace shoal::cli {

Action AddCompletion(Options& command) {
  auto shell = std::make_shared<std::string>();
  command.Value("SHELL", *shell, "bash, zsh or fish").Required().OneOf({"bash", "zsh", "fish"});
  command.Footer(
      "The script completes commands, options, the values of options, and files.\n\n"
      "Examples:\n"
      "  source <(shoal completion bash)\n"
      "  shoal completion zsh > ~/.zfunc/_shoal\n"
      "  shoal completion fish > ~/.config/fish/completions/shoal.fish");
  return [=] { return WriteText(CompletionScript(*shell, Describe(AllCommands()))); };
}

Action AddMan(Options& command) {
  auto name = std::make_shared<std::string>();
  command.Value("COMMAND", *name, "Print the page of this command (default: the page of shoal)");
  command.Footer(
      "Examples:\n"
      "  shoal man time | man -l -\n"
      "  shoal man > /usr/local/share/man/man1/shoal.1");
  return [=] {
    const std::vector<CommandInfo> all = Describe(AllCommands());
    if (name->empty()) return WriteText(ManPage(all));
    std::vector<std::string> names;
    for (const CommandInfo& one : all) {
      if (one.name == *name) return WriteText(ManPage(one));
      names.push_back(one.name);
    }
    return PrintError(StrCat("unknown command '", *name, "'", DidYouMean(*name, names)));
  };
}

}  // namespace shoal::cli
