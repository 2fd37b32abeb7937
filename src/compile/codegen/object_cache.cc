#include "compile/codegen/object_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "core/base/environment_error.h"
#include "core/base/numbers.h"
#include "core/base/printable.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

constexpr std::string_view kSuffix = ".shoal-code";

// The header of an entry. The key and the object follow.
struct Header {
  char magic[8] = {'s', 'h', 'o', 'a', 'l', 'o', 'b', '1'};
  uint64_t key_bytes = 0, object_bytes = 0;
  uint64_t checksum = 0;  // checksum of key and object
};

uint64_t Checksum(std::string_view key, std::string_view object) {
  uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(key.data()), key.size());
  crc = crc32_z(crc, reinterpret_cast<const Bytef*>(object.data()), object.size());
  return crc;
}

uint64_t Fnv1a(std::string_view text, uint64_t hash) {
  for (char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

// The content of an entry. ParseEntry returns nothing if the entry is corrupt.
struct Entry {
  std::string_view key, object;
};
std::optional<Entry> ParseEntry(std::string_view bytes) {
  Header header, expected;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const uint64_t rest = bytes.size() - sizeof header;
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 || header.key_bytes > rest ||
      header.object_bytes != rest - header.key_bytes)
    return std::nullopt;
  const Entry entry{bytes.substr(sizeof header, header.key_bytes), bytes.substr(sizeof header + header.key_bytes)};
  if (header.checksum != Checksum(entry.key, entry.object)) return std::nullopt;
  return entry;
}

std::string NameOf(std::string_view key) {
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx",
                static_cast<unsigned long long>(Fnv1a(key, 0xcbf29ce484222325u)),
                static_cast<unsigned long long>(Fnv1a(key, 0x84222325cbf29ce4u)));
  return StrCat(name, kSuffix);
}

// Why a file or folder must not be used; empty if it may be used.
std::string_view ReasonNotTrusted(const struct stat& info) {
  if (info.st_uid != geteuid()) return "it belongs to another user";
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users may write to it";
  return "";
}

// Creates the folder so that only its owner can use it.
Status CreatePrivateFolder(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) SHOAL_TRY(CreateDirectories(parent));
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return EnvironmentError(StrCat("cannot create the folder ", EscapeName(path), ": ", std::strerror(errno)));
}

struct CacheFile {
  std::string name;
  timespec used;
  int64_t bytes;
};

// True for the temporary file of a process that is gone. Writing an entry takes less than a second.
bool IsOrphan(const CacheFile& file) {
  const size_t mark = file.name.rfind(kPartialMark);
  if (mark == std::string::npos) return false;
  constexpr int64_t kMaxSeconds = 600;
  if (file.bytes > ObjectCache::kMaxEntryBytes || time(nullptr) - file.used.tv_sec > kMaxSeconds) return true;
  const std::string_view numbers = std::string_view(file.name).substr(mark + kPartialMark.size());
  const std::optional<int64_t> process = ParseInteger(numbers.substr(0, numbers.find('-')));
  // A process of another user does not write to this folder.
  return !process || *process <= 0 || *process > INT32_MAX || kill(static_cast<pid_t>(*process), 0) != 0;
}

// The entries of the folder, and the temporary files of entries. Other processes may remove some at the same time.
std::vector<CacheFile> FilesIn(int folder) {
  std::vector<CacheFile> files;
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* list = copy < 0 ? nullptr : fdopendir(copy);
  if (list == nullptr) {
    if (copy >= 0) close(copy);
    return files;
  }
  while (const dirent* entry = readdir(list)) {
    const std::string name = entry->d_name;
    struct stat info {};
    if (name.find(kSuffix) == std::string::npos || fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const bool is_partial = name.find(StrCat(kSuffix, kPartialMark)) != std::string::npos;
    if (is_partial || name.ends_with(kSuffix)) files.push_back({name, info.st_mtim, static_cast<int64_t>(info.st_size)});
  }
  closedir(list);
  return files;
}

}  // namespace

