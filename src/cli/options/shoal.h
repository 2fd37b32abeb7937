// The whole command line as one function, so that a program can call the verbs without starting a process for each.
#pragma once

namespace shoal::internal {

// `shoal ARGUMENTS…`; argv[0] is not looked at. Writes to stdout and stderr and returns the exit status.
int Shoal(int argc, char** argv);

}  // namespace shoal::internal
