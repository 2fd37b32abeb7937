// Whole files of bytes, in and out.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace shoal::internal {

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

// Writes the pieces, one after the other. A plain file is written under another name beside `path`, and renamed when all
// is on its way to the disk: one that could not be written whole does not appear. A device, a pipe, a symbolic link or
// what standard output is (/dev/stdout) is written through.
Status WriteFile(const std::string& path, std::initializer_list<std::string_view> pieces);

// For handlers of signals: removes what WriteFile has not finished.
void RemoveUnfinishedFiles();

// Whether files of so many bytes can be written into the folder, which need not exist yet; leaves nothing there.
Status CheckWritable(const std::string& folder, int64_t bytes);

// The folder and those above it. It may be there already.
Status CreateDirectories(const std::string& path);

}  // namespace shoal::internal
