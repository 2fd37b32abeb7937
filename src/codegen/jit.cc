// From kernels to code in memory: IR, a few quick passes, machine code, all of it on several threads, then linked.
#include <cmath>

#include "base/strings.h"
#include "codegen/codegen.h"
#include "codegen/kernel_emitter.h"
#include "codegen/routine_emitter.h"
#include "codegen/target.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"

namespace shoal {
namespace {

struct LibraryEntry {
  const char* name;
  void* address;
};

using Unary = double (*)(double);
using Binary = double (*)(double, double);

// What VectorBuilder::Call calls.
std::vector<LibraryEntry> LibraryFunctions() {
#define UNARY(f) {"shoal_" #f, reinterpret_cast<void*>(static_cast<Unary>(&std::f))}
#define BINARY(f) {"shoal_" #f, reinterpret_cast<void*>(static_cast<Binary>(&std::f))}
  return {UNARY(acos), UNARY(acosh), UNARY(asin),  UNARY(asinh), UNARY(atanh), UNARY(cbrt),  UNARY(cos),
          UNARY(cosh), UNARY(erf),   UNARY(exp),   UNARY(expm1), UNARY(log),   UNARY(log1p), UNARY(sin),
          UNARY(sinh), UNARY(tan),   UNARY(tanh),  BINARY(atan2), BINARY(fmod), BINARY(pow)};
#undef UNARY
#undef BINARY
}

Diag AsDiag(llvm::Error error) { return Fail(StrCat("code generation: ", llvm::toString(std::move(error)))); }

std::string NameOf(size_t kernel) { return StrCat("kernel_", kernel); }

class Code : public CompiledKernels {
 public:
  // Of the kernels, then of the routines.
  Code(std::unique_ptr<llvm::orc::LLJIT> jit, std::vector<void*> codes, size_t kernels)
      : jit_(std::move(jit)), codes_(std::move(codes)), kernels_(kernels) {}
  KernelCode code(size_t i) const override { return reinterpret_cast<KernelCode>(codes_[i]); }
  RoutineCode routine(size_t i) const override { return reinterpret_cast<RoutineCode>(codes_[kernels_ + i]); }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::vector<void*> codes_;
  size_t kernels_ = 0;
};

struct Sources {
  std::span<const FusedKernel> kernels;
  std::span<const Routine* const> routines;

  size_t size() const { return kernels.size() + routines.size(); }
  // All that the code depends on.
  std::string Text(size_t i) const {
    return i < kernels.size() ? ToString(kernels[i]) : ToString(*routines[i - kernels.size()]);
  }
  void Emit(size_t i, llvm::Module& module) const {
    if (i < kernels.size())
      EmitKernelFunction(kernels[i], module, NameOf(i));
    else
      EmitRoutineFunction(*routines[i - kernels.size()], module, NameOf(i));
  }
};

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes(&machine);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(calls);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, calls, modules);
  llvm::FunctionPassManager quick;
  quick.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  quick.addPass(llvm::EarlyCSEPass());
  quick.addPass(llvm::InstCombinePass());
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) quick.run(function, functions);
}

