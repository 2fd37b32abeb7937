#include "serve/mcp/allowed_folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "core/base/environment_error.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{2} << 30;

Result<std::string> RealPath(const std::string& path) {
  if (path.find('\0') != std::string::npos) return Fail("a path must not contain a zero byte");
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) return EnvironmentError(StrCat(path, ": ", std::strerror(errno)));
  return std::string(resolved);
}

Diag Outside(const std::string& path) { return Fail(StrCat(path, " is outside the folders that this server may read")); }

// Closes a file at the end of its scope.
class ScopedFile {
 public:
  explicit ScopedFile(int file) : file_(file) {}
  ~ScopedFile() {
    if (file_ >= 0) close(file_);
  }
  ScopedFile(const ScopedFile&) = delete;
  int get() const { return file_; }

 private:
  int file_;
};

}  // namespace

Result<AllowedFolders> AllowedFolders::Of(const std::vector<std::string>& folders) {
  AllowedFolders roots;
  for (const std::string& folder : folders) {
    SHOAL_ASSIGN(resolved, RealPath(folder));
    roots.folders_.push_back(resolved);
  }
  return roots;
}

bool AllowedFolders::Contains(const std::string& resolved) const {
  return std::any_of(folders_.begin(), folders_.end(), [&](const std::string& root) {
    return root == "/" || resolved == root || (resolved.starts_with(root) && resolved[root.size()] == '/');
  });
}

Result<std::string> AllowedFolders::Resolve(const std::string& path) const {
  const bool is_relative = path.empty() || path.front() != '/';
  Result<std::string> resolved = RealPath(is_relative ? StrCat(folders_.front(), "/", path) : path);
  // A file outside the roots gives the same answer whether or not it exists.
  if (!resolved.ok()) return is_relative || Contains(path) ? resolved : Result<std::string>(Outside(path));
  if (!Contains(*resolved)) return Outside(path);
  return resolved;
}

Result<std::string> AllowedFolders::ReadFile(const std::string& path) const {
  SHOAL_ASSIGN(resolved, Resolve(path));
  const ScopedFile file(open(resolved.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (file.get() < 0) return EnvironmentError(StrCat(path, ": ", std::strerror(errno)));
  SHOAL_ASSIGN(opened, RealPath(StrCat("/proc/self/fd/", file.get())));
  if (!Contains(opened)) return Outside(path);
  struct stat info {};
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return Fail(StrCat(path, " is not a regular file"));
  if (info.st_size > kMaxFileBytes) return Fail(StrCat(path, " is larger than 2 GiB"));
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t more = read(file.get(), bytes.data() + got, bytes.size() - got);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    got += static_cast<size_t>(more);
  }
  bytes.resize(got);
  return bytes;
}

Result<std::string> AllowedFolders::ResolveNew(const std::string& path) const {
  const size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") return Fail(StrCat(path, " is not the name of a file"));
  SHOAL_ASSIGN(folder, Resolve(slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash)));
  std::string target = StrCat(folder, "/", name);
  struct stat info {};
  if (lstat(target.c_str(), &info) == 0) return Fail(StrCat(path, " already exists"));
  return target;
}

bool AllowedFolders::IsFolder(const std::string& resolved) const {
  struct stat info {};
  return stat(resolved.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace shoal::internal
