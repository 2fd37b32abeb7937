// Reads zip archives, such as NumPy's .npz files, with stored or deflated entries.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace shoal::internal {

class ZipReader {
 public:
  // `file` must outlive the reader. An error message is a predicate to put after the file name.
  static Result<ZipReader> Open(std::string_view file);

  bool Has(const std::string& name) const { return entries_.count(name) != 0; }
  // The unpacked bytes of an entry, which must exist; verifies the checksum.
  Result<std::string> Read(const std::string& name) const;
  // At most the first `max_bytes` unpacked bytes of an entry. Allocates no more than that, whatever size the archive
  // claims. Verifies the checksum only if these are all bytes of the entry.
  Result<std::string> ReadBeginning(const std::string& name, uint64_t max_bytes) const;

  struct Entry {
    uint16_t method = 0;  // 0 stored, 8 deflated
    uint32_t crc = 0;
    uint64_t packed_bytes = 0, bytes = 0, header_offset = 0;
  };
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  std::string_view file_;
  std::map<std::string, Entry> entries_;
};

}  // namespace shoal::internal
