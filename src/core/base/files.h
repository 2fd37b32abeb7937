// Reads and writes whole files.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace shoal::internal {

// A memory-mapped file of any size. bytes() is valid as long as this object exists.
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

// Writes `parts` one after the other. A regular file is written under a temporary name beside `path` and renamed when
// it is complete, so an incomplete file never appears under `path`. A device, a pipe, a symbolic link and the target of
// standard output (/dev/stdout) are written directly.
Status WriteFile(const std::string& path, std::initializer_list<std::string_view> parts);

// Removes the temporary files of unfinished WriteFile calls. May be called by signal handlers.
void RemoveUnfinishedFiles();

// Checks that files of `bytes` bytes in total can be written into `folder`, which need not exist. Leaves no files.
Status CheckWritable(const std::string& folder, int64_t bytes);

// Creates the folder and its parents; succeeds if it already exists.
Status CreateDirectories(const std::string& path);

}  // namespace shoal::internal
