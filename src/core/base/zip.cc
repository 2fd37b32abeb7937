#include "core/base/zip.h"

#include <zlib.h>

#include <algorithm>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

constexpr std::string_view kLocalHeader = "PK\3\4", kCentralHeader = "PK\1\2", kEnd = "PK\5\6", kEnd64 = "PK\6\6",
                           kLocator64 = "PK\6\7";
constexpr uint64_t kZip64Marker = 0xffffffff;  // the number is in a 64-bit field elsewhere

// Reads little-endian numbers at offsets; bytes beyond the end count as zero.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}
  uint64_t operator()(size_t at, size_t size) const {
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
      value = value << 8 | (at + i < bytes_.size() ? static_cast<uint8_t>(bytes_[at + i]) : 0);
    return value;
  }

 private:
  std::string_view bytes_;
};

struct Directory {
  uint64_t offset = 0, bytes = 0, entries = 0;
};

Result<Directory> FindDirectory(std::string_view file) {
  // The end record is last in the file, except for a comment of at most 64 KiB.
  const size_t end = file.rfind(kEnd);
  if (end == std::string_view::npos || file.size() - end < 22) return Fail("is not a zip archive or is truncated");
  const Fields record(file.substr(end));
  Directory directory{record(16, 4), record(12, 4), record(10, 2)};
  if (directory.offset == kZip64Marker || directory.bytes == kZip64Marker || directory.entries == 0xffff) {
    if (end < 20 || file.substr(end - 20, 4) != kLocator64) return Fail("is damaged: it has no zip64 directory");
    const uint64_t end64 = Fields(file.substr(end - 20))(8, 8);
    if (end64 > file.size() || file.substr(end64, 4) != kEnd64) return Fail("is damaged: it has no zip64 directory");
    const Fields record64(file.substr(end64));
    directory = {record64(48, 8), record64(40, 8), record64(32, 8)};
  }
  if (directory.offset > file.size() || directory.bytes > file.size() - directory.offset)
    return Fail("is damaged: its directory is outside the file");
  return directory;
}

// Replaces the entry's numbers for which the extra field with id 1 has 64-bit values.
void ReadExtra64(std::string_view extra, ZipReader::Entry& entry) {
  while (extra.size() >= 4) {
    const Fields field(extra);
    const size_t size = field(2, 2);
    size_t at = 4;
    if (field(0, 2) == 1) {
      for (uint64_t* number : {&entry.bytes, &entry.packed_bytes, &entry.header_offset}) {
        if (*number != kZip64Marker || at + 8 > 4 + size) continue;
        *number = field(at, 8);
        at += 8;
      }
    }
    extra.remove_prefix(std::min(extra.size(), 4 + size));
  }
}

// Unpacks the first `bytes` bytes of an entry whose unpacked size is `all` according to the directory.
Result<std::string> Inflate(std::string_view packed, uint64_t bytes, uint64_t all) {
  // Deflate compresses at most about a thousandfold; a larger size in the directory is malformed.
  if (all / 1100 > packed.size()) return Fail("its unpacked size is larger than its data allows");
  std::string out(bytes, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return Fail("cannot start decompression");
  size_t in_done = 0, out_done = 0;
  int code = Z_OK;
  constexpr size_t kMax = size_t{1} << 30;
  while (code == Z_OK && (bytes == all || out_done < bytes)) {
    const size_t in_now = std::min(kMax, packed.size() - in_done), out_now = std::min(kMax, out.size() - out_done);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in_done));
    stream.avail_in = static_cast<uInt>(in_now);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + out_done);
    stream.avail_out = static_cast<uInt>(out_now);
    code = inflate(&stream, Z_NO_FLUSH);
    in_done += in_now - stream.avail_in;
    out_done += out_now - stream.avail_out;
  }
  inflateEnd(&stream);
  const bool complete = code == Z_STREAM_END || (bytes < all && code == Z_OK);
  if (!complete || out_done != out.size()) return Fail("its deflated data is damaged");
  return out;
}

uint32_t Crc(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

Result<ZipReader> ZipReader::Open(std::string_view file) {
  SHOAL_ASSIGN(directory, FindDirectory(file));
  ZipReader reader;
  reader.file_ = file;
  std::string_view rest = file.substr(directory.offset, directory.bytes);
  for (uint64_t n = 0; n < directory.entries; ++n) {
    if (!rest.starts_with(kCentralHeader) || rest.size() < 46) return Fail("is damaged: its directory is malformed");
    const Fields field(rest);
    const size_t name_bytes = field(28, 2), extra_bytes = field(30, 2),
                 size = 46 + name_bytes + extra_bytes + field(32, 2);
    if (size > rest.size()) return Fail("is damaged: its directory is malformed");
    Entry entry{static_cast<uint16_t>(field(10, 2)), static_cast<uint32_t>(field(16, 4)), field(20, 4), field(24, 4),
                field(42, 4)};
    ReadExtra64(rest.substr(46 + name_bytes, extra_bytes), entry);
    reader.entries_[std::string(rest.substr(46, name_bytes))] = entry;
    rest.remove_prefix(size);
  }
  return reader;
}

Result<std::string> ZipReader::Read(const std::string& name) const { return ReadBeginning(name, UINT64_MAX); }

Result<std::string> ZipReader::ReadBeginning(const std::string& name, uint64_t max_bytes) const {
  const Entry& entry = entries_.at(name);
  const uint64_t wanted = std::min(max_bytes, entry.bytes);
  const Diag damaged = Fail(StrCat("is damaged: entry ", name, " is outside the file"));
  if (entry.header_offset > file_.size()) return damaged;
  std::string_view local = file_.substr(entry.header_offset);
  if (!local.starts_with(kLocalHeader)) return damaged;
  const uint64_t skip = 30 + Fields(local)(26, 2) + Fields(local)(28, 2);
  if (skip > local.size() || entry.packed_bytes > local.size() - skip) return damaged;
  const std::string_view packed = local.substr(skip, entry.packed_bytes);
  if (entry.method != 0 && entry.method != 8)
    return Fail(
        StrCat("packs entry ", name, " with method ", entry.method, "; supported: 0 (stored) and 8 (deflated)"));
  Result<std::string> bytes =
      entry.method == 0 ? Result<std::string>(std::string(packed.substr(0, wanted)))
                        : Inflate(packed, wanted, entry.bytes);
  if (!bytes.ok()) return Fail(StrCat("has the unreadable entry ", name, ": ", bytes.diag().message));
  if (bytes->size() != wanted || (wanted == entry.bytes && Crc(*bytes) != entry.crc))
    return Fail(StrCat("is damaged: entry ", name, " has a wrong size or checksum"));
  return bytes;
}

}  // namespace shoal::internal
