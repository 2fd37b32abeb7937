// The options of all commands as data, for shell completions and man pages.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/options/options.h"

namespace shoal::cli {

struct OptionInfo {
  std::vector<std::string> names;  // "--output", "-o"; for a positional argument, its name, as in "FILE"
  std::string help;
  std::vector<std::string> choices;  // the values it accepts; empty: any
  std::string default_value;
  bool is_positional = false, is_flag = false, is_required = false;
};

struct CommandInfo {
  std::string name, summary, footer;
  std::vector<OptionInfo> options;
};

std::vector<CommandInfo> Describe(std::span<const Command> commands);

// The script that completes commands, options and their values in bash, zsh or fish.
std::string CompletionScript(std::string_view shell, std::span<const CommandInfo> commands);
// The man page of shoal, or of one command, in the format of man(7).
std::string ManPage(std::span<const CommandInfo> commands);
std::string ManPage(const CommandInfo& command);

}  // namespace shoal::cli
