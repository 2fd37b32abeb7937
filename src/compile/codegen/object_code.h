// Compiles kernels to object code: emits IR, runs a few quick passes, generates machine code.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "compile/codegen/target.h"
#include "compile/program/routine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

namespace shoal::internal {

// The functions to compile. They are numbered: the kernels, then the routines.
struct CompileUnits {
  std::span<const FusedKernel> kernels;
  std::span<const Routine* const> routines;

  size_t size() const { return kernels.size() + routines.size(); }
  // The symbol name of the compiled function.
  static std::string NameOf(size_t i);
  // Text with everything that the code depends on.
  std::string Text(size_t i) const;
  // Estimate of the compile time.
  size_t Weight(size_t i) const;
};

// A pool of LLVM's target machines. They are expensive to create, and only one thread at a time can use one.
class TargetMachinePool {
 public:
  // Null if LLVM has no code generator for the target.
  std::unique_ptr<llvm::TargetMachine> Take(const Target& target);
  void ReturnToPool(const Target& target, std::unique_ptr<llvm::TargetMachine> machine);

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<llvm::TargetMachine>>> idle_;
};

// Compiles the units with these indices to one object file.
Result<std::unique_ptr<llvm::MemoryBuffer>> ObjectCodeOf(const CompileUnits& units, std::span<const size_t> indices,
                                                         const Target& target, TargetMachinePool& machines);

}  // namespace shoal::internal
