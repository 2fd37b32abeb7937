#include "compile/codegen/object_cache.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <thread>

namespace shoal::internal {
namespace {

class Folder {
 public:
  Folder() { path_ = mkdtemp(name_); }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  char name_[32] = "/tmp/shoal-cache-XXXXXX";
  std::string path_;
};

TEST(ObjectCache, ReadsWrittenEntries) {
  Folder folder;
  ObjectCache cache(folder.path());
  EXPECT_FALSE(cache.Read("key").has_value());
  cache.Write("key", "object");
  EXPECT_EQ(cache.Read("key"), "object");
  EXPECT_FALSE(cache.Read("other key").has_value());
  EXPECT_TRUE(cache.TakeWarnings().empty());
}

TEST(ObjectCache, StaysWithinItsSizeLimit) {
  Folder folder;
  for (int i = 0; i < 20; ++i) {
    ObjectCache cache(folder.path(), 10'000);
    cache.Write("key " + std::to_string(i), std::string(1000, 'x'));
    cache.Trim();
    EXPECT_TRUE(cache.Read("key " + std::to_string(i)).has_value());
  }
  int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) bytes += static_cast<int64_t>(entry.file_size());
  EXPECT_LE(bytes, 10'000);
  EXPECT_GT(bytes, 5'000);
}

// Entries are complete or absent, even with concurrent writes and removals.
TEST(ObjectCache, ConcurrentAccess) {
  Folder folder;
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      ObjectCache cache(folder.path(), 20'000);
      for (int i = 0; i < 100; ++i) {
        const std::string key = "key " + std::to_string(i % 10), object(2000, static_cast<char>('a' + i % 10));
        cache.Write(key, object);
        if (auto read = cache.Read(key); read && *read != object) ++wrong;
        cache.Trim();
      }
      wrong += static_cast<int>(cache.TakeWarnings().size());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace shoal::internal
