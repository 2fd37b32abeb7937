#include "core/base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/environment_error.h"

namespace shoal::internal {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() : folder_(fs::temp_directory_path() / ("files_test_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }

  static std::string Read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  // Number of files in the folder.
  int64_t Count() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

  fs::path folder_;
};

TEST_F(Files, ReplacesRegularFilesAndKeepsTheirMode) {
  const fs::path path = folder_ / "plain";
  ASSERT_TRUE(WriteFile(path, {"one", "two"}).ok());
  EXPECT_EQ(Read(path), "onetwo");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(WriteFile(path, {"three"}).ok());
  EXPECT_EQ(Read(path), "three");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(Count(), 1);
}

TEST_F(Files, WritesThroughLinks) {
  const fs::path target = folder_ / "target", link = folder_ / "link", dangling = folder_ / "dangling";
  ASSERT_TRUE(WriteFile(target, {"before, and longer"}).ok());
  fs::create_symlink(target, link);
  fs::create_symlink(folder_ / "new", dangling);
  ASSERT_TRUE(WriteFile(link, {"after"}).ok());
  ASSERT_TRUE(WriteFile(dangling, {"made"}).ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(Read(target), "after");
  EXPECT_TRUE(fs::is_symlink(dangling));
  EXPECT_EQ(Read(folder_ / "new"), "made");
}

TEST_F(Files, ReportsErrorsAndLeavesNoFiles) {
  for (const char* path : {"/dev/full", "/proc/no-such-file", "/"}) {
    const Status written = WriteFile(path, {"text"});
    ASSERT_FALSE(written.ok()) << path;
    EXPECT_TRUE(IsEnvironmentError(written.diag())) << path;
  }
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_FALSE(WriteFile(folder_, {"text"}).ok());
  EXPECT_EQ(Count(), 0);
}

TEST_F(Files, CheckWritableDetectsErrorsInAdvance) {
  EXPECT_TRUE(CheckWritable(folder_ / "not" / "there" / "yet", 1).ok());
  EXPECT_FALSE(CheckWritable(folder_, INT64_MAX).ok());
  ASSERT_TRUE(WriteFile(folder_ / "plain", {""}).ok());
  EXPECT_FALSE(CheckWritable(folder_ / "plain" / "below", 1).ok());
  EXPECT_FALSE(CheckWritable(folder_ / "plain", 1).ok());
  EXPECT_EQ(Count(), 1);
}

}  // namespace
}  // namespace shoal::internal
