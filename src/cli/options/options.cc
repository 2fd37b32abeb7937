#include "cli/options/options.h"

#include <algorithm>
#include <sstream>

#include "CLI/CLI.hpp"
#include "cli/commands/output.h"
#include "core/base/strings.h"
#include "core/base/environment_error.h"
#include "present/reports/diags_json.h"
#include "present/reports/table.h"

namespace shoal::internal {
namespace {

// A number is written as one, and what is not given is not shown.
template <class T>
Option Declare(CLI::App& verb, const char* names, T& value, const char* help) {
  return Option(verb.add_option(names, value, help)->capture_default_str());
}

bool Asks(int argc, char** argv, std::string_view flag) {
  for (int i = 1; i < argc; ++i)
    if (argv[i] == flag) return true;
  return false;
}

// The arguments in the spelling that options are declared in: `_` for `-` in their names, and today's name for an old one.
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
      Say(StrCat("warning: ", old_name, " is now called ", new_name, "; the old name will be removed\n"));
      argument.replace(0, end, new_name);
      break;
    }
  }
  return arguments;
}

// A mistake is one sentence; CLI11's own hint is kept.
int Answer(const CLI::App& app, const CLI::ParseError& error, bool json) {
  std::ostringstream out, err;
  const bool fine = app.exit(error, out, err) == 0;
  if (fine) return WriteText(out.str());
  if (json) {
    Diags mistake;
    mistake.Add(EnvironmentError(error.what()));
    WriteText(ErrorJson("", nullptr, mistake));
  } else {
    Say(err.str());
  }
  return kUsageOrSystemError;
}

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
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

Option& Option::Positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option& Option::Between(int64_t least, int64_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option& Option::Check(std::function<std::string(const std::string&)> fault) {
  option_->check(std::move(fault));
  return *this;
}

Option& Option::FromEnvironment(const char* variable) {
  option_->envname(variable);
  return *this;
}

Option Options::Flag(const char* names, bool& value, const char* help) {
  return Option(verb_.add_flag(names, value, help));
}

Option Options::Value(const char* names, bool& value, const char* help) {
  return Option(verb_.add_option(names, value, help)->default_str(value ? "true" : "false"));
}

Option Options::Value(const char* names, int& value, const char* help) {
  return Declare(verb_, names, value, help);
}

Option Options::Value(const char* names, double& value, const char* help) {
  return Declare(verb_, names, value, help);
}

Option Options::Value(const char* names, int64_t& value, const char* help) {
  return Declare(verb_, names, value, help);
}

Option Options::Value(const char* names, uint64_t& value, const char* help) {
  return Declare(verb_, names, value, help);
}

Option Options::Value(const char* names, std::string& value, const char* help) {
  return Declare(verb_, names, value, help);
}

Option Options::Value(const char* names, std::optional<int64_t>& value, const char* help) {
  return Option(verb_.add_option(names, value, help));
}

Option Options::Value(const char* names, std::optional<double>& value, const char* help) {
  return Option(verb_.add_option(names, value, help));
}

Option Options::Values(const char* names, std::vector<std::string>& values, const char* help) {
  return Option(verb_.add_option(names, values, help));
}

Option Options::Repeated(const char* names, std::vector<std::string>& values, const char* help) {
  return Option(verb_.add_option(names, values, help)->take_all()->expected(1)->allow_extra_args(false));
}

Option Options::List(const char* names, std::vector<std::string>& values, const char* help) {
  return Option(verb_.add_option(names, values, help)->delimiter(','));
}

Option Options::FlagWithValue(const char* name, std::string& value, const char* default_value, const char* help) {
  return Option(verb_.add_flag(std::string(name) + "{" + default_value + "}", value, help));
}

Option Options::NamedValue(const char* names, const std::vector<std::string>& all, const std::string& now,
                           std::function<void(const std::string&)> store, const char* help) {
  Option option(verb_.add_option_function(names, store, help)->default_str(now));
  return option.OneOf(all);
}

void Options::Footer(const char* text) { verb_.footer(text); }

int RunCommand(int argc, char** argv, const std::vector<Verb>& commands) {
  CLI::App app("shoal opens the compiled programs of distributed machine learning (XLA HLO modules) on any machine.",
               "shoal");
  app.formatter(std::make_shared<HelpFormatter>());
  SetWidth(std::nullopt);
  app.require_subcommand(1);
  app.set_version_flag("--version", kVersion);
  app.footer(
      "shoal VERB --help says more. Files may be HLO text, .pb or either packed with gzip; - is standard input.");
  const auto is_first = [&](const Verb& verb) { return argc > 1 && std::string_view(argv[1]) == verb.name; };
  const bool begins_with_verb = std::ranges::any_of(commands, is_first);
  std::map<const CLI::App*, Run> runs;
  for (const Verb& verb : commands) {
    if (begins_with_verb && !is_first(verb)) continue;  // would only take time, and take a file `show` for a verb
    CLI::App* added = app.add_subcommand(verb.name, verb.summary);
    if (!Asks(argc, argv, verb.name)) continue;  // the list of verbs needs no options
    Options options(*added);
    runs[added] = verb.add(options);
    added
        ->add_option_function<size_t>(
            "--width", [](size_t columns) { SetWidth(columns); },
            "No line of text is longer; 0: as long as they are (default: the terminal's)")
        ->check(ValidateWidth);
  }
  try {
    std::vector<std::string> arguments = NormalizedArguments(argc, argv);
    std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 takes
    app.parse(std::move(arguments));
  } catch (const CLI::RequiredError& error) {
    // CLI11 only says that a subcommand is missing.
    if (argc < 2 || *argv[1] == '-' || !app.get_subcommands().empty()) return Answer(app, error, Asks(argc, argv, "--json"));
    const std::string sentence = StrCat("there is no verb ", argv[1], "; shoal --help lists them");
    return Answer(app, CLI::ValidationError(sentence), Asks(argc, argv, "--json"));
  } catch (const CLI::ParseError& error) {
    return Answer(app, error, Asks(argc, argv, "--json"));
  }
  return runs.at(app.get_subcommands().front())();
}

}  // namespace shoal::internal
