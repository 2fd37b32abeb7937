#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <string>

#include "kernels/linalg/onednn.h"

namespace shoal::internal {
namespace {

const OneDnn* Open() {
  // The library is in the directory of the program.
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  std::string program(path, static_cast<size_t>(length < 0 ? 0 : length));
  const std::string library = program.substr(0, program.rfind('/') + 1) + "libshoal_onednn.so";
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return nullptr;
  auto* make = reinterpret_cast<OneDnn* (*)()>(dlsym(opened, "shoal_new_onednn"));
  return make == nullptr ? nullptr : make();
}

}  // namespace

const OneDnn* OpenOneDnn() {
  static const OneDnn* const opened = Open();
  return opened;
}

}  // namespace shoal::internal
