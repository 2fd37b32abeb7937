// The command line: verbs, and the options of each. options.cc alone knows the library that reads it, which takes six
// seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace shoal::internal {

// What was declared, to say more about it. A value outside of what is said here is an error of the call.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& Required();
  Option& OneOf(const std::vector<std::string>& names);
  Option& NotNegative();
  Option& Positive();
  Option& Between(int64_t least, int64_t most);
  // If it is not given, the variable of that name says it.
  Option& FromEnvironment(const char* variable);
  // Says what is wrong with a value; nothing if it is right.
  Option& Check(std::function<std::string(const std::string&)> fault);

 private:
  CLI::Option* option_;
};

// The options of one verb. A name without dashes is an argument: "FILE"; several names of an option are separated by
// commas: "-o,--output". What stands in the variable is the default, and --help shows it.
class Options {
 public:
  explicit Options(CLI::App& verb) : verb_(verb) {}

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
  // One each time the option is given.
  Option Repeated(const char* names, std::vector<std::string>& values, const char* help);
  // Separated by commas.
  Option List(const char* names, std::vector<std::string>& values, const char* help);
  // --name alone is --name=DEFAULT, so that a file may follow it.
  Option FlagWithValue(const char* name, std::string& value, const char* default_value, const char* help);
  // One of the names, whose number is stored.
  template <class Enum>
  Option Choice(const char* names, Enum& value, const std::map<std::string, Enum>& named, const char* help) {
    std::vector<std::string> all;
    std::string now;
    for (const auto& [name, each] : named) {
      all.push_back(name);
      if (each == value) now = name;
    }
    return NamedValue(names, all, now, [&value, named](const std::string& name) { value = named.at(name); }, help);
  }
  // How the verb is used, and what --help says after the options.
  void Footer(const char* text);

 private:
  Option NamedValue(const char* names, const std::vector<std::string>& all, const std::string& now,
                    std::function<void(const std::string&)> store, const char* help);
  CLI::App& verb_;
};

// What a verb does when it was called; the exit status.
using Run = std::function<int()>;

struct Verb {
  const char* name;
  const char* summary;
  Run (*add)(Options& options);  // declares the options
};

// Reads the command line and runs the verb that it names. --help, --version and mistakes are answered here.
int RunCommand(int argc, char** argv, const std::vector<Verb>& commands);

}  // namespace shoal::internal
