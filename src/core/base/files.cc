#include "core/base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/base/strings.h"
#include "core/base/environment_error.h"

namespace shoal::internal {
namespace {

Diag CannotRead(const std::string& path, const char* reason) {
  return EnvironmentError(StrCat("cannot read ", path, ": ", reason));
}

Diag CannotWrite(const std::string& path, int error) {
  return EnvironmentError(StrCat("cannot write ", path, ": ", std::strerror(error)));
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
  for (std::string_view part : parts) {
    while (!part.empty()) {
      const ssize_t written = write(file, part.data(), part.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      part.remove_prefix(static_cast<size_t>(written));
    }
  }
  return 0;
}

// A network file system may report a full disk only on close.
int WriteAndClose(int file, std::initializer_list<std::string_view> parts) {
  const int error = WriteAll(file, parts);
  return close(file) != 0 && error == 0 ? errno : error;
}

bool IsSameFile(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// Writes into an existing file that is not a regular file; `target` is null for a dangling symbolic link.
Status WriteThrough(const std::string& path, const struct stat* target,
                    std::initializer_list<std::string_view> parts) {
  struct stat output {};
  int error = 0;
  if (target != nullptr && fstat(STDOUT_FILENO, &output) == 0 && IsSameFile(*target, output)) {
    error = WriteAll(STDOUT_FILENO, parts);
  } else {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    error = file < 0 ? errno : WriteAndClose(file, parts);
  }
  if (error == 0 || error == EPIPE) return {};  // a reader that closes the pipe early is not an error
  return CannotWrite(path, error);
}

// Writes to a temporary file with a unique name, then renames it. `before` describes the file to replace; null if none.
Status Replace(const std::string& path, const struct stat* before, std::initializer_list<std::string_view> parts) {
  static std::atomic<int> count;
  std::string temporary;
  int file = -1;
  do {
    temporary = StrCat(path, ".partial-", getpid(), "-", count++);
    file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) return CannotWrite(path, errno);
  const Unfinished mark(temporary.c_str());
  if (before != nullptr) fchmod(file, before->st_mode & 07777);
  int error = WriteAndClose(file, parts);
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  std::remove(temporary.c_str());
  return CannotWrite(path, error);
}

}  // namespace

Result<std::unique_ptr<FileBytes>> FileBytes::Read(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return CannotRead(path, std::strerror(errno));
  std::unique_ptr<FileBytes> result(new FileBytes);
  struct stat info {};
  Status failure;
  if (fstat(file, &info) != 0) {
    failure = CannotRead(path, std::strerror(errno));
  } else if (!S_ISREG(info.st_mode)) {
    failure = CannotRead(path, S_ISDIR(info.st_mode) ? "it is a folder" : "it is not a plain file");
  } else if (info.st_size > 0) {
    const auto size = static_cast<size_t>(info.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) {
      failure = CannotRead(path, std::strerror(errno));
    } else {
      result->bytes_ = {static_cast<const char*>(mapped), size};
    }
  }
  close(file);
  if (!failure.ok()) return std::move(failure.diag());
  return result;
}

FileBytes::~FileBytes() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

Status WriteFile(const std::string& path, std::initializer_list<std::string_view> parts) {
  struct stat own {}, target {};
  const bool exists = lstat(path.c_str(), &own) == 0;
  const bool resolves = exists && stat(path.c_str(), &target) == 0;
  if (exists && !S_ISREG(own.st_mode)) return WriteThrough(path, resolves ? &target : nullptr, parts);
  return Replace(path, exists ? &own : nullptr, parts);
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
    return EnvironmentError(StrCat("cannot write ", folder, ": ", bytes, " bytes are needed, bytes free on the disk: ",
                                   static_cast<int64_t>(room)));
  return {};
}

Status CreateDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return EnvironmentError(StrCat("cannot create the folder ", path, ": ", error.message()));
  return {};
}

}  // namespace shoal::internal
