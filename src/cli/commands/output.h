// The output of all commands: writes standard output and standard error, and reports write errors.
#pragma once

#include <string>
#include <string_view>

#include "cli/commands/terminal.h"

namespace shoal::cli {

extern const char* const kVersion;  // "shoal 0.1"

// Exit statuses.
inline constexpr int kOk = 0;
inline constexpr int kInputError = 1;
inline constexpr int kUsageOrSystemError = 2;  // wrong usage, a missing file, a full disk, no memory
inline constexpr int kCheckFailed = 3;         // a check failed that an option requests: a threshold, a budget, --exit_code

// The exit status for an error.
inline int StatusOf(ErrorKind kind) {
  return kind == ErrorKind::kModule || kind == ErrorKind::kCancelled ? kInputError : kUsageOrSystemError;
}

// Writes text or JSON to standard output. Control characters, which names in a hostile file may contain, are escaped as
// \x1b; shoal's own colours are kept. Returns the exit status: a full disk is an error, a closed pipe is not.
int WriteText(std::string_view text);

// Writes `bytes` to `path` ("" or "-": standard output). Control characters are escaped only on a terminal.
Status WriteOutput(const std::string& path, std::string_view bytes);

// Opens /dev/null for each of the standard descriptors that is closed, so that no file gets its number. Writing to a
// closed standard output still fails.
void ReserveStandardDescriptors();

// Discards all output from now on, because another process of the job prints it.
void MuteOutput();
void UnmuteOutput();

void PrintToStderr(std::string_view text);
// Replaces the current line of the terminal; writes to standard error.
void PrintInPlace(std::string_view text);
// Prints "shoal: error: SENTENCE" and returns the exit status for it.
int PrintError(std::string_view sentence);

}  // namespace shoal::cli
