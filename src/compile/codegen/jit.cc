// From kernels to code in memory: object code on several threads, or from the cache, then linked.
#include <algorithm>
#include <atomic>
#include <new>
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

Diag LinkFailed(const std::string& why) { return Fail(StrCat("code generation: ", why)); }

class Code : public CompiledKernels {
 public:
  explicit Code(const CompileUnits& sources) : kernels_(sources.kernels.size()) {}

  Status Link(std::span<const Object> objects, const CompileUnits& sources) {
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
    for (size_t i = 0; i < sources.size(); ++i) {
      codes_.push_back(linker.getSymbolLocalAddress(CompileUnits::NameOf(i)));
      if (codes_.back() == nullptr) return LinkFailed(StrCat("no ", CompileUnits::NameOf(i), " in what was compiled"));
    }
    return {};
  }

  KernelCode code(size_t i) const override { return reinterpret_cast<KernelCode>(codes_[i]); }
  RoutineCode routine(size_t i) const override { return reinterpret_cast<RoutineCode>(codes_[kernels_ + i]); }

 private:
  CodeMemory memory_;
  std::vector<void*> codes_;  // of the kernels, then of the routines
  size_t kernels_ = 0;
};

// Which sources are compiled together: as many parts as threads, of about the same length. Setting LLVM up costs as much
// as a small kernel, so there are no more.
std::vector<std::vector<size_t>> Parts(const CompileUnits& sources, int threads) {
  std::vector<std::vector<size_t>> parts(std::min(sources.size(), static_cast<size_t>(threads)));
  std::vector<size_t> order(sources.size()), weights(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sources.Weight(a) > sources.Weight(b); });
  for (size_t i : order) {
    const auto lightest = static_cast<size_t>(std::min_element(weights.begin(), weights.end()) - weights.begin());
    parts[lightest].push_back(i);
    weights[lightest] += sources.Weight(i);
  }
  return parts;
}

// What LLVM allocates by itself ends the process as `new` does, with the same words: also what it needs while the library
// is opened, so that this comes before LLVM's own constructors.
__attribute__((constructor(101))) void EndWhereMemoryDoes() {
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
    const CompileUnits sources{{&nothing, 1}, {}};
    static constexpr size_t kOnly[] = {0};
    (void)ObjectCodeOf(sources, kOnly, *target, machines_);
  }

  Result<std::unique_ptr<CompiledKernels>> Compile(std::span<const FusedKernel> kernels,
                                                   std::span<const Routine* const> routines,
                                                   const CodeOptions& options, ThreadPool& pool) override {
    is_used_ = true;
    SHOAL_ASSIGN(target, TargetFor(options.cpu));
    const CompileUnits sources{kernels, routines};
    const std::vector<std::vector<size_t>> parts = Parts(sources, pool.threads());
    std::vector<Object> objects(parts.size());
    std::vector<Status> compiled(parts.size());
    pool.Run(std::ssize(parts), [&](int64_t i) {
      const auto part = static_cast<size_t>(i);
      Result<Object> object = FromCacheOrCompiled(sources, parts[part], target, options.cache);
      if (object.ok())
        objects[part] = std::move(*object);
      else
        compiled[part] = std::move(object.diag());
    });
    for (Status& status : compiled) SHOAL_TRY(std::move(status));
    auto code = std::make_unique<Code>(sources);
    SHOAL_TRY(code->Link(objects, sources));
    return std::unique_ptr<CompiledKernels>(std::move(code));
  }

 private:
  // The key is all that the code depends on: kernels, target, and us.
  Result<Object> FromCacheOrCompiled(const CompileUnits& sources, std::span<const size_t> which, const Target& target,
                                     ObjectCache* cache) {
    if (cache == nullptr) return ObjectCodeOf(sources, which, target, machines_);
    std::string key = StrCat(target.triple, "\n", target.cpu, "\n", target.features, "\n", GeneratorVersion(), "\n");
    for (size_t i : which) StrAppend(&key, CompileUnits::NameOf(i), " ", sources.Text(i));
    if (std::optional<std::string> object = cache->Read(key))
      return llvm::MemoryBuffer::getMemBufferCopy({object->data(), object->size()}, "kernels");
    auto compiled = ObjectCodeOf(sources, which, target, machines_);
    if (compiled.ok()) cache->Write(key, {(*compiled)->getBufferStart(), (*compiled)->getBufferSize()});
    return compiled;
  }

  TargetMachinePool machines_;
  std::atomic<bool> is_used_ = false;  // then there is nothing left to warm
};

}  // namespace
}  // namespace shoal::internal

extern "C" shoal::internal::CodeGenerator* shoal_new_code_generator() { return new shoal::internal::Generator; }
