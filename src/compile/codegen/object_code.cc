#include "compile/codegen/object_code.h"

#include "compile/codegen/kernel_emitter.h"
#include "compile/codegen/routine_emitter.h"
#include "core/base/strings.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BasicAliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"

namespace shoal::internal {
namespace {

// Registers only the analyses that the passes below use. LLVM's PassBuilder would link all of LLVM's passes into the
// library.
void Register(llvm::FunctionAnalysisManager& functions, llvm::ModuleAnalysisManager& modules,
              llvm::TargetMachine& machine) {
  modules.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
  modules.registerPass([] { return llvm::ProfileSummaryAnalysis(); });
  modules.registerPass([&] { return llvm::FunctionAnalysisManagerModuleProxy(functions); });
  functions.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
  functions.registerPass([&] { return llvm::ModuleAnalysisManagerFunctionProxy(modules); });
  functions.registerPass([&] { return machine.getTargetIRAnalysis(); });
  functions.registerPass([] { return llvm::AssumptionAnalysis(); });
  functions.registerPass([] { return llvm::BasicAA(); });
  functions.registerPass([] { return llvm::DominatorTreeAnalysis(); });
  functions.registerPass([] { return llvm::LoopAnalysis(); });
  functions.registerPass([] { return llvm::OptimizationRemarkEmitterAnalysis(); });
  functions.registerPass([] { return llvm::TargetLibraryAnalysis(); });
  functions.registerPass([] {
    llvm::AAManager aliases;
    aliases.registerFunctionAnalysis<llvm::BasicAA>();
    return aliases;
  });
}

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::FunctionAnalysisManager functions;
  llvm::ModuleAnalysisManager modules;
  Register(functions, modules, machine);
  llvm::FunctionPassManager quick;
  quick.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  quick.addPass(llvm::EarlyCSEPass());
  quick.addPass(llvm::InstCombinePass());
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) quick.run(function, functions);
}

void Emit(const CompileUnits& units, size_t i, llvm::Module& module) {
  const size_t kernels = units.kernels.size();
  if (i < kernels)
    EmitKernelFunction(units.kernels[i], module, CompileUnits::NameOf(i));
  else
    EmitRoutineFunction(*units.routines[i - kernels], module, CompileUnits::NameOf(i));
}

Result<std::unique_ptr<llvm::MemoryBuffer>> CompileToObject(const CompileUnits& units, std::span<const size_t> indices,
                                                     const Target& target, llvm::TargetMachine& machine) {
  llvm::LLVMContext context;
  llvm::Module module("kernels", context);
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(target.triple);
  for (size_t i : indices) Emit(units, i, module);
  std::string errors;
  llvm::raw_string_ostream out(errors);
  if (llvm::verifyModule(module, &out)) return Fail(StrCat("code generation produced invalid LLVM IR: ", errors));
  Optimize(module, machine);
  if (std::getenv("SHOAL_DUMP_IR") != nullptr) module.print(llvm::errs(), nullptr);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emit;
  if (machine.addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return Fail("LLVM cannot emit object code for this machine");
  emit.run(module);
  return llvm::MemoryBuffer::getMemBufferCopy({object.data(), object.size()}, "kernels");
}

}  // namespace

std::string CompileUnits::NameOf(size_t i) { return StrCat("kernel_", i); }

std::string CompileUnits::Text(size_t i) const {
  return i < kernels.size() ? ToString(kernels[i]) : ToString(*routines[i - kernels.size()]);
}

size_t CompileUnits::Weight(size_t i) const {
  constexpr size_t kLoopWeight = 12;  // weight of a kernel's loops, in nodes
  if (i < kernels.size()) return kLoopWeight + kernels[i].nodes.size();
  size_t weight = 0;
  for (const FusedKernel& kernel : routines[i - kernels.size()]->kernels) weight += kLoopWeight + kernel.nodes.size();
  return weight;
}

std::unique_ptr<llvm::TargetMachine> TargetMachinePool::Take(const Target& target) {
  {
    std::lock_guard lock(mutex_);
    auto& idle = idle_[target.cpu];
    if (!idle.empty()) {
      std::unique_ptr<llvm::TargetMachine> machine = std::move(idle.back());
      idle.pop_back();
      return machine;
    }
  }
  return MachineFor(target);
}

void TargetMachinePool::ReturnToPool(const Target& target, std::unique_ptr<llvm::TargetMachine> machine) {
  std::lock_guard lock(mutex_);
  idle_[target.cpu].push_back(std::move(machine));
}

Result<std::unique_ptr<llvm::MemoryBuffer>> ObjectCodeOf(const CompileUnits& units, std::span<const size_t> indices,
                                                         const Target& target, TargetMachinePool& machines) {
  std::unique_ptr<llvm::TargetMachine> machine = machines.Take(target);
  if (machine == nullptr) return Fail(StrCat("LLVM does not support the target ", target.triple));
  auto object = CompileToObject(units, indices, target, *machine);
  machines.ReturnToPool(target, std::move(machine));
  return object;
}

}  // namespace shoal::internal
