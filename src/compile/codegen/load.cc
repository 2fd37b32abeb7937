#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <future>
#include <mutex>

#include "compile/codegen/codegen.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

constexpr char kLibrary[] = "libshoal_codegen.so";

// The path of the library in the directory of the executable.
std::string PathBesideProgram() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  std::string program(path, static_cast<size_t>(length < 0 ? 0 : length));
  return StrCat(program.substr(0, program.rfind('/') + 1), kLibrary);
}

}  // namespace

std::future<void> PrefetchCodeGenerator() {
  return std::async(std::launch::async, [] {
    if (Result<CodeGenerator*> generator = LoadCodeGenerator(); generator.ok()) (*generator)->Warm();
  });
}

Result<CodeGenerator*> LoadCodeGenerator() {
  static std::mutex mutex;
  static CodeGenerator* loaded = nullptr;
  std::lock_guard lock(mutex);
  if (loaded != nullptr) return loaded;
  const std::string path = PathBesideProgram();
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  const std::string error = library == nullptr ? dlerror() : "";
  if (library == nullptr) library = dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL);  // then try the system's search path
  if (library == nullptr) return Fail({}, kNoCodeGenerator, StrCat("the code generator cannot be loaded: ", error));
  auto* make = reinterpret_cast<CodeGenerator* (*)()>(dlsym(library, "shoal_new_code_generator"));
  if (make == nullptr) return Fail({}, kNoCodeGenerator, StrCat(kLibrary, " is not shoal's code generator"));
  loaded = make();
  return loaded;
}

}  // namespace shoal::internal
