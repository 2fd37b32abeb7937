// Compiles kernels to object code on several threads, or reads it from the cache, and links it in memory.
#include <algorithm>
#include <atomic>
#include <numeric>

#include "compile/codegen/code_memory.h"
#include "compile/codegen/codegen.h"
#include "compile/codegen/object_code.h"
#include "core/base/strings.h"
#include "llvm/ExecutionEngine/RuntimeDyld.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"

namespace shoal::internal {
namespace {

using Object = std::unique_ptr<llvm::MemoryBuffer>;

Diag LinkFailed(const std::string& message) { return Fail(StrCat("code generation: ", message)); }

class Code : public CompiledKernels {
 public:
  explicit Code(const CompileUnits& units) : kernels_(units.kernels.size()) {}

  Status Link(std::span<const Object> objects, const CompileUnits& units) {
    llvm::RuntimeDyld linker(memory_, memory_);
    for (const Object& object : objects) {
      auto file = llvm::object::ObjectFile::createObjectFile(object->getMemBufferRef());
      if (!file) return LinkFailed(llvm::toString(file.takeError()));
      if (linker.loadObject(**file) == nullptr) return LinkFailed(linker.getErrorString().str());
    }
    linker.resolveRelocations();
    if (linker.hasError()) return LinkFailed(linker.getErrorString().str());
    std::string error;
    if (memory_.finalizeMemory(&error)) return LinkFailed(error);
    for (size_t i = 0; i < units.size(); ++i) {
      codes_.push_back(linker.getSymbolLocalAddress(CompileUnits::NameOf(i)));
      if (codes_.back() == nullptr) return LinkFailed(StrCat("the compiled code has no symbol ", CompileUnits::NameOf(i)));
    }
    return {};
  }

  KernelCode code(size_t i) const override { return reinterpret_cast<KernelCode>(codes_[i]); }
  RoutineCode routine(size_t i) const override { return reinterpret_cast<RoutineCode>(codes_[kernels_ + i]); }

 private:
  CodeMemory memory_;
  std::vector<void*> codes_;  // kernels, then routines
  size_t kernels_ = 0;
};

// Groups the units to compile together: one part per thread, of about equal weight. More parts would not be faster,
// because LLVM's setup takes as long as a small kernel.
std::vector<std::vector<size_t>> SplitByWeight(const CompileUnits& units, int threads) {
  std::vector<std::vector<size_t>> parts(std::min(units.size(), static_cast<size_t>(threads)));
  std::vector<size_t> order(units.size()), weights(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return units.Weight(a) > units.Weight(b); });
  for (size_t i : order) {
    const auto lightest = static_cast<size_t>(std::min_element(weights.begin(), weights.end()) - weights.begin());
    parts[lightest].push_back(i);
    weights[lightest] += units.Weight(i);
  }
  return parts;
}

// If an allocation inside LLVM fails, the process ends with the same message as for `new`. This runs before LLVM's own
// static constructors, which may allocate while the library is loaded.
__attribute__((constructor(101))) void InstallBadAllocHandler() {
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) {
    if (const std::new_handler no_memory = std::get_new_handler()) no_memory();
  });
}

class Generator : public CodeGenerator {
 public:
  Generator() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  }

  void Warm() override {
    Result<Target> target = TargetFor("");
    if (!target.ok() || is_used_) return;
    FusedKernel nothing;
    nothing.inner_loops = {1};
    const CompileUnits units{{&nothing, 1}, {}};
    static constexpr size_t kOnly[] = {0};
    (void)ObjectCodeOf(units, kOnly, *target, machines_);
  }

  Result<std::unique_ptr<CompiledKernels>> Compile(std::span<const FusedKernel> kernels,
                                                   std::span<const Routine* const> routines,
                                                   const CodeOptions& options) override {
    is_used_ = true;
    SHOAL_ASSIGN(target, TargetFor(options.cpu));
    const CompileUnits units{kernels, routines};
    const std::vector<std::vector<size_t>> parts = SplitByWeight(units, options.threads);
    std::vector<Object> objects(parts.size());
    std::vector<Status> compiled(parts.size());
    options.run(std::ssize(parts), [&](int64_t i) {
      const auto part = static_cast<size_t>(i);
      Result<Object> object = ReadOrCompile(units, parts[part], target, options.cache);
      if (object.ok())
        objects[part] = std::move(*object);
      else
        compiled[part] = std::move(object.diag());
    });
    for (Status& status : compiled) SHOAL_TRY(std::move(status));
    auto code = std::make_unique<Code>(units);
    SHOAL_TRY(code->Link(objects, units));
    return std::unique_ptr<CompiledKernels>(std::move(code));
  }

 private:
  // The cache key contains everything the code depends on: kernels, target and version of the code generator.
  Result<Object> ReadOrCompile(const CompileUnits& units, std::span<const size_t> indices, const Target& target,
                               CodeCache* cache) {
    if (cache == nullptr) return ObjectCodeOf(units, indices, target, machines_);
    std::string key = StrCat(target.triple, "\n", target.cpu, "\n", target.features, "\n", GeneratorVersion(), "\n");
    for (size_t i : indices) StrAppend(&key, CompileUnits::NameOf(i), " ", units.Text(i));
    if (std::optional<std::string> object = cache->Read(key))
      return llvm::MemoryBuffer::getMemBufferCopy({object->data(), object->size()}, "kernels");
    auto compiled = ObjectCodeOf(units, indices, target, machines_);
    if (compiled.ok()) cache->Write(key, {(*compiled)->getBufferStart(), (*compiled)->getBufferSize()});
    return compiled;
  }

  TargetMachinePool machines_;
  std::atomic<bool> is_used_ = false;  // a compilation has started, so Warm has nothing left to do
};

}  // namespace
}  // namespace shoal::internal

extern "C" __attribute__((visibility("default"))) shoal::internal::CodeGenerator* shoal_new_code_generator() { return new shoal::internal::Generator; }
