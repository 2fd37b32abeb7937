// Shell completions, generated from the declared options.
#include "cli/options/command_info.h"
#include "cli/commands/base.h"
#include "shoal/predict.h"

namespace shoal::cli {
namespace {

// The values to propose for an option. Machine names for --on; no values for numbers and files.
std::vector<std::string> ValuesOf(const OptionInfo& option) {
  if (!option.choices.empty()) return option.choices;
  std::vector<std::string> values;
  for (const std::string& name : option.names)
    if (name == "--on")
      values = Machine::Names();
  return values;
}

std::string WithDashes(std::string name) {
  for (size_t i = 2; i < name.size(); ++i)
    if (name[i] == '_') name[i] = '-';
  return name;
}

std::string Quoted(std::string_view text, std::string_view extra) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (extra.find(c) != std::string_view::npos) out += '\\';
      out += c == '\n' ? ' ' : c;
    }
  }
  return out;
}

std::string NamesOf(const CommandInfo& command) {
  std::string names;
  for (const OptionInfo& option : command.options)
    if (!option.is_positional)
      for (const std::string& name : option.names) StrAppend(&names, names.empty() ? "" : " ", WithDashes(name));
  return names;
}

std::string Bash(std::span<const CommandInfo> commands) {
  std::string all, cases;
  for (const CommandInfo& command : commands) {
    StrAppend(&all, all.empty() ? "" : " ", command.name);
    std::string values;
    for (const OptionInfo& option : command.options) {
      const std::vector<std::string> some = ValuesOf(option);
      if (some.empty() || option.is_positional) continue;
      std::string patterns;
      for (const std::string& name : option.names) StrAppend(&patterns, patterns.empty() ? "" : "|", WithDashes(name));
      StrAppend(&values, "        ", patterns, ") COMPREPLY=($(compgen -W '", StrJoin(some, " "), "' -- \"$word\")); return ;;\n");
    }
    StrAppend(&cases, "    ", command.name, ")\n");
    if (!values.empty()) StrAppend(&cases, "      case $option in\n", values, "      esac\n");
    StrAppend(&cases, "      options='", NamesOf(command), "' ;;\n");
  }
  return StrCat("# bash completion of shoal: source this file, or copy it to a completions directory.\n"
                "_shoal() {\n"
                "  local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} options=''\n"
                "  if [[ $word == '=' ]]; then word=''; elif [[ $option == '=' ]]; then option=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                "  if ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W '", all, " help --help --version' -- \"$word\")); return; fi\n"
                "  case ${COMP_WORDS[1]} in\n",
                cases,
                "    help) COMPREPLY=($(compgen -W '", all, "' -- \"$word\")); return ;;\n"
                "  esac\n"
                "  [[ $word == -* ]] && COMPREPLY=($(compgen -W \"$options --help\" -- \"$word\"))\n"
                "}\n"
                "complete -o default -o bashdefault -F _shoal shoal\n");
}

std::string Zsh(std::span<const CommandInfo> commands) {
  std::string all, cases;
  for (const CommandInfo& command : commands) {
    StrAppend(&all, "    '", command.name, ":", Quoted(command.summary, ":"), "'\n");
    StrAppend(&cases, "    ", command.name, ") _arguments -s '*:file:_files'");
    for (const OptionInfo& option : command.options) {
      if (option.is_positional) continue;
      const std::vector<std::string> values = ValuesOf(option);
      for (const std::string& name : option.names)
        StrAppend(&cases, " \\\n      '*", WithDashes(name), option.is_flag ? "" : name.starts_with("--") ? "=" : "+", "[",
                  Quoted(option.help, "[]:"), "]",
                  option.is_flag ? "" : values.empty() ? ":value:_files" : StrCat(":value:(", StrJoin(values, " "), ")"), "'");
    }
    cases += " ;;\n";
  }
  return StrCat("#compdef shoal\n"
                "_shoal() {\n"
                "  local -a commands=(\n",
                all,
                "  )\n"
                "  if ((CURRENT == 2)); then _describe command commands; return; fi\n"
                "  local command=$words[2]\n"
                "  shift words; ((CURRENT--))\n"
                "  case $command in\n",
                cases,
                "    help) _describe command commands ;;\n"
                "  esac\n"
                "}\n"
                "compdef _shoal shoal\n");
}

std::string Fish(std::span<const CommandInfo> commands) {
  std::string text = "# fish completion of shoal\n";
  for (const CommandInfo& command : commands)
    StrAppend(&text, "complete -c shoal -n __fish_use_subcommand -f -a ", command.name, " -d '", Quoted(command.summary, ""), "'\n");
  for (const CommandInfo& command : commands)
    for (const OptionInfo& option : command.options) {
      if (option.is_positional) continue;
      StrAppend(&text, "complete -c shoal -n '__fish_seen_subcommand_from ", command.name, "'");
      for (const std::string& name : option.names)
        StrAppend(&text, name.starts_with("--") ? " -l " : " -s ", WithDashes(name).substr(name.starts_with("--") ? 2 : 1));
      if (!option.is_flag) text += " -r";
      if (const std::vector<std::string> values = ValuesOf(option); !values.empty()) StrAppend(&text, " -f -a '", StrJoin(values, " "), "'");
      StrAppend(&text, " -d '", Quoted(option.help, ""), "'\n");
    }
  return text;
}

}  // namespace

std::string CompletionScript(std::string_view shell, std::span<const CommandInfo> commands) {
  return shell == "zsh" ? Zsh(commands) : shell == "fish" ? Fish(commands) : Bash(commands);
}

}  // namespace shoal::cli
