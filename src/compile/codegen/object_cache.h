// A cache of compiled code on disk, for later runs with the same kernels. Each entry is a file. Several processes of a
// user may share a folder, because entries are written atomically. Corrupt entries are ignored, and failed writes are not
// fatal; both add a warning.
//
// The code of an entry runs with the rights of this process, and a checksum protects it from accidents only. Therefore, the
// cache uses only folders and entries that belong to the user of this process and that no other user may write. It never
// follows a symbolic link to an entry.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/codegen/codegen.h"
#include "core/base/files.h"

namespace shoal::internal {

class ObjectCache : public CodeCache {
 public:
  // Maximum total size of the entries. The least recently used ones are removed first.
  static constexpr int64_t kMaxBytes = int64_t{1} << 30;
  // Larger objects are not cached.
  static constexpr int64_t kMaxEntryBytes = int64_t{256} << 20;

  explicit ObjectCache(std::string folder, int64_t max_bytes = kMaxBytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  // A hit requires an equal key, not only an equal hash.
  std::optional<std::string> Read(std::string_view key) override;
  void Write(std::string_view key, std::string_view object) override;

  // Removes entries until the total size is at most max_bytes, and the temporary files of processes that were killed.
  void Trim();

  int64_t hits() const { return hits_; }
  // Warnings since the last call.
  std::vector<std::string> TakeWarnings();

 private:
  // The descriptor of the folder; -1 if it does not exist or must not be used. Creates the folder if `create` is set.
  int OpenFolder(bool create);
  Result<std::string> ReadEntry(int folder, const std::string& name) const;
  void Warn(std::string message);

  const std::string folder_;
  const int64_t max_bytes_;
  std::atomic<int64_t> hits_ = 0;
  std::mutex mutex_;  // guards the members below
  FileDescriptor opened_;
  bool is_refused_ = false;  // the folder must not be used
  std::vector<std::string> warnings_;
};

}  // namespace shoal::internal
