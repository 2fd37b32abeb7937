#include "core/base/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "core/base/environment_error.h"
#include "core/base/printable.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

Diag CannotWrite(const std::string& path, int error) {
  return EnvironmentError(StrCat("cannot write ", EscapeName(path), ": ", std::strerror(error)));
}

// Names of temporary files that are being written, for RemoveUnfinishedFiles. Usually at most one per core. If no slot
// is free, the file is still written, but RemoveUnfinishedFiles does not remove it.
std::array<std::atomic<const char*>, 256> unfinished;

class Unfinished {
 public:
  explicit Unfinished(const char* name) {
    for (auto& each : unfinished) {
      const char* expected = nullptr;
      if (!each.compare_exchange_strong(expected, name)) continue;
      slot_ = &each;
      return;
    }
  }
  ~Unfinished() {
    if (slot_ != nullptr) *slot_ = nullptr;
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 private:
  std::atomic<const char*>* slot_ = nullptr;
};

// Returns 0 or errno.
int WriteAll(int file, std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts)
    if (const int error = WriteFully(file, part); error != 0) return error;
  return 0;
}

// A network file system may report a full disk only on close.
int WriteAndClose(int file, std::initializer_list<std::string_view> parts) {
  const int error = WriteAll(file, parts);
  return close(file) != 0 && error == 0 ? errno : error;
}

bool IsSameFile(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// Writes into an existing file that is not a regular file.
Status WriteThrough(const std::string& path, const struct stat& target, std::initializer_list<std::string_view> parts) {
  struct stat output {};
  int error = 0;
  if (fstat(STDOUT_FILENO, &output) == 0 && IsSameFile(target, output)) {
    error = WriteAll(STDOUT_FILENO, parts);
  } else {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    error = file < 0 ? errno : WriteAndClose(file, parts);
  }
  if (error == 0 || error == EPIPE) return {};  // a reader that closes the pipe early is not an error
  return CannotWrite(path, error);
}

// The path that remains after following symbolic links; the file need not exist. Empty if there are too many links.
std::string TargetOfLinks(std::string path) {
  for (int links = 0; links < 40; ++links) {
    char target[PATH_MAX];
    const ssize_t size = readlink(path.c_str(), target, sizeof target);
    if (size < 0) return path;
    const std::string_view next(target, static_cast<size_t>(size));
    path = next.starts_with('/') ? std::string(next) : StrCat(path.substr(0, path.rfind('/') + 1), next);
  }
  return "";
}

std::string TemporaryName(const std::string& name) {
  static std::atomic<int> count;
  return StrCat(name, kPartialMark, getpid(), "-", count++);
}

// Writes to a temporary file with a unique name, then renames it. `before` describes the file to replace; null if none.
// Messages name `shown`.
Status Replace(const std::string& path, const std::string& shown, const struct stat* before,
               std::initializer_list<std::string_view> parts) {
  std::string temporary;
  std::optional<Unfinished> mark;  // before the file exists, so that a signal at any time removes it
  int file = -1;
  do {
    mark.reset();
    temporary = TemporaryName(path);
    mark.emplace(temporary.c_str());
    file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) return CannotWrite(shown, errno);
  if (before != nullptr) fchmod(file, before->st_mode & 07777);
  int error = WriteAndClose(file, parts);
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  std::remove(temporary.c_str());
  return CannotWrite(shown, error);
}

}  // namespace

int WriteFully(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd wait{file, POLLOUT, 0};
      if (poll(&wait, 1, -1) < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

Status WriteFile(const std::string& path, std::initializer_list<std::string_view> parts) {
  struct stat own {}, target {}, found {};
  const bool exists = lstat(path.c_str(), &own) == 0;
  if (!exists || S_ISREG(own.st_mode)) return Replace(path, path, exists ? &own : nullptr, parts);
  const bool resolves = stat(path.c_str(), &target) == 0;
  if (!resolves && errno != ENOENT) return CannotWrite(path, errno);
  struct stat output {};
  const bool is_output = resolves && fstat(STDOUT_FILENO, &output) == 0 && IsSameFile(target, output);
  if (resolves && (is_output || !S_ISREG(target.st_mode))) return WriteThrough(path, target, parts);
  const std::string file = TargetOfLinks(path);
  if (file.empty()) return CannotWrite(path, ELOOP);
  const bool is_target = lstat(file.c_str(), &found) == 0 && resolves && IsSameFile(found, target);
  // The links in /proc may name a file that no longer has this path.
  if (resolves && !is_target) return WriteThrough(path, target, parts);
  return Replace(file, path, resolves ? &target : nullptr, parts);
}

Status WritePrivateFile(int folder, const std::string& path, const std::string& name,
                        std::initializer_list<std::string_view> parts) {
  std::string temporary, whole;
  std::optional<Unfinished> mark;
  int file = -1;
  do {
    mark.reset();
    temporary = TemporaryName(name);
    whole = StrCat(path, "/", temporary);
    mark.emplace(whole.c_str());
    file = openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  } while (file < 0 && errno == EEXIST);
  const std::string shown = StrCat(path, "/", name);
  if (file < 0) return CannotWrite(shown, errno);
  fchmod(file, 0600);  // whatever the umask is
  int error = WriteAndClose(file, parts);
  if (error == 0 && renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlinkat(folder, temporary.c_str(), 0);
  return CannotWrite(shown, error);
}

void RemoveUnfinishedFiles() {
  for (const auto& name : unfinished)
    if (const char* path = name; path != nullptr) unlink(path);
}

Status CheckWritable(const std::string& folder, int64_t bytes) {
  // Find the closest ancestor that exists.
  std::filesystem::path at = folder;
  struct stat info {};
  while (stat(at.c_str(), &info) != 0) {
    if (errno != ENOENT) return CannotWrite(folder, errno);
    at = at.has_parent_path() && at.parent_path() != at ? at.parent_path() : std::filesystem::path(".");
  }
  if (!S_ISDIR(info.st_mode)) return CannotWrite(folder, ENOTDIR);
  // access() is not enough: it reports that root may write to /proc.
  const std::string probe = StrCat(at.string(), "/.shoal-", getpid());
  if (mkdir(probe.c_str(), 0700) != 0) return CannotWrite(folder, errno);
  rmdir(probe.c_str());
  struct statvfs disk {};
  if (statvfs(at.c_str(), &disk) != 0) return {};
  const double room = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  // A file system of unknown size reports 0 blocks.
  if (disk.f_blocks > 0 && static_cast<double>(bytes) > room)
    return EnvironmentError(StrCat("cannot write ", EscapeName(folder), ": ", bytes, " bytes are needed, bytes free on the disk: ",
                                   static_cast<int64_t>(room)));
  return {};
}

Status CreateDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return EnvironmentError(StrCat("cannot create the folder ", EscapeName(path), ": ", error.message()));
  return {};
}

}  // namespace shoal::internal
