#include "core/base/zip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace shoal::internal {
namespace {

std::string Number(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

// An archive of one entry.
std::string Archive(const std::string& name, const std::string& data, uint16_t method, uint64_t bytes, uint32_t crc) {
  const std::string sizes = Number(crc, 4) + Number(data.size(), 4) + Number(bytes, 4) + Number(name.size(), 2);
  const std::string local =
      "PK\3\4" + Number(20, 2) + Number(0, 2) + Number(method, 2) + Number(0, 4) + sizes + Number(0, 2) + name + data;
  const std::string central = "PK\1\2" + Number(20, 2) + Number(20, 2) + Number(0, 2) + Number(method, 2) +
                              Number(0, 4) + sizes + Number(0, 2) + Number(0, 2) + Number(0, 8) + Number(0, 4) + name;
  return local + central + "PK\5\6" + Number(0, 4) + Number(1, 2) + Number(1, 2) + Number(central.size(), 4) +
         Number(local.size(), 4) + Number(0, 2);
}

uint32_t Crc(const std::string& text) {
  return static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

std::string Outcome(const std::string& file) {
  Result<ZipReader> zip = ZipReader::Open(InputFile::FromString("zip", file));
  if (!zip.ok()) return zip.diag().message;
  Result<std::string> entry = zip->Read(zip->entries().begin()->first, UINT64_MAX);
  return entry.ok() ? *entry : entry.diag().message;
}

TEST(Zip, Stored) { EXPECT_EQ(Outcome(Archive("a", "hello", 0, 5, Crc("hello"))), "hello"); }

TEST(Zip, ReportsErrors) {
  const std::string good = Archive("a", "hello", 0, 5, Crc("hello"));
  EXPECT_EQ(Outcome(""), "is not a zip archive or is truncated");
  EXPECT_EQ(Outcome(good.substr(0, good.size() - 3)), "is not a zip archive or is truncated");
  EXPECT_EQ(Outcome(good.substr(10)), "is damaged: its directory is malformed");
  EXPECT_EQ(Outcome(good.substr(good.size() - 22)), "is damaged: its directory is outside the file");
  EXPECT_EQ(Outcome(Archive("a", "hello", 0, 5, 1)), "is damaged: entry a has a wrong size or checksum");
  EXPECT_EQ(Outcome(Archive("a", "hello", 0, 6, Crc("hello"))),
            "is damaged: entry a has a wrong size or checksum");
  EXPECT_EQ(Outcome(Archive("a", "hello", 8, 5, Crc("hello"))),
            "has the unreadable entry a: its deflated data is damaged");
  EXPECT_EQ(Outcome(Archive("a", "hello", 8, 1u << 31, Crc("hello"))),
            "has the unreadable entry a: its unpacked size is larger than its data allows");
  EXPECT_EQ(Outcome(Archive("a", "hello", 12, 5, Crc("hello"))),
            "packs entry a with method 12; supported: 0 (stored) and 8 (deflated)");
}

// ReadBeginning unpacks a deflated entry only up to the requested size, and uses no more memory than that.
TEST(Zip, Beginning) {
  std::string zeros(1 << 20, '\0'), packed(1 << 14, '\0');
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(zeros.data());
  stream.avail_in = static_cast<uInt>(zeros.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  const std::string file = Archive("a", packed, 8, zeros.size(), Crc(zeros));
  Result<ZipReader> zip = ZipReader::Open(InputFile::FromString("zip", file));
  ASSERT_TRUE(zip.ok());
  for (uint64_t max : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, uint64_t{zeros.size()}, uint64_t{zeros.size()} * 2}) {
    Result<std::string> beginning = zip->ReadBeginning("a", max);
    ASSERT_TRUE(beginning.ok()) << max << ": " << beginning.diag().message;
    EXPECT_EQ(beginning->size(), std::min<uint64_t>(max, zeros.size()));
  }
}

// Whatever the bytes are, reading terminates with a result or an error.
TEST(Zip, SurvivesAnyWrongByte) {
  const std::string good = Archive("name", "hello", 0, 5, Crc("hello"));
  for (size_t i = 0; i < good.size(); ++i) {
    for (char byte : {'\0', '\1', '\xff'}) {
      std::string bad = good;
      bad[i] = byte;
      Result<ZipReader> zip = ZipReader::Open(InputFile::FromString("zip", bad));
      if (!zip.ok()) continue;
      for (const auto& [name, entry] : zip->entries()) (void)zip->Read(name, 1 << 20);
    }
  }
}

}  // namespace
}  // namespace shoal::internal