// The object code of some kernels.
Result<std::unique_ptr<llvm::MemoryBuffer>> CompileSome(const Sources& sources, size_t first, size_t stride,
                                                        const Target& target) {
  std::unique_ptr<llvm::TargetMachine> machine = MachineFor(target);
  if (machine == nullptr) return Fail(StrCat("LLVM knows no machine ", target.triple));
  llvm::LLVMContext context;
  llvm::Module module("kernels", context);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(target.triple);
  for (size_t i = first; i < sources.size(); i += stride) sources.Emit(i, module);
  std::string broken;
  llvm::raw_string_ostream out(broken);
  if (llvm::verifyModule(module, &out)) return Fail(StrCat("code generation made wrong code: ", broken));
  Optimize(module, *machine);
  if (std::getenv("SHOAL_DUMP_IR") != nullptr) module.print(llvm::errs(), nullptr);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emit;
  if (machine->addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return Fail("LLVM cannot write code for this machine");
  emit.run(module);
  return llvm::MemoryBuffer::getMemBufferCopy({object.data(), object.size()}, NameOf(first));
}

// The same, from the cache where it is there. The key is all that the code depends on: kernels, target, and us.
Result<std::unique_ptr<llvm::MemoryBuffer>> FromCacheOrCompiled(const Sources& sources, size_t first, size_t stride,
                                                                const Target& target, ObjectCache* cache) {
  if (cache == nullptr) return CompileSome(sources, first, stride, target);
  std::string key = StrCat(target.triple, "\n", target.cpu, "\n", target.features, "\n", GeneratorVersion(), "\n");
  for (size_t i = first; i < sources.size(); i += stride) StrAppend(&key, NameOf(i), " ", sources.Text(i));
  if (std::optional<std::string> object = cache->Read(key))
    return llvm::MemoryBuffer::getMemBufferCopy({object->data(), object->size()}, NameOf(first));
  auto compiled = CompileSome(sources, first, stride, target);
  if (compiled.ok()) cache->Write(key, {(*compiled)->getBufferStart(), (*compiled)->getBufferSize()});
  return compiled;
}

class Generator : public CodeGenerator {
 public:
  Generator() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  }

  Result<std::unique_ptr<CompiledKernels>> Compile(std::span<const FusedKernel> kernels,
                                                   std::span<const Routine* const> routines,
                                                   const CodeOptions& options, ThreadPool& pool) override {
    SHOAL_ASSIGN(target, TargetFor(options.cpu));
    const Sources sources{kernels, routines};
    const size_t parts = std::min(sources.size(), static_cast<size_t>(pool.threads()) * 2);
    std::vector<Result<std::unique_ptr<llvm::MemoryBuffer>>> objects;
    for (size_t i = 0; i < parts; ++i) objects.emplace_back(std::unique_ptr<llvm::MemoryBuffer>());
    pool.Run(static_cast<int64_t>(parts), [&](int64_t i) {
      const auto part = static_cast<size_t>(i);
      objects[part] = FromCacheOrCompiled(sources, part, parts, target, options.cache);
    });
    return Link(objects, sources);
  }

 private:
  static Result<std::unique_ptr<CompiledKernels>> Link(
      std::vector<Result<std::unique_ptr<llvm::MemoryBuffer>>>& objects, const Sources& sources) {
    llvm::orc::LLJITBuilder builder;
    auto made = builder.create();
    if (!made) return AsDiag(made.takeError());
    std::unique_ptr<llvm::orc::LLJIT> jit = std::move(*made);
    llvm::orc::SymbolMap symbols;
    for (const LibraryEntry& entry : LibraryFunctions())
      symbols[jit->mangleAndIntern(entry.name)] = {llvm::orc::ExecutorAddr::fromPtr(entry.address),
                                                   llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    if (auto error = jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(symbols))) return AsDiag(std::move(error));
    // The compiler itself may call memset and the like.
    auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit->getDataLayout().getGlobalPrefix());
    if (!process) return AsDiag(process.takeError());
    jit->getMainJITDylib().addGenerator(std::move(*process));
    for (auto& object : objects) {
      if (!object.ok()) return std::move(object.diag());
      if (auto error = jit->addObjectFile(std::move(*object))) return AsDiag(std::move(error));
    }
    std::vector<void*> codes;
    for (size_t i = 0; i < sources.size(); ++i) {
      auto address = jit->lookup(NameOf(i));
      if (!address) return AsDiag(address.takeError());
      codes.push_back(address->toPtr<void*>());
    }
    return std::unique_ptr<CompiledKernels>(std::make_unique<Code>(std::move(jit), std::move(codes), sources.kernels.size()));
  }
};

}  // namespace
}  // namespace shoal

extern "C" shoal::CodeGenerator* shoal_new_code_generator() { return new shoal::Generator; }
