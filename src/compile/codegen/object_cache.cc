#include "compile/codegen/object_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "core/base/files.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

std::string ObjectCache::PathOf(std::string_view key) const {
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx",
                static_cast<unsigned long long>(Fnv1a(key, 0xcbf29ce484222325u)),
                static_cast<unsigned long long>(Fnv1a(key, 0x84222325cbf29ce4u)));
  return StrCat(folder_, "/", name, kSuffix);
}

std::optional<std::string> ObjectCache::Read(std::string_view key) {
  const std::string path = PathOf(key);
  if (access(path.c_str(), F_OK) != 0) return std::nullopt;
  Result<std::unique_ptr<FileBytes>> file = FileBytes::Read(path);
  if (!file.ok()) {
    if (access(path.c_str(), F_OK) == 0) Warn(StrCat("cannot read the cache entry ", path, "; compiled the code again"));
    return std::nullopt;
  }
  const std::optional<Entry> entry = ParseEntry((*file)->bytes());
  if (!entry) {
    Warn(StrCat("the cache entry ", path, " is corrupt; compiled the code again"));
    return std::nullopt;
  }
  if (entry->key != key) return std::nullopt;     // another key with the same hash
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // marks it as recently used
  ++hits_;
  return std::string(entry->object);
}

void ObjectCache::Write(std::string_view key, std::string_view object) {
  Header header;
  header.key_bytes = key.size();
  header.object_bytes = object.size();
  header.checksum = Checksum(key, object);
  Status written = CreateDirectories(folder_);
  if (written.ok())
    written = WriteFile(PathOf(key), {{reinterpret_cast<const char*>(&header), sizeof header}, key, object});
  if (written.ok())
    written_ = true;
  else
    Warn(StrCat("cannot cache the compiled code for the next run: ", written.diag().message));
}

void ObjectCache::Trim() {
  if (!written_) return;
  struct File {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  int64_t all = 0;
  std::error_code error;
  // Other processes may remove entries at the same time; skip entries that no longer exist.
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().string().ends_with(kSuffix)) continue;
    std::error_code removed;
    const auto bytes = static_cast<int64_t>(at->file_size(removed));
    const fs::file_time_type used = removed ? fs::file_time_type() : at->last_write_time(removed);
    if (removed) continue;
    files.push_back({used, bytes, at->path()});
    all += bytes;
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (size_t i = 0; i < files.size() && all > max_bytes_; ++i) {
    fs::remove(files[i].path, error);
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
