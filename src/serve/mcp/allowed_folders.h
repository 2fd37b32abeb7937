// The files that an agent may see: those under the given folders, with symbolic links resolved.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace shoal::internal {

class AllowedFolders {
 public:
  // Folders that do not exist are an error.
  static Result<AllowedFolders> Of(const std::vector<std::string>& folders);

  // The resolved path of a file or folder. Fails if it does not exist or lies outside the roots. Relative paths are
  // relative to the first root.
  Result<std::string> Resolve(const std::string& path) const;
  // The bytes of a regular file. Checks the opened file, so that a link that changes in between cannot lead outside.
  Result<std::string> ReadFile(const std::string& path) const;
  // The path of a file to be written, whose folder must lie inside the roots; the file must not exist.
  Result<std::string> ResolveNew(const std::string& path) const;
  bool IsFolder(const std::string& resolved) const;
  const std::vector<std::string>& folders() const { return folders_; }

 private:
  bool Contains(const std::string& resolved) const;
  std::vector<std::string> folders_;  // resolved
};

}  // namespace shoal::internal
