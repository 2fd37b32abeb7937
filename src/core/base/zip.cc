#include "core/base/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "core/base/printable.h"
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

// The end record is last in the file, except for a comment of at most 64 KiB.
constexpr uint64_t kEndRecordBytes = 22, kMaxCommentBytes = 0xffff;
// More than enough for a million entries.
constexpr uint64_t kMaxDirectoryBytes = uint64_t{256} << 20;
constexpr size_t kPartBytes = size_t{1} << 18;

Result<Directory> FindDirectory(const InputFile& file) {
  const uint64_t tail_bytes = std::min(file.size(), kEndRecordBytes + kMaxCommentBytes);
  SHOAL_ASSIGN(tail, file.ReadRange(file.size() - tail_bytes, tail_bytes));
  const size_t found = tail.rfind(kEnd);
  if (found == std::string::npos || tail.size() - found < kEndRecordBytes)
    return Fail("is not a zip archive or is truncated");
  const uint64_t end = file.size() - tail_bytes + found;
  const Fields record(std::string_view(tail).substr(found));
  Directory directory{record(16, 4), record(12, 4), record(10, 2)};
  if (directory.offset == kZip64Marker || directory.bytes == kZip64Marker || directory.entries == 0xffff) {
    const Diag missing = Fail("is damaged: it has no zip64 directory");
    if (end < 20) return missing;
    SHOAL_ASSIGN(locator, file.ReadRange(end - 20, 20));
    if (!locator.starts_with(kLocator64)) return missing;
    SHOAL_ASSIGN(end64, file.ReadRange(Fields(locator)(8, 8), 56));
    if (!end64.starts_with(kEnd64)) return missing;
    const Fields record64(end64);
    directory = {record64(48, 8), record64(40, 8), record64(32, 8)};
  }
  if (directory.offset > file.size() || directory.bytes > file.size() - directory.offset)
    return Fail("is damaged: its directory is outside the file");
  if (directory.bytes > kMaxDirectoryBytes)
    return Fail(StrCat("has a directory of ", directory.bytes, " bytes; at most ", kMaxDirectoryBytes, " are read"));
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

// Reads the bytes of an entry in the archive in parts.
class PackedBytes {
 public:
  PackedBytes(const InputFile& file, uint64_t offset, uint64_t bytes)
      : file_(file), offset_(offset), left_(bytes), part_(std::min<uint64_t>(bytes, kPartBytes), '\0') {}

  // The next part; empty at the end.
  Result<std::string_view> Next() {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(left_, part_.size()));
    SHOAL_TRY(file_.ReadAt(offset_, part_.data(), bytes));
    offset_ += bytes;
    left_ -= bytes;
    return std::string_view(part_).substr(0, bytes);
  }

 private:
  const InputFile& file_;
  uint64_t offset_, left_;
  std::string part_;
};

// Ends the decompression in every case.
struct InflateStream : z_stream {
  InflateStream() : z_stream{} { is_ready = inflateInit2(this, -MAX_WBITS) == Z_OK; }
  ~InflateStream() {
    if (is_ready) inflateEnd(this);
  }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;
  bool is_ready = false;
};

using TakePart = std::function<Status(std::string_view part)>;

Status CopyStored(PackedBytes packed, const TakePart& take) {
  while (true) {
    SHOAL_ASSIGN(part, packed.Next());
    if (part.empty()) return {};
    SHOAL_TRY(take(part));
  }
}

Status Inflate(PackedBytes packed, const TakePart& take) {
  InflateStream stream;
  if (!stream.is_ready) return Fail("cannot start decompression");
  std::string out(kPartBytes, '\0');
  for (int code = Z_OK; code != Z_STREAM_END;) {
    SHOAL_ASSIGN(part, packed.Next());
    if (part.empty()) return Fail("its deflated data is damaged");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream.avail_in = static_cast<uInt>(part.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      code = inflate(&stream, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return Fail("its deflated data is damaged");
      SHOAL_TRY(take(std::string_view(out).substr(0, out.size() - stream.avail_out)));
    } while (code == Z_OK && stream.avail_out == 0);
  }
  return {};
}

Diag WrongChecksum(const std::string& name) {
  return Fail(StrCat("is damaged: entry ", EscapeName(name), " has a wrong size or checksum"));
}

// Why reading stops before the end of an entry although nothing is wrong.
constexpr std::string_view kEnough = "zip.enough";

}  // namespace

