// Zip archives, as NumPy's .npz files are: read only; entries stored or deflated.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace shoal::internal {

class ZipReader {
 public:
  // `file` must outlive the reader. A failure is a sentence about the file.
  static Result<ZipReader> Open(std::string_view file);

  bool Has(const std::string& name) const { return entries_.count(name) != 0; }
  // The bytes of an entry that is there, unpacked and with their checksum compared.
  Result<std::string> Read(const std::string& name) const;
  // At most so many of them from the beginning: no more memory than that is taken, whatever the archive claims. The
  // checksum is compared if that is all of them.
  Result<std::string> ReadBeginning(const std::string& name, uint64_t most) const;

  struct Entry {
    uint16_t method = 0;  // 0 stored, 8 deflated
    uint32_t crc = 0;
    uint64_t packed_bytes = 0, bytes = 0, header_at = 0;
  };
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  std::string_view file_;
  std::map<std::string, Entry> entries_;
};

}  // namespace shoal::internal
