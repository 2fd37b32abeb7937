#include "base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/strings.h"

namespace shoal {
namespace {

Diag CannotRead(const std::string& path, const char* why) { return Fail(StrCat("cannot read ", path, ": ", why)); }

}  // namespace

Result<std::unique_ptr<FileBytes>> FileBytes::Read(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return CannotRead(path, std::strerror(errno));
  std::unique_ptr<FileBytes> result(new FileBytes);
  struct stat info {};
  Status failure;
  if (fstat(file, &info) != 0) {
    failure = CannotRead(path, std::strerror(errno));
  } else if (!S_ISREG(info.st_mode)) {
    failure = CannotRead(path, S_ISDIR(info.st_mode) ? "it is a folder" : "it is not a plain file");
  } else if (info.st_size > 0) {
    const auto size = static_cast<size_t>(info.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) {
      failure = CannotRead(path, std::strerror(errno));
    } else {
      result->bytes_ = {static_cast<const char*>(mapped), size};
    }
  }
  close(file);
  if (!failure.ok()) return std::move(failure.diag());
  return result;
}

FileBytes::~FileBytes() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

Status WriteFile(const std::string& path, std::initializer_list<std::string_view> pieces) {
  const std::string temporary = path + ".partial";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  bool good = file != nullptr;
  int error = errno;
  if (good) {
    for (std::string_view piece : pieces)
      good = good && std::fwrite(piece.data(), 1, piece.size(), file) == piece.size();
    good = good && std::fflush(file) == 0;
    error = errno;
    // A disk over a network may say only here that it is full.
    if (std::fclose(file) != 0 && good) good = false, error = errno;
    if (good && std::rename(temporary.c_str(), path.c_str()) != 0) good = false, error = errno;
    if (!good) std::remove(temporary.c_str());
  }
  if (good) return {};
  return Fail(StrCat("cannot write ", path, ": ", std::strerror(error)));
}

Status MakeFolders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Fail(StrCat("cannot make the folder ", path, ": ", error.message()));
  return {};
}

}  // namespace shoal
