// Reads zip archives, such as NumPy's .npz files, with stored or deflated entries.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/base/files.h"
#include "core/base/result.h"

namespace shoal::internal {

class ZipReader {
 public:
  // Reads the directory only, wherever the archive claims that it is. An error message is a predicate to put after the
  // file name.
  static Result<ZipReader> Open(InputFile file);

  const std::string& path() const { return file_.path(); }
  bool Has(const std::string& name) const { return entries_.count(name) != 0; }

  // Passes the unpacked bytes of an entry, which must exist, to `take` in parts, and verifies its size and checksum at
  // the end. Uses little memory, whatever size the archive claims. Stops if `take` fails.
  using Take = std::function<Status(uint64_t offset, std::string_view part)>;
  Status Unpack(const std::string& name, const Take& take) const;
  // Reads the unpacked bytes [begin, begin + bytes) of an entry into memory, and verifies the whole entry. Stored bytes
  // are not copied.
  Status UnpackInto(const std::string& name, uint64_t begin, uint64_t bytes, char* out) const;
  // The unpacked bytes of an entry; at most `max_bytes`.
  Result<std::string> Read(const std::string& name, uint64_t max_bytes) const;
  // The first `max_bytes` unpacked bytes of an entry, or all if it has fewer. Verifies the checksum only of a whole
  // entry.
  Result<std::string> ReadBeginning(const std::string& name, uint64_t max_bytes) const;

  struct Entry {
    uint16_t method = 0;  // 0 stored, 8 deflated
    uint32_t crc = 0;
    uint64_t packed_bytes = 0, bytes = 0, header_offset = 0;
  };
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  explicit ZipReader(InputFile file) : file_(std::move(file)) {}
  Result<uint64_t> FindData(const std::string& name, const Entry& entry) const;

  InputFile file_;
  std::map<std::string, Entry> entries_;
};

}  // namespace shoal::internal