Result<ZipReader> ZipReader::Open(InputFile file) {
  SHOAL_ASSIGN(directory, FindDirectory(file));
  SHOAL_ASSIGN(bytes, file.ReadRange(directory.offset, directory.bytes));
  ZipReader reader(std::move(file));
  std::string_view rest = bytes;
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

// The offset of the packed bytes of an entry, after the entry's own header.
Result<uint64_t> ZipReader::FindData(const std::string& name, const Entry& entry) const {
  const Diag damaged = Fail(StrCat("is damaged: entry ", EscapeName(name), " is outside the file"));
  if (entry.header_offset > file_.size()) return damaged;
  SHOAL_ASSIGN(local, file_.ReadRange(entry.header_offset, 30));
  if (local.size() < 30 || !local.starts_with(kLocalHeader)) return damaged;
  const uint64_t start = entry.header_offset + 30 + Fields(local)(26, 2) + Fields(local)(28, 2);
  if (start > file_.size() || entry.packed_bytes > file_.size() - start) return damaged;
  return start;
}

Status ZipReader::Unpack(const std::string& name, const Take& take) const {
  const Entry& entry = entries_.at(name);
  SHOAL_ASSIGN(start, FindData(name, entry));
  const std::string shown = EscapeName(name);
  if (entry.method != 0 && entry.method != 8)
    return Fail(StrCat("packs entry ", shown, " with method ", entry.method, "; supported: 0 (stored) and 8 (deflated)"));
  uint64_t offset = 0;
  uLong crc = 0;
  const Diag damaged = WrongChecksum(name);
  const TakePart take_part = [&](std::string_view part) -> Status {
    if (part.size() > entry.bytes - offset) return damaged;
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
    SHOAL_TRY(take(offset, part));
    offset += part.size();
    return {};
  };
  // Deflate compresses at most about a thousandfold; a larger size in the directory is malformed.
  if (entry.method == 8 && entry.bytes / 1100 > entry.packed_bytes)
    return Fail(StrCat("has the unreadable entry ", shown, ": its unpacked size is larger than its data allows"));
  const PackedBytes packed(file_, start, entry.packed_bytes);
  Status done = entry.method == 0 ? CopyStored(packed, take_part) : Inflate(packed, take_part);
  if (!done.ok() && (done.diag().rule == kEnough || done.diag().message == damaged.message)) return done;
  if (!done.ok()) return Fail(StrCat("has the unreadable entry ", shown, ": ", done.diag().message));
  if (offset != entry.bytes || static_cast<uint32_t>(crc) != entry.crc) return damaged;
  return {};
}

Status ZipReader::UnpackInto(const std::string& name, uint64_t begin, uint64_t bytes, char* out) const {
  const Entry& entry = entries_.at(name);
  const uint64_t end = begin + bytes;
  if (entry.method != 0 || entry.bytes != entry.packed_bytes || end > entry.bytes) {
    return Unpack(name, [&](uint64_t offset, std::string_view part) -> Status {
      const uint64_t from = std::max(offset, begin), to = std::min(offset + part.size(), end);
      if (from < to) std::memcpy(out + (from - begin), part.data() + (from - offset), to - from);
      return {};
    });
  }
  SHOAL_ASSIGN(start, FindData(name, entry));
  uLong crc = 0;
  std::string other(std::min<uint64_t>(kPartBytes, entry.bytes - bytes), '\0');  // for the bytes before and after
  for (uint64_t offset = 0; offset < entry.bytes;) {
    const bool is_wanted = offset >= begin && offset < end;
    const uint64_t next = is_wanted ? end : offset < begin ? begin : entry.bytes;
    const auto part = static_cast<size_t>(std::min<uint64_t>(next - offset, kPartBytes));
    char* to = is_wanted ? out + (offset - begin) : other.data();
    SHOAL_TRY(file_.ReadAt(start + offset, to, part));
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(to), part);
    offset += part;
  }
  return static_cast<uint32_t>(crc) == entry.crc ? Status() : Status(WrongChecksum(name));
}

Result<std::string> ZipReader::Read(const std::string& name, uint64_t max_bytes) const {
  const uint64_t bytes = entries_.at(name).bytes;
  if (bytes > max_bytes) return Fail(StrCat("has an entry of ", bytes, " bytes; at most ", max_bytes, " are read"));
  return ReadBeginning(name, bytes);
}

Result<std::string> ZipReader::ReadBeginning(const std::string& name, uint64_t max_bytes) const {
  std::string beginning;
  const Status done = Unpack(name, [&](uint64_t, std::string_view part) -> Status {
    beginning += part.substr(0, max_bytes - beginning.size());
    const bool is_enough = beginning.size() == max_bytes && max_bytes < entries_.at(name).bytes;
    return is_enough ? Status(Fail({}, kEnough, "")) : Status();
  });
  if (!done.ok() && done.diag().rule != kEnough) return done.diag();
  return beginning;
}

}  // namespace shoal::internal
