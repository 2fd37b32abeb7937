#include "cli/commands/output.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "core/base/files.h"
#include "core/base/printable.h"
#include "core/base/strings.h"
#include "core/base/text_width.h"
#include "core/base/environment_error.h"

namespace shoal::internal {

const char* const kVersion = "shoal " SHOAL_VERSION;
namespace {

std::atomic<bool> is_muted = false;

// Returns 0 or errno.
int WriteAll(int file, std::string_view bytes) {
  if (is_muted) return 0;
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

Status WriteStandardOutput(std::string_view bytes) {
  const int error = WriteAll(STDOUT_FILENO, bytes);
  if (error == 0 || error == EPIPE) return {};
  return EnvironmentError(StrCat("cannot write standard output: ", std::strerror(error)));
}

}  // namespace

void MuteOutput() { is_muted = true; }
void UnmuteOutput() { is_muted = false; }

int WriteText(std::string_view text) {
  const Status written = WriteStandardOutput(EscapeForTerminal(text));
  return written.ok() ? kOk : PrintError(written.diag().message);
}

Status WriteOutput(const std::string& path, std::string_view bytes) {
  if (!path.empty() && path != "-") return WriteFile(path, {bytes});
  if (isatty(STDOUT_FILENO) == 0) return WriteStandardOutput(bytes);
  return WriteStandardOutput(EscapeForTerminal(bytes));
}

// A failure to write to standard error cannot be reported.
void PrintToStderr(std::string_view text) {
  WriteAll(STDERR_FILENO, Wrapped(EscapeForTerminal(text), ErrorStyle().width));
}

void PrintInPlace(std::string_view text) {
  WriteAll(STDERR_FILENO, StrCat("\r\033[K", EscapeForTerminal(text)));
}

int PrintError(std::string_view sentence) {
  PrintToStderr(StrCat("shoal: error: ", sentence, "\n"));
  return kUsageOrSystemError;
}

}  // namespace shoal::internal
