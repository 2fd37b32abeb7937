// The one place that writes standard output and standard error, and says so when it cannot.
#pragma once

#include <string>
#include <string_view>

#include "core/base/environment_error.h"

namespace shoal::internal {

inline constexpr const char* kVersion = "shoal 0.1";

// Exit statuses.
inline constexpr int kOk = 0;
inline constexpr int kInputError = 1;
inline constexpr int kUsageOrSystemError = 2;  // or the machine: a missing file, a full disk, no memory

// Of a failure.
inline int StatusOf(const Diag& diag) { return IsEnvironmentError(diag) ? kUsageOrSystemError : kInputError; }

// Text for people or JSON to standard output. Control characters, which names in a hostile file may have, are written
// as \x1b; the colours that shoal itself uses stay. The exit status: a disk that is full is said, a reader that has
// seen enough is no fault.
int WriteText(std::string_view text);

// The bytes as they are to `path` ("" or "-": standard output; a terminal gets them as text).
Status WriteOutput(const std::string& path, std::string_view bytes);

// From now on nothing is written to standard output or standard error: another process of the job speaks.
void MuteOutput();
void Unsilence();

// To standard error.
void Say(std::string_view text);
// On a terminal, in place of the line before.
void PrintInPlace(std::string_view text);
// "shoal: error: SENTENCE"; the status for it.
int PrintError(std::string_view sentence);

}  // namespace shoal::internal
