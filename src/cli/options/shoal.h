// The command line as one function, so that a program can run commands without starting a process for each.
#pragma once

#include <span>

namespace shoal::cli {

struct Command;

// All commands, in the order of --help.
std::span<const Command> AllCommands();

// Runs `shoal ARGUMENTS…`; ignores argv[0]. Writes to stdout and stderr and returns the exit status.
int Shoal(int argc, char** argv);

}  // namespace shoal::cli
