// Compiled code on disk, one file an entry, for the next run that wants the same. Any number of processes may use one
// folder: entries appear whole or not at all. What is damaged is not used, and what cannot be written is not kept; both
// are said once, and the run goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::internal {

class ObjectCache {
 public:
  // Of all entries together; the ones used longest ago go first.
  static constexpr int64_t kMaxBytes = int64_t{1} << 30;

  explicit ObjectCache(std::string folder, int64_t max_bytes = kMaxBytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  // `key` says everything that the code depends on; the entry is compared with all of it. May be called from any thread.
  std::optional<std::string> Read(std::string_view key);
  void Write(std::string_view key, std::string_view object);

  // Removes entries until the rest fits.
  void Trim();

  int64_t hits() const { return hits_; }
  // Sentences about what went wrong since the last call.
  std::vector<std::string> TakeWarnings();

 private:
  std::string PathOf(std::string_view key) const;
  void Warn(std::string sentence);

  const std::string folder_;
  const int64_t max_bytes_;
  std::atomic<int64_t> hits_ = 0;
  std::atomic<bool> written_ = false;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

}  // namespace shoal::internal
