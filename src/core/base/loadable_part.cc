#include "core/base/loadable_part.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <climits>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

// The folder, with a slash, of the shared library or the program that contains this function.
std::string FolderOfThisCode() {
  Dl_info info;
  link_map* map = nullptr;
  const int found = dladdr1(reinterpret_cast<void*>(&FolderOfThisCode), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  char path[PATH_MAX] = {};
  // The program itself has an empty name in the list of loaded objects.
  if (found == 0 || map == nullptr || map->l_name == nullptr || *map->l_name == '\0') {
    if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0) return "";
  } else if (realpath(map->l_name, path) == nullptr) {
    return "";
  }
  const std::string_view file = path;
  return std::string(file.substr(0, file.rfind('/') + 1));
}

}  // namespace

std::string PathOfPart(std::string_view name) {
  const std::string folder = FolderOfThisCode();
  std::string beside = StrCat(folder, name);
  if (access(beside.c_str(), R_OK) == 0) return beside;
  std::string installed = StrCat(folder, "../", SHOAL_LIBDIR, "/", name);
  return access(installed.c_str(), R_OK) == 0 ? installed : beside;
}

void* OpenPart(const std::string& name, int flags, std::string& error) {
  if (void* opened = dlopen(PathOfPart(name).c_str(), flags)) return opened;
  error = dlerror();
  return dlopen(name.c_str(), flags);
}

}  // namespace shoal::internal
