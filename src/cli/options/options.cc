#include "cli/options/options.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "cli/commands/base.h"
#include "CLI/CLI.hpp"
#include "cli/options/command_info.h"
#include "cli/commands/input.h"
#include "cli/commands/next_step.h"
#include "cli/commands/output.h"

namespace shoal::cli {
namespace {

// The library's own conversion accepts NaN, infinities and octal numbers.
std::string ValidateNumber(const std::string& text) {
  return ParseNumber(text) ? "" : StrCat("must be a finite decimal number, got ", text);
}
bool HasLeadingZero(const std::string& text) {
  const size_t first = text.starts_with('-') ? 1 : 0;
  return text.size() > first + 1 && text[first] == '0';
}
std::string ValidateInteger(const std::string& text) {
  return ParseInteger(text) && !HasLeadingZero(text) ? "" : StrCat("must be a decimal integer of 64 bits, got ", text);
}
std::string ValidateUnsigned(const std::string& text) {
  return ParseUnsigned(text) && !HasLeadingZero(text) ? "" : StrCat("must be a decimal integer in [0, 2^64), got ", text);
}

// Help shows the variable's initial value as the default.
template <class T>
Option Declare(CLI::App& app, const char* names, T& value, const char* help) {
  return Option(app.add_option(names, value, help)->capture_default_str());
}

// Rewrites option names to match the declarations: replaces `-` by `_` and old names by new ones.
std::vector<std::string> NormalizedArguments(int argc, char** argv) {
  static constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
      {"--max_steps", "--max_instructions"},
      {"--topology", "--groups"},
  };
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (!argument.starts_with("--")) continue;
    const size_t end = std::min(argument.find('='), argument.size());
    std::replace(argument.begin() + 2, argument.begin() + static_cast<std::ptrdiff_t>(end), '-', '_');
    for (const auto& [old_name, new_name] : kRenamed) {
      if (std::string_view(argument).substr(0, end) != old_name) continue;
      PrintToStderr(StrCat("warning: ", old_name, " is now called ", new_name, "; the old name will be removed\n"));
      argument.replace(0, end, new_name);
      break;
    }
  }
  return arguments;
}

// `shoal help` and `shoal help COMMAND` are --help.
void ExpandHelp(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] != "help") return;
  if (arguments.size() > 1) std::swap(arguments[0], arguments[1]);
  arguments[arguments.size() > 1 ? 1 : 0] = "--help";
}

// The problem with the name of the command, with a suggestion.
std::string UnknownCommand(const std::string& name, const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.emplace_back(command.name);
  const std::string problem = StrCat("unknown command '", name, "'");
  std::error_code none;
  if (std::filesystem::is_directory(name, none)) return StrCat(problem, "; to summarize an XLA dump directory, run shoal stats ", name);
  if (std::filesystem::exists(name, none)) return StrCat(problem, "; to see what the module does, run shoal show ", name);
  const std::string suggestion = DidYouMean(name, names);
  return suggestion.empty() ? problem + "; run shoal --help for the list" : problem + suggestion;
}

// The first argument that looks like an option but is none of the command, as in `typed`, with a suggestion. Empty if
// there is none. CLI11 would report a missing argument first, and the normalized name.
std::string UnknownOption(const CLI::App& command, std::span<const std::string> arguments, std::span<char* const> typed) {
  std::vector<std::string> known{"--help"};
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") break;
    if (!arguments[i].starts_with("--")) continue;
    const size_t end = arguments[i].find('=');
    if (std::find(known.begin(), known.end(), arguments[i].substr(0, end)) != known.end()) continue;
    const std::string name = std::string(typed[i]).substr(0, end);
    std::string suggestion = DidYouMean(name, known);
    if (suggestion.empty()) suggestion = StrCat("; run shoal ", command.get_name(), " --help for the list");
    return StrCat("unknown option '", name, "' of shoal ", command.get_name(), suggestion);
  }
  return {};
}

// The error message. Describes the option that is missing, or names the environment variable if the invalid value is
// from there instead of an option.
std::string MessageOf(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const std::string message = error.what();
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* option : command->get_options()) {
      const std::string name = option->get_name(), variable = option->get_envname();
      if (message == name + " is required") return StrCat(message, ": ", option->get_description());
      if (variable.empty() || !message.starts_with(name + ":")) continue;
      const auto is_given = [&](const char* argument) { return std::string_view(argument).starts_with(name); };
      if (std::none_of(argv + 1, argv + argc, is_given)) return variable + message.substr(name.size());
    }
  }
  return message;
}

