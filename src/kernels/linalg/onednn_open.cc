#include <dlfcn.h>

#include "core/base/loadable_part.h"
#include "kernels/linalg/onednn.h"

namespace shoal::internal {
namespace {

const OneDnn* Open() {
  std::string error;
  void* opened = OpenPart("libshoal_onednn.so", RTLD_NOW | RTLD_LOCAL, error);
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
