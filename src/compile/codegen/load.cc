#include <dlfcn.h>

#include <future>
#include <mutex>

#include "compile/codegen/codegen.h"
#include "core/base/loadable_part.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

constexpr char kLibrary[] = "libshoal_codegen.so";

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
  std::string error;
  void* library = OpenPart(kLibrary, RTLD_LAZY | RTLD_LOCAL, error);
  if (library == nullptr) return Fail({}, kNoCodeGenerator, StrCat("the code generator cannot be loaded: ", error));
  auto* make = reinterpret_cast<CodeGenerator* (*)()>(dlsym(library, "shoal_new_code_generator"));
  if (make == nullptr) return Fail({}, kNoCodeGenerator, StrCat(kLibrary, " is not shoal's code generator"));
  loaded = make();
  return loaded;
}

}  // namespace shoal::internal
