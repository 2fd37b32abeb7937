// The command line: commands and their options. Only options.cc includes the parser library CLI11, which takes six
// seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace shoal::cli {

// The help of a positional argument that is a module.
inline constexpr char kModuleHelp[] = "HLO text, StableHLO or protobuf, optionally gzipped; - for standard input";

// A declared option. Its methods add constraints; a value that violates one is a usage error.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& Required();
  Option& OneOf(const std::vector<std::string>& names);
  Option& NotNegative();
  Option& Positive();
  Option& Between(int64_t min, int64_t max);
  // Takes the value from this environment variable if the option is absent.
  Option& FromEnvironment(const char* variable);
  // `validate` returns an error message, or an empty string if the value is valid.
  Option& Check(std::function<std::string(const std::string&)> validate);

 private:
  CLI::Option* option_;
};

// The options of one command. A name without dashes, such as "FILE", declares a positional argument. Commas separate
// the names of an option: "-o,--output". The initial value of the variable is the default, which --help shows.
class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}

  Option Flag(const char* names, bool& value, const char* help);
  Option Value(const char* names, bool& value, const char* help);
  Option Value(const char* names, int& value, const char* help);
  Option Value(const char* names, int64_t& value, const char* help);
  Option Value(const char* names, uint64_t& value, const char* help);
  Option Value(const char* names, double& value, const char* help);
  Option Value(const char* names, std::string& value, const char* help);
  Option Value(const char* names, std::optional<int64_t>& value, const char* help);
  Option Value(const char* names, std::optional<double>& value, const char* help);
  Option Values(const char* names, std::vector<std::string>& values, const char* help);
  // One value per occurrence of the option.
  Option Repeated(const char* names, std::vector<std::string>& values, const char* help);
  // Values separated by commas.
  Option List(const char* names, std::vector<std::string>& values, const char* help);
  // --name without a value means --name=DEFAULT, so a positional argument may follow it.
  Option FlagWithValue(const char* name, std::string& value, const char* default_value, const char* help);
  // Accepts one of the names and stores its enumerator.
  template <class Enum>
  Option Choice(const char* names, Enum& value, const std::map<std::string, Enum>& enums, const char* help) {
    std::vector<std::string> all;
    std::string current;
    for (const auto& [name, enumerator] : enums) {
      all.push_back(name);
      if (enumerator == value) current = name;
    }
    return NamedValue(names, all, current, [&value, enums](const std::string& name) { value = enums.at(name); }, help);
  }
  // Notes and examples, which --help prints after the options.
  void Footer(const char* text);

 private:
  Option NamedValue(const char* names, const std::vector<std::string>& all, const std::string& current,
                    std::function<void(const std::string&)> store, const char* help);
  CLI::App& app_;
};

// Runs a command and returns the exit status.
using Action = std::function<int()>;

struct Command {
  const char* name;
  const char* summary;
  Action (*add)(Options& options);  // declares the options
};

bool HasArgument(int argc, char** argv, std::string_view argument);

// Parses the command line and runs the named command. Handles --help, --version and usage errors itself.
int RunCommandLine(int argc, char** argv, const std::vector<Command>& commands);

}  // namespace shoal::cli
