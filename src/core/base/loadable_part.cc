#include "core/base/loadable_part.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
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

// The run path that the program was linked with, with $ORIGIN replaced by its folder; empty if it has none.
std::string RunPathOfProgram() {
  auto* program = static_cast<link_map*>(dlopen(nullptr, RTLD_LAZY));
  if (program == nullptr || program->l_ld == nullptr) return "";
  const char* strings = nullptr;
  ElfW(Xword) at = 0;
  bool is_found = false;
  for (const ElfW(Dyn)* entry = program->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag != DT_RUNPATH && entry->d_tag != DT_RPATH) continue;
    at = entry->d_un.d_val;
    is_found = true;
  }
  dlclose(program);
  if (!is_found || strings == nullptr) return "";
  std::string path = strings + at;
  char program_path[PATH_MAX] = {};
  if (readlink("/proc/self/exe", program_path, sizeof(program_path) - 1) < 0) return "";
  const std::string folder = std::string(program_path).substr(0, std::string_view(program_path).rfind('/'));
  for (std::string_view origin : {"$ORIGIN", "${ORIGIN}"})
    for (size_t i = path.find(origin); i != std::string::npos; i = path.find(origin, i + folder.size()))
      path.replace(i, origin.size(), folder);
  return path;
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
  std::string folders = RunPathOfProgram();
  for (std::string_view rest = folders; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string path = StrCat(rest.substr(0, end), "/", name);
    if (path.starts_with('/') && access(path.c_str(), R_OK) == 0)
      if (void* opened = dlopen(path.c_str(), flags)) return opened;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return nullptr;
}

}  // namespace shoal::internal
