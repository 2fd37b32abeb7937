#include "core/base/source.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace shoal::internal {
namespace {

namespace fs = std::filesystem;

// Each test has its own temporary folder.
class SourceFile : public testing::Test {
 protected:
  SourceFile() {
    std::string pattern = (fs::temp_directory_path() / "shoal-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~SourceFile() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, std::string_view bytes) {
    fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  static std::string ReadText(const std::string& path) {
    auto source = Source::Read(path);
    return source.ok() ? std::string((*source)->text()) : "failed: " + source.diag().message;
  }

  static std::string ReadFailure(const std::string& path) {
    auto source = Source::Read(path);
    return source.ok() ? "succeeded" : source.diag().message;
  }

  fs::path folder_;
};

std::string Pack(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// A text larger than any buffer that is used.
std::string LongText() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "line " + std::to_string(i) + '\n';
  return text;
}

TEST_F(SourceFile, ReadsText) {
  EXPECT_EQ(ReadText(Write("m.hlo", "HloModule m\n")), "HloModule m\n");
  EXPECT_EQ(ReadText(Write("long.hlo", LongText())), LongText());
}

TEST_F(SourceFile, ReadsAnEmptyFile) { EXPECT_EQ(ReadText(Write("empty.hlo", "")), ""); }

TEST_F(SourceFile, KeepsNulBytes) {
  std::string bytes("a\0b", 3);
  EXPECT_EQ(ReadText(Write("m.pb", bytes)), bytes);
}

TEST_F(SourceFile, DecompressesGzipWithAnyName) {
  EXPECT_EQ(ReadText(Write("m.hlo.gz", Pack("HloModule m\n"))), "HloModule m\n");
  EXPECT_EQ(ReadText(Write("m.hlo", Pack(LongText()))), LongText());
  EXPECT_EQ(ReadText(Write("empty.gz", Pack(""))), "");
}

TEST_F(SourceFile, DecompressesSeveralGzipMembers) {
  EXPECT_EQ(ReadText(Write("m.gz", Pack("HloModule ") + Pack("m\n"))), "HloModule m\n");
}

TEST_F(SourceFile, RejectsDamagedGzip) {
  std::string packed = Pack(LongText());
  std::string truncated = Write("truncated.gz", packed.substr(0, packed.size() / 2));
  EXPECT_EQ(ReadFailure(truncated), "the gzip data is damaged or truncated");
  packed[packed.size() / 2] ^= 0x55;
  std::string damaged = Write("damaged.gz", packed);
  EXPECT_EQ(ReadFailure(damaged), "the gzip data is damaged or truncated");
}

TEST_F(SourceFile, ReportsReadErrors) {
  std::string missing = (folder_ / "missing.hlo").string();
  EXPECT_EQ(ReadFailure(missing), "No such file or directory");
  EXPECT_EQ(ReadFailure(folder_.string()), "is a directory, not an HLO module; shoal stats summarizes an XLA dump directory");
}

TEST_F(SourceFile, NameIsTheGivenPath) {
  std::string path = Write("m.hlo", "x");
  auto source = Source::Read(path);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->name(), path);
}

TEST(Source, LocatesLinesAndColumns) {
  auto source = Source::FromString("test", "ab\n\ncde\r\nf");
  auto at = [&](uint32_t offset) {
    LineColumn location = source->Locate(offset);
    return std::pair(location.line, location.column);
  };
  EXPECT_EQ(at(0), std::pair(1u, 1u));
  EXPECT_EQ(at(2), std::pair(1u, 3u));  // the line break belongs to its line
  EXPECT_EQ(at(3), std::pair(2u, 1u));
  EXPECT_EQ(at(6), std::pair(3u, 3u));
  EXPECT_EQ(at(9), std::pair(4u, 1u));
  EXPECT_EQ(at(10), std::pair(4u, 2u));  // the end of the text
}

TEST(Source, ReturnsTheLineWithoutItsBreak) {
  auto source = Source::FromString("test", "ab\n\ncde\r\nf");
  EXPECT_EQ(source->LineAt(1), "ab");
  EXPECT_EQ(source->LineAt(3), "");
  EXPECT_EQ(source->LineAt(5), "cde");
  EXPECT_EQ(source->LineAt(10), "f");
}

TEST(Source, AnEmptyTextHasALocation) {
  auto source = Source::FromString("test", "");
  EXPECT_EQ(source->Locate(0).line, 1u);
  EXPECT_EQ(source->LineAt(0), "");
}

}  // namespace
}  // namespace shoal::internal
