// Man pages, generated from the declared options.
#include "cli/commands/output.h"
#include "cli/commands/base.h"
#include "cli/options/command_info.h"

namespace shoal::cli {
namespace {

// Text with the characters escaped that troff interprets.
std::string Roff(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool starts_line = i == 0 || text[i - 1] == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (starts_line && (c == '.' || c == '\'')) {
      StrAppend(&out, "\\&", std::string(1, c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string Header(const std::string& name, std::string_view summary) {
  return StrCat(".TH ", name, " 1 \"\" \"", kVersion, "\" \"User Commands\"\n.SH NAME\n", Roff(name), " \\- ", Roff(summary), "\n");
}

void AppendOption(const OptionInfo& option, std::string& text) {
  text += ".TP\n";
  for (size_t i = 0; i < option.names.size(); ++i)
    StrAppend(&text, i == 0 ? "" : ", ", "\\fB", Roff(option.names[i]), "\\fR");
  if (!option.is_flag && !option.is_positional)
    StrAppend(&text, " \\fI", option.choices.empty() ? "VALUE" : Roff(StrJoin(option.choices, "|")), "\\fR");
  StrAppend(&text, "\n", Roff(option.help));
  if (!option.default_value.empty()) StrAppend(&text, " (default: ", Roff(option.default_value), ")");
  text += "\n";
}

constexpr std::string_view kExitStatus =
    ".SH EXIT STATUS\n0: success. 1: the input is invalid. 2: the command line is wrong, or the environment fails, as with a "
    "full disk. 3: a check failed that an option requests.\n";

}  // namespace

std::string ManPage(std::span<const CommandInfo> commands) {
  std::string text = Header("shoal", "a toolkit for XLA HLO modules");
  text += ".SH SYNOPSIS\n\\fBshoal\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIFILE\\fR ...]\n.SH COMMANDS\n";
  for (const CommandInfo& command : commands)
    StrAppend(&text, ".TP\n\\fB", Roff(command.name), "\\fR\n", Roff(command.summary), "\n");
  StrAppend(&text, kExitStatus, ".SH SEE ALSO\n");
  for (size_t i = 0; i < commands.size(); ++i)
    StrAppend(&text, i == 0 ? "" : ",\n", ".BR shoal\\-", commands[i].name, " (1)");
  return text + "\n";
}

std::string ManPage(const CommandInfo& command) {
  std::string text = Header(StrCat("shoal-", command.name), command.summary);
  StrAppend(&text, ".SH SYNOPSIS\n\\fBshoal ", command.name, "\\fR [\\fIOPTIONS\\fR]");
  for (const OptionInfo& option : command.options)
    if (option.is_positional) StrAppend(&text, option.is_required ? " \\fI" : " [\\fI", Roff(option.names[0]), option.is_required ? "\\fR" : "\\fR]");
  text += "\n.SH OPTIONS\n";
  for (const OptionInfo& option : command.options) AppendOption(option, text);
  if (!command.footer.empty()) StrAppend(&text, ".SH NOTES\n.nf\n", Roff(command.footer), "\n.fi\n");
  StrAppend(&text, kExitStatus, ".SH SEE ALSO\n.BR shoal (1)\n");
  return text;
}

}  // namespace shoal::cli