// Prints the help or version text, or the error with CLI11's hint. Returns the exit status.
int PrintParseResult(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::ostringstream out, err;
  const bool ok = app.exit(error, out, err) == 0;
  if (ok) return WriteText(out.str());
  const std::string message = MessageOf(app, error, argc, argv);
  if (HasArgument(argc, argv, "--json")) {
    WriteText(Error::OfArgument(message).ToJson());
  } else {
    const std::string text = err.str();
    const size_t at = text.find(error.what());
    PrintToStderr(at == std::string::npos ? text : StrCat(text.substr(0, at), message, text.substr(at + std::strlen(error.what()))));
  }
  return kUsageOrSystemError;
}

// Wraps help to the terminal width and aligns the continuation lines of option descriptions.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { label("SUBCOMMAND", "COMMAND"), label("Positionals", "Arguments"); }
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

}  // namespace

Option& Option::Required() {
  option_->required();
  return *this;
}

Option& Option::OneOf(const std::vector<std::string>& names) {
  option_->check(CLI::IsMember(names));
  return *this;
}

Option& Option::NotNegative() {
  option_->check([](const std::string& text) { return text.starts_with('-') ? "must not be negative, got " + text : ""; }, "NONNEGATIVE");
  return *this;
}

Option& Option::Positive() {
  option_->check(
      [](const std::string& text) {
        const std::optional<double> number = ParseNumber(text);
        return number && !(*number > 0) ? "must be positive, got " + text : std::string();
      },
      "POSITIVE");
  return *this;
}

Option& Option::Between(int64_t min, int64_t max) {
  option_->check(CLI::Range(min, max));
  return *this;
}

Option& Option::Check(std::function<std::string(const std::string&)> validate) {
  option_->check(std::move(validate));
  return *this;
}

Option& Option::FromEnvironment(const char* variable) {
  option_->envname(variable);
  return *this;
}

Option Options::Flag(const char* names, bool& value, const char* help) {
  return Option(app_.add_flag(names, value, help));
}

Option Options::Value(const char* names, bool& value, const char* help) {
  return Option(app_.add_option(names, value, help)->default_str(value ? "true" : "false"));
}

Option Options::Value(const char* names, int& value, const char* help) {
  return Declare(app_, names, value, help).Check(ValidateInteger);
}

Option Options::Value(const char* names, double& value, const char* help) {
  return Declare(app_, names, value, help).Check(ValidateNumber);
}

Option Options::Value(const char* names, int64_t& value, const char* help) {
  return Declare(app_, names, value, help).Check(ValidateInteger);
}

Option Options::Value(const char* names, uint64_t& value, const char* help) {
  return Declare(app_, names, value, help).Check(ValidateUnsigned);
}

Option Options::Value(const char* names, std::string& value, const char* help) {
  return Declare(app_, names, value, help);
}

Option Options::Value(const char* names, std::optional<int64_t>& value, const char* help) {
  return Option(app_.add_option(names, value, help)).Check(ValidateInteger);
}

Option Options::Value(const char* names, std::optional<double>& value, const char* help) {
  return Option(app_.add_option(names, value, help)).Check(ValidateNumber);
}

Option Options::Values(const char* names, std::vector<std::string>& values, const char* help) {
  return Option(app_.add_option(names, values, help));
}

Option Options::Repeated(const char* names, std::vector<std::string>& values, const char* help) {
  return Option(app_.add_option(names, values, help)->take_all()->expected(1)->allow_extra_args(false));
}

Option Options::List(const char* names, std::vector<std::string>& values, const char* help) {
  return Option(app_.add_option(names, values, help)->delimiter(',')->take_all()->expected(1)->allow_extra_args(false));
}

Option Options::FlagWithValue(const char* name, std::string& value, const char* default_value, const char* help) {
  return Option(app_.add_flag(std::string(name) + "{" + default_value + "}", value, help));
}

Option Options::NamedValue(const char* names, const std::vector<std::string>& all, const std::string& current,
                           std::function<void(const std::string&)> store, const char* help) {
  Option option(app_.add_option_function(names, store, help)->default_str(current));
  return option.OneOf(all);
}

void Options::Footer(const char* text) { app_.footer(text); }

