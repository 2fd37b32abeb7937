// A cache of compiled code on disk, for later runs with the same kernels. Each entry is a file. Several processes may
// share a folder, because entries are written atomically. Corrupt entries are ignored, and failed writes are not fatal;
// both add a warning.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/codegen/codegen.h"

namespace shoal::internal {

class ObjectCache : public CodeCache {
 public:
  // Maximum total size of the entries. The least recently used ones are removed first.
  static constexpr int64_t kMaxBytes = int64_t{1} << 30;

  explicit ObjectCache(std::string folder, int64_t max_bytes = kMaxBytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  // A hit requires an equal key, not only an equal hash.
  std::optional<std::string> Read(std::string_view key) override;
  void Write(std::string_view key, std::string_view object) override;

  // Removes entries until the total size is at most max_bytes.
  void Trim();

  int64_t hits() const { return hits_; }
  // Warnings since the last call.
  std::vector<std::string> TakeWarnings();

 private:
  std::string PathOf(std::string_view key) const;
  void Warn(std::string message);

  const std::string folder_;
  const int64_t max_bytes_;
  std::atomic<int64_t> hits_ = 0;
  std::atomic<bool> written_ = false;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

}  // namespace shoal::internal