int ObjectCache::OpenFolder(bool create) {
  std::lock_guard lock(mutex_);
  if (is_refused_) return -1;
  if (opened_.IsOpen()) return opened_.number();
  const auto refuse = [&](std::string_view reason) {
    is_refused_ = true;
    warnings_.push_back(StrCat("the cache directory ", EscapeName(folder_), " is not used: ", reason));
    return -1;
  };
  if (create) {
    if (const Status created = CreatePrivateFolder(folder_); !created.ok()) {
      is_refused_ = true;
      warnings_.push_back(StrCat("cannot cache the compiled code for the next run: ", created.diag().message));
      return -1;
    }
  }
  const int folder = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0 && errno == ENOENT && !create) return -1;
  if (folder < 0) return refuse(std::strerror(errno));
  opened_ = FileDescriptor(folder);
  struct stat info {};
  if (fstat(folder, &info) != 0) return refuse(std::strerror(errno));
  if (const std::string_view reason = ReasonNotTrusted(info); !reason.empty()) return refuse(reason);
  return folder;
}

// The bytes of an entry; empty if there is none.
Result<std::string> ObjectCache::ReadEntry(int folder, const std::string& name) const {
  struct stat info {};
  if (fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) return std::string();
  Result<OpenedFile> opened = OpenForReading(name, {.folder = folder, .follow_links = false});
  if (!opened.ok()) {
    // Another process may have removed the entry since the check above.
    const bool is_gone = fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
    return is_gone ? Result<std::string>(std::string()) : Result<std::string>(std::move(opened.diag()));
  }
  const OpenedFile& file = *opened;
  if (const std::string_view reason = ReasonNotTrusted(file.info); !reason.empty()) return Fail(std::string(reason));
  if (file.info.st_size > kMaxEntryBytes) return Fail("it is too large");
  std::string bytes(static_cast<size_t>(file.info.st_size), '\0');
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t got = read(file.descriptor.number(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Fail("it cannot be read to its end");
    done += static_cast<size_t>(got);
  }
  futimens(file.descriptor.number(), nullptr);  // marks it as recently used
  return bytes.empty() ? Result<std::string>(Fail("it is empty")) : Result<std::string>(std::move(bytes));
}

std::optional<std::string> ObjectCache::Read(std::string_view key) {
  const int folder = OpenFolder(/*create=*/false);
  if (folder < 0) return std::nullopt;
  const std::string name = NameOf(key), path = StrCat(EscapeName(folder_), "/", name);
  Result<std::string> bytes = ReadEntry(folder, name);
  if (!bytes.ok()) {
    Warn(StrCat("the cache entry ", path, " is not used: ", bytes.diag().message, "; compiled the code again"));
    return std::nullopt;
  }
  if (bytes->empty()) return std::nullopt;
  const std::optional<Entry> entry = ParseEntry(*bytes);
  if (!entry) {
    Warn(StrCat("the cache entry ", path, " is corrupt; compiled the code again"));
    return std::nullopt;
  }
  if (entry->key != key) return std::nullopt;  // another key with the same hash
  ++hits_;
  return std::string(entry->object);
}

void ObjectCache::Write(std::string_view key, std::string_view object) {
  Header header;
  header.key_bytes = key.size();
  header.object_bytes = object.size();
  header.checksum = Checksum(key, object);
  if (static_cast<int64_t>(sizeof header + key.size() + object.size()) > kMaxEntryBytes) return;
  const int folder = OpenFolder(/*create=*/true);
  if (folder < 0) return;
  const Status written = WritePrivateFile(folder, folder_, NameOf(key),
                                          {{reinterpret_cast<const char*>(&header), sizeof header}, key, object});
  if (!written.ok()) Warn(StrCat("cannot cache the compiled code for the next run: ", written.diag().message));
}

void ObjectCache::Trim() {
  const int folder = OpenFolder(/*create=*/false);
  if (folder < 0) return;
  std::vector<CacheFile> files = FilesIn(folder);
  std::erase_if(files, [&](const CacheFile& file) {
    return IsOrphan(file) && unlinkat(folder, file.name.c_str(), 0) == 0;
  });
  std::sort(files.begin(), files.end(), [](const CacheFile& a, const CacheFile& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  int64_t all = 0;
  for (const CacheFile& file : files) all += file.bytes;
  for (size_t i = 0; i < files.size() && all > max_bytes_; ++i) {
    if (files[i].name.ends_with(kSuffix)) unlinkat(folder, files[i].name.c_str(), 0);
    all -= files[i].bytes;
  }
}

void ObjectCache::Warn(std::string message) {
  std::lock_guard lock(mutex_);
  if (warnings_.size() < 3) warnings_.push_back(std::move(message));
}

std::vector<std::string> ObjectCache::TakeWarnings() {
  std::lock_guard lock(mutex_);
  return std::exchange(warnings_, {});
}

}  // namespace shoal::internal
