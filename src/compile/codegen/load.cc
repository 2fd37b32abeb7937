#include <dlfcn.h>

#include <mutex>
#include <optional>

#include "compile/codegen/codegen.h"
#include "core/base/loadable_part.h"
#include "core/base/strings.h"
#include "core/base/threads.h"

namespace shoal::internal {
namespace {

constexpr char kLibrary[] = "libshoal_codegen.so";

}  // namespace

std::jthread PrefetchCodeGenerator() {
  std::optional<std::jthread> thread = StartThread([] {
    if (Result<CodeGenerator*> generator = LoadCodeGenerator(); generator.ok()) (*generator)->Warm();
  });
  return thread ? std::move(*thread) : std::jthread();
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
