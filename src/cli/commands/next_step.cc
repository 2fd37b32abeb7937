#include "cli/commands/next_step.h"

#include <algorithm>
#include <vector>

#include "cli/commands/base.h"
#include "cli/commands/option_names.h"
#include "core/base/settings.h"

namespace shoal::cli {
namespace {

constexpr std::string_view kNextLine = "  next: ";

std::vector<std::string> command_line;  // without the program

// The word, in quotes if the shell would change it.
std::string Quoted(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (char c : word) StrAppend(&quoted, c == '\'' ? "'\\''" : std::string_view(&c, 1));
  return quoted + "'";
}

// "--dump='^(x|y)$'" for "--dump=^(x|y)$".
std::string QuotedOption(std::string_view option) {
  const size_t value = option.find('=');
  return value == std::string_view::npos ? std::string(option) : StrCat(option.substr(0, value + 1), Quoted(option.substr(value + 1)));
}

// The name of an option, in the spelling of --help.
std::string NameOf(std::string_view word) {
  std::string name(word.substr(0, word.find('=')));
  if (name.starts_with("--")) std::replace(name.begin() + 2, name.end(), '-', '_');
  return name;
}

// The command line without the options that `options` set anew.
std::vector<std::string> CommandLineWithout(const std::vector<std::string>& options) {
  std::vector<std::string> words;
  for (size_t i = 0; i < command_line.size(); ++i) {
    const std::string& word = command_line[i];
    const auto again = std::ranges::find(options, NameOf(word), NameOf);
    if (again == options.end()) {
      words.push_back(word);
    } else if (again->find('=') != std::string::npos && word.find('=') == std::string::npos) {
      ++i;  // the next word is its value
    }
  }
  return words;
}

// The command for "show with the setting op=communication and the setting groups".
std::string CommandOf(std::string_view step, std::string_view file) {
  std::vector<std::string> options;
  size_t at = step.find(internal::kSettingPhrase);
  const std::string_view command = step.substr(0, step.find(" with "));
  while (at != std::string_view::npos) {
    const size_t next = step.find(internal::kSettingPhrase, at + 1);
    std::string_view setting = step.substr(at, next - at);
    if (next != std::string_view::npos) setting.remove_suffix(std::string_view(" and ").size());
    options.push_back(WithOptionNames(setting));
    at = next;
  }
  std::vector<std::string> words = {"shoal"};
  if (command == internal::kSameCommand) {
    for (const std::string& word : CommandLineWithout(options)) words.push_back(word.starts_with("--") ? QuotedOption(word) : Quoted(word));
  } else {
    words.insert(words.end(), {std::string(command), Quoted(file)});
  }
  for (const std::string& option : options) words.push_back(QuotedOption(option));
  return StrJoin(words, " ");
}

}  // namespace

void SetCommandLine(int argc, const char* const* argv) { command_line.assign(argv + std::min(argc, 1), argv + argc); }

std::string WithCommands(std::string_view text, std::string_view file) {
  std::string out;
  for (size_t start = 0; (start = text.find(internal::kNextStep)) != std::string_view::npos;) {
    StrAppend(&out, text.substr(0, start), "\n", kNextLine);
    text.remove_prefix(start + internal::kNextStep.size());
    const std::string_view line = text.substr(0, text.find('\n'));
    const size_t purpose = std::min(line.find(internal::kPurposeEnd), line.size());
    const std::string_view step = line.substr(std::min(purpose + internal::kPurposeEnd.size(), line.size()));
    StrAppend(&out, line.substr(0, purpose), ": ", CommandOf(step, file));
    text.remove_prefix(line.size());
  }
  return StrCat(out, text);
}

std::string WrappedExceptCommands(std::string_view text, size_t width) {
  std::string out;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    const std::string_view line = text.substr(start, end - start);
    out += line.starts_with(kNextLine) ? std::string(line) : Wrapped(line, width);
    start = end;
  }
  return out;
}

}  // namespace shoal::cli
