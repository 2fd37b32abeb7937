#include "compile/codegen/target.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/base/environment_error.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

namespace shoal::internal {
namespace {

// The features that code for `cpu` may use and this machine lacks. Features that only affect scheduling do not count.
std::string MissingFeatures(const std::string& cpu) {
  static constexpr const char* kDecisive[] = {"sse3",     "ssse3",    "sse4.1",   "sse4.2",   "avx",     "avx2",
                                              "fma",      "f16c",     "bmi",      "bmi2",     "lzcnt",   "movbe",
                                              "popcnt",   "avx512f",  "avx512bw", "avx512dq", "avx512vl", "avx512cd",
                                              "avx512vnni", "avx512bf16", "avx512fp16", "avx512vbmi", "avx512vbmi2",
                                              "amx-tile", "amx-bf16", "amx-int8", "fma4", "xop", "tbm"};
  llvm::SmallVector<llvm::StringRef, 64> required;
  llvm::X86::getFeaturesForCPU(cpu, required);
  const auto here = llvm::sys::getHostCPUFeatures();
  std::string missing;
  for (llvm::StringRef feature : required) {
    if (feature.starts_with("+")) feature = feature.drop_front();
    const bool decides =
        std::any_of(std::begin(kDecisive), std::end(kDecisive), [&](const char* name) { return feature == name; });
    if (decides && !here.lookup(feature)) StrAppend(&missing, missing.empty() ? "" : ", ", feature.str());
  }
  return missing;
}

}  // namespace

Result<Target> TargetFor(const std::string& cpu) {
  Target target{llvm::sys::getDefaultTargetTriple(), cpu, ""};
  if (!cpu.empty() && !llvm::Triple(target.triple).isX86()) return target;
  if (!cpu.empty()) {
    if (llvm::X86::parseArchX86(cpu, /*Only64Bit=*/true) == llvm::X86::CK_None) {
      llvm::SmallVector<llvm::StringRef, 64> known;
      llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
      std::string names;
      for (llvm::StringRef name : known) StrAppend(&names, names.empty() ? "" : ", ", name.str());
      return EnvironmentError(StrCat(Setting("cpu="), cpu, ": unknown CPU; known: ", names));
    }
    if (const std::string missing = MissingFeatures(cpu); !missing.empty())
      return EnvironmentError(StrCat(Setting("cpu="), cpu, ": this machine cannot run code for this CPU; it lacks ", missing));
    return target;
  }
  target.cpu = llvm::sys::getHostCPUName().str();
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    StrAppend(&target.features, target.features.empty() ? "" : ",", feature.second ? "+" : "-", feature.first().str());
  return target;
}

std::unique_ptr<llvm::TargetMachine> MachineFor(const Target& target) {
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, error);
  if (found == nullptr) return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(target.triple, target.cpu, target.features, {}, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

std::string GeneratorVersion() {
  Dl_info library{};
  struct stat file {};
  if (dladdr(reinterpret_cast<void*>(&GeneratorVersion), &library) == 0 || stat(library.dli_fname, &file) != 0)
    return LLVM_VERSION_STRING;
  return StrCat(LLVM_VERSION_STRING, " ", file.st_size, " ", file.st_mtim.tv_sec, ".", file.st_mtim.tv_nsec);
}

}  // namespace shoal::internal
