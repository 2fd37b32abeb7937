// Reads and writes files, and lists folders.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace shoal::internal {

// An open file descriptor, closed by the destructor; -1 if there is none.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int number() const { return number_; }
  bool IsOpen() const { return number_ >= 0; }

 private:
  int number_;
};

struct OpenOptions {
  int folder = -100;          // AT_FDCWD; else the descriptor of the folder that `path` is relative to
  bool follow_links = true;   // whether the last component of the path may be a symbolic link
  bool allow_streams = false;  // whether pipes and terminals are accepted
};

// A file that is open for reading, with its type, size and owner at the time of opening.
struct OpenedFile {
  FileDescriptor descriptor;
  struct stat info {};
};

// Opens a file for reading. This is the only way in which shoal opens files. Never waits, whatever the type of the
// file is: a pipe without a writer is opened, too. Reading does not wait either (O_NONBLOCK). The error message is the reason without the path: "it is a folder".
Result<OpenedFile> OpenForReading(const std::string& path, const OpenOptions& options = {});

// A plain file that is read in parts. The bytes are copied, not mapped: another process may truncate the file while it
// is read, and an access to a mapped page behind the end would kill this process.
class InputFile {
 public:
  // Fails immediately if the path is a folder, a pipe or a device.
  static Result<InputFile> Open(const std::string& path);
  // A file in memory, for tests.
  static InputFile FromString(std::string name, std::string bytes);

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  // Reads `bytes` bytes at `offset`; fails if the file ends before.
  Status ReadAt(uint64_t offset, char* out, size_t bytes) const;
  // At most `bytes` bytes at `offset`: fewer if the file is shorter.
  Result<std::string> ReadRange(uint64_t offset, uint64_t bytes) const;
  // The whole file; fails if it has more than `max_bytes` bytes.
  Result<std::string> ReadAll(uint64_t max_bytes) const;

 private:
  InputFile() = default;
  std::string path_, bytes_;
  FileDescriptor descriptor_;
  uint64_t size_ = 0;
};

// A file or a folder within a folder.
struct FolderEntry {
  std::string path;  // relative to the folder
  int64_t bytes = 0;
};

struct FolderListing {
  std::vector<FolderEntry> files;  // plain files and symbolic links to plain files, sorted by path
  // Folders that could not be read, with the reason. Their files are missing above.
  std::vector<std::pair<std::string, std::string>> unreadable;
};

// Lists the files in a folder and in its subfolders, down to `max_depth` levels (1: no subfolders). Keeps at most one
// folder open, so the depth is not limited by the number of descriptors. Follows symbolic links to folders only if
// `follow_links` is set.
Result<FolderListing> ListFolder(const std::string& folder, int max_depth, bool follow_links);

// Writes all bytes; waits if the descriptor is a full pipe that does not block. Returns 0 or errno.
int WriteFully(int file, std::string_view bytes);

// Writes `parts` one after the other. A regular file is written under a temporary name beside `path` and renamed when
// it is complete, so an incomplete file never appears under `path`. If `path` is a symbolic link to a regular file, the
// link remains and the file that it names is replaced. A device, a pipe and the target of standard output (/dev/stdout)
// are written directly.
Status WriteFile(const std::string& path, std::initializer_list<std::string_view> parts);

// Writes a file that only its owner can read and write, in the folder with the descriptor `folder`, by renaming a complete
// temporary file. Replaces a symbolic link; never writes to the file that it names. `path` is the path of the folder.
Status WritePrivateFile(int folder, const std::string& path, const std::string& name,
                        std::initializer_list<std::string_view> parts);

// Separates the name of a file from the numbers in the name of its temporary file.
inline constexpr std::string_view kPartialMark = ".partial-";

// Removes the temporary files of unfinished WriteFile calls. May be called by signal handlers.
void RemoveUnfinishedFiles();

// Checks that files of `bytes` bytes in total can be written into `folder`, which need not exist. Leaves no files.
Status CheckWritable(const std::string& folder, int64_t bytes);

// Creates the folder and its parents; succeeds if it already exists.
Status CreateDirectories(const std::string& path);

}  // namespace shoal::internal
