// The bytes of one input: a file, a decompressed .gz, standard input, or a string in a test.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace shoal::internal {

struct LineColumn {
  uint32_t line = 0;    // one-based
  uint32_t column = 0;  // one-based, in bytes
};

// Its functions may be called from several threads.
class Source {
 public:
  // Reads `path`; "-" is standard input. Gzip is recognised by its content and decompressed. The text is a copy, so
  // another process may change the file while it is being parsed.
  static Result<std::unique_ptr<Source>> Read(const std::string& path);
  static std::unique_ptr<Source> FromString(std::string name, std::string text);
  // Like Read for the bytes of a file: decompresses gzip.
  static Result<std::unique_ptr<Source>> FromBytes(std::string name, std::string bytes);
  // A view of a text that has other owners.
  static std::unique_ptr<Source> Share(std::string name, std::shared_ptr<const std::string> text);
  ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }

  LineColumn Locate(uint32_t offset) const;
  // The line that contains `offset`, without its line break.
  std::string_view LineAt(uint32_t offset) const;

 private:
  Source() = default;
  Status UnpackGzip();
  std::string name_;
  std::string owned_;
  std::shared_ptr<const std::string> shared_;
  std::unique_ptr<char[]> read_;  // the bytes of a plain file; a string would be filled with zeros first
  std::string_view text_;
  mutable std::once_flag has_line_starts_;
  mutable std::vector<uint32_t> line_starts_;  // filled by the first Locate
};

}  // namespace shoal::internal
