// Opens and reads files, and lists folders.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/environment_error.h"
#include "core/base/files.h"
#include "core/base/printable.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

Diag CannotRead(const std::string& path, std::string_view reason) {
  return EnvironmentError(StrCat("cannot read ", EscapeName(path), ": ", reason));
}

Status CheckType(const struct stat& info, const OpenOptions& options) {
  if (S_ISREG(info.st_mode)) return {};
  if (S_ISDIR(info.st_mode)) return EnvironmentError("it is a folder");
  if (options.allow_streams && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode))) return {};
  return EnvironmentError("it is not a plain file");
}

// A folder that is being listed.
struct Pending {
  std::string path;  // relative to the first folder; empty for that one
  int depth = 1;
};

class Lister {
 public:
  Lister(const std::string& folder, int max_depth, bool follow_links)
      : folder_(folder), max_depth_(max_depth), follow_links_(follow_links) {}

  // Returns errno of the failure to read the first folder, or 0.
  int List() {
    pending_.push_back({"", 1});
    while (!pending_.empty()) {
      const Pending next = std::move(pending_.back());
      pending_.pop_back();
      const int error = ListOne(next);
      if (error != 0 && next.path.empty()) return error;
      if (error != 0) listing.unreadable.emplace_back(next.path, std::strerror(error));
    }
    std::sort(listing.files.begin(), listing.files.end(),
              [](const FolderEntry& a, const FolderEntry& b) { return a.path < b.path; });
    std::sort(listing.unreadable.begin(), listing.unreadable.end());
    return 0;
  }

  FolderListing listing;

 private:
  int ListOne(const Pending& folder) {
    DIR* opened = opendir(folder.path.empty() ? folder_.c_str() : StrCat(folder_, "/", folder.path).c_str());
    if (opened == nullptr) return errno;
    errno = 0;
    while (const dirent* entry = readdir(opened)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") Add(dirfd(opened), entry->d_name, folder);
      errno = 0;
    }
    const int error = errno;
    closedir(opened);
    return error;
  }

  void Add(int opened, const char* name, const Pending& folder) {
    std::string path = folder.path.empty() ? name : StrCat(folder.path, "/", name);
    struct stat own {}, target {};
    if (fstatat(opened, name, &own, AT_SYMLINK_NOFOLLOW) != 0) return;  // removed since
    const bool is_link = S_ISLNK(own.st_mode);
    target = own;
    if (is_link && fstatat(opened, name, &target, 0) != 0) return;  // names no file
    if (S_ISREG(target.st_mode)) listing.files.push_back({std::move(path), static_cast<int64_t>(target.st_size)});
    else if (S_ISDIR(target.st_mode) && folder.depth < max_depth_ && (!is_link || follow_links_))
      pending_.push_back({std::move(path), folder.depth + 1});
  }

  const std::string& folder_;
  const int max_depth_;
  const bool follow_links_;
  std::vector<Pending> pending_;
};

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) close(number_);
}

Result<OpenedFile> OpenForReading(const std::string& path, const OpenOptions& options) {
  OpenedFile file;
  // Checks the type first, because opening a device may have an effect, and again after opening.
  const int flags = options.follow_links ? 0 : AT_SYMLINK_NOFOLLOW;
  if (fstatat(options.folder, path.c_str(), &file.info, flags) != 0) return EnvironmentError(std::strerror(errno));
  SHOAL_TRY(CheckType(file.info, options));
  // O_NONBLOCK: opening a pipe does not wait for its other end.
  const int number = openat(options.folder, path.c_str(),
                            O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | (options.follow_links ? 0 : O_NOFOLLOW));
  if (number < 0) return EnvironmentError(std::strerror(errno));
  file.descriptor = FileDescriptor(number);
  if (fstat(number, &file.info) != 0) return EnvironmentError(std::strerror(errno));
  SHOAL_TRY(CheckType(file.info, options));
  return file;
}

Result<InputFile> InputFile::Open(const std::string& path) {
  Result<OpenedFile> opened = OpenForReading(path);
  if (!opened.ok()) return CannotRead(path, opened.diag().message);
  InputFile file;
  file.path_ = path;
  file.descriptor_ = std::move(opened->descriptor);
  file.size_ = static_cast<uint64_t>(opened->info.st_size);
  return file;
}

InputFile InputFile::FromString(std::string name, std::string bytes) {
  InputFile file;
  file.path_ = std::move(name);
  file.bytes_ = std::move(bytes);
  file.size_ = file.bytes_.size();
  return file;
}

Status InputFile::ReadAt(uint64_t offset, char* out, size_t bytes) const {
  if (!descriptor_.IsOpen()) {
    if (offset > bytes_.size() || bytes > bytes_.size() - offset) return CannotRead(path_, "it is truncated");
    std::memcpy(out, bytes_.data() + offset, bytes);
    return {};
  }
  for (size_t done = 0; done < bytes;) {
    const ssize_t got = pread(descriptor_.number(), out + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return CannotRead(path_, std::strerror(errno));
    if (got == 0) return CannotRead(path_, "it was truncated while it was being read");
    done += static_cast<size_t>(got);
  }
  return {};
}

Result<std::string> InputFile::ReadRange(uint64_t offset, uint64_t bytes) const {
  std::string range(offset < size_ ? std::min(bytes, size_ - offset) : 0, '\0');
  SHOAL_TRY(ReadAt(offset, range.data(), range.size()));
  return range;
}

Result<std::string> InputFile::ReadAll(uint64_t max_bytes) const {
  if (size_ > max_bytes) return CannotRead(path_, StrCat("it has ", size_, " bytes; at most ", max_bytes, " are read"));
  return ReadRange(0, size_);
}

Result<FolderListing> ListFolder(const std::string& folder, int max_depth, bool follow_links) {
  Lister lister(folder, max_depth, follow_links);
  if (const int error = lister.List(); error != 0) return CannotRead(folder, std::strerror(error));
  return std::move(lister.listing);
}

}  // namespace shoal::internal
