#include "cli/commands/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "cli/commands/base.h"
#include "cli/commands/next_step.h"
#include "cli/commands/option_names.h"
#include "core/base/files.h"

namespace shoal::cli {

const char* const kVersion = "shoal " SHOAL_VERSION;
namespace {

std::atomic<bool> is_muted = false;

// Returns 0 or errno.
int WriteAll(int file, std::string_view bytes) {
  return is_muted ? 0 : internal::WriteFully(file, bytes);
}

Status WriteStandardOutput(std::string_view bytes) {
  const int error = WriteAll(STDOUT_FILENO, bytes);
  if (error == 0 || error == EPIPE) return Nothing();
  return Error::OfEnvironment(StrCat("cannot write standard output: ", std::strerror(error)));
}

}  // namespace

void ReserveStandardDescriptors() {
  for (int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF) open("/dev/null", file == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

void MuteOutput() { is_muted = true; }
void UnmuteOutput() { is_muted = false; }

int WriteText(std::string_view text) {
  const Status written = WriteStandardOutput(EscapeForTerminal(WithOptionNames(text), OutputStyle().color));
  return written.ok() ? kOk : PrintError(written.error().message());
}

Status WriteOutput(const std::string& path, std::string_view bytes) {
  if (!path.empty() && path != "-") {
    const internal::Status written = internal::WriteFile(path, {bytes});
    return written.ok() ? Status(Nothing()) : Status(Error::OfEnvironment(written.diag().message));
  }
  if (isatty(STDOUT_FILENO) == 0) return WriteStandardOutput(bytes);
  return WriteStandardOutput(EscapeForTerminal(bytes, /*has_colors=*/false));
}

// A failure to write to standard error cannot be reported.
void PrintToStderr(std::string_view text) {
  const std::string shown = EscapeForTerminal(WithOptionNames(text), ErrorStyle().color);
  WriteAll(STDERR_FILENO, WrappedExceptCommands(shown, ErrorStyle().width));
}

void PrintInPlace(std::string_view text) {
  WriteAll(STDERR_FILENO, StrCat("\r\033[K", EscapeName(text)));
}

int PrintError(std::string_view sentence) {
  PrintToStderr(StrCat("shoal: error: ", sentence, "\n"));
  return kUsageOrSystemError;
}

}  // namespace shoal::cli