bool HasArgument(int argc, char** argv, std::string_view argument) {
  for (int i = 1; i < argc; ++i)
    if (argv[i] == argument) return true;
  return false;
}

int RunCommandLine(int argc, char** argv, const std::vector<Command>& commands) {
  CLI::App app("A toolkit for XLA HLO modules, the compiled programs of distributed machine learning.", "shoal");
  app.formatter(std::make_shared<HelpFormatter>());
  SetCommandLine(argc, argv);
  SetWidth(std::nullopt);
  SetOwnPackages("");
  app.require_subcommand(1);
  app.set_version_flag("--version", kVersion);
  app.footer(
      "Run shoal COMMAND --help for the options of a command. Modules are HLO text, StableHLO or protobuf, optionally gzipped.");
  const auto is_named = [](std::string_view name) { return [name](const Command& command) { return name == command.name; }; };
  const auto is_first = is_named(argc > 1 ? argv[1] : "");
  const bool starts_with_command = std::ranges::any_of(commands, is_first);
  std::map<const CLI::App*, Action> actions;
  for (const Command& command : commands) {
    if (starts_with_command && !is_first(command)) continue;  // saves time, and allows a file named `show`
    CLI::App* added = app.add_subcommand(command.name, command.summary)->group("Commands");
    if (!HasArgument(argc, argv, command.name)) continue;  // the list of commands needs no options
    Options options(*added);
    actions[added] = command.add(options);
    added
        ->add_option_function<size_t>(
            "--width", [](size_t columns) { SetWidth(columns); },
            "Wrap text output at N columns; 0: never (default: terminal width)")
        ->check(ValidateWidth);
    added
        ->add_option_function<std::string>(
            "--own_packages", [](const std::string& names) { SetOwnPackages(names); },
            "Installed packages that count as your own program in source lines, separated by commas")
        ->envname("SHOAL_OWN_PACKAGES");
  }
  try {
    std::vector<std::string> arguments = NormalizedArguments(argc, argv);
    ExpandHelp(arguments);
    if (argc > 2 && std::string_view(argv[1]) == "help" && std::ranges::none_of(commands, is_named(argv[2])))
      return PrintParseResult(app, CLI::ValidationError(UnknownCommand(argv[2], commands)), argc, argv);
    if (starts_with_command) {
      const CLI::App& command = *app.get_subcommand(argv[1]);
      if (const std::string problem = UnknownOption(command, std::span(arguments).subspan(1), std::span(argv + 2, argv + argc));
          !problem.empty())
        return PrintParseResult(app, CLI::ValidationError(problem), argc, argv);
    }
    std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the reverse order
    app.parse(std::move(arguments));
  } catch (const CLI::RequiredError& error) {
    if (!app.get_subcommands().empty()) return PrintParseResult(app, error, argc, argv);
    const bool is_missing = argc < 2 || *argv[1] == '-';
    const std::string problem = is_missing ? std::string("missing command; run shoal --help for the list")
                                           : UnknownCommand(argv[1], commands);
    return PrintParseResult(app, CLI::ValidationError(problem), argc, argv);
  } catch (const CLI::ParseError& error) {
    return PrintParseResult(app, error, argc, argv);
  }
  return actions.at(app.get_subcommands().front())();
}

std::vector<CommandInfo> Describe(std::span<const Command> commands) {
  std::vector<CommandInfo> all;
  for (const Command& command : commands) {
    CLI::App app(command.summary, command.name);
    Options options(app);
    command.add(options);
    CommandInfo info{command.name, command.summary, app.get_footer(), {}};
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_name() == "--help") continue;
      OptionInfo one;
      one.is_positional = option->get_positional();
      one.is_flag = option->get_items_expected_max() == 0;
      one.is_required = option->get_required();
      one.help = option->get_description();
      one.default_value = option->get_default_str();
      if (one.is_positional) one.names.push_back(option->get_name(true));
      for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
      for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
      // CLI11 lists the choices of OneOf in the type: "TEXT:{a,b}".
      const std::string type = option->get_type_name();
      if (const size_t open = type.find('{'); open != std::string::npos)
        for (std::string& choice : CLI::detail::split(type.substr(open + 1, type.find('}') - open - 1), ','))
          one.choices.push_back(std::move(choice));
      info.options.push_back(std::move(one));
    }
    all.push_back(std::move(info));
  }
  return all;
}

}  // namespace shoal::cli
