// Whole files of bytes, in and out.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shoal {

// The bytes of a file of any size, mapped; they last as long as this does.
class FileBytes {
 public:
  static Result<std::unique_ptr<FileBytes>> Read(const std::string& path);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::string_view bytes() const { return bytes_; }

 private:
  FileBytes() = default;
  std::string_view bytes_;
};

// Writes the pieces, one after the other, under a temporary name beside `path`, and renames it when all is on its way
// to the disk: a file that could not be written whole does not appear.
Status WriteFile(const std::string& path, std::initializer_list<std::string_view> pieces);

// The folder and those above it. It may be there already.
Status MakeFolders(const std::string& path);

}  // namespace shoal
