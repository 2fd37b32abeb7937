// From kernels to object code: IR, a few quick passes, machine code.
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

// What is compiled, numbered through: the kernels, then the routines.
struct CompileUnits {
  std::span<const FusedKernel> kernels;
  std::span<const Routine* const> routines;

  size_t size() const { return kernels.size() + routines.size(); }
  // The name of the function it becomes.
  static std::string NameOf(size_t i);
  // All that the code depends on.
  std::string Text(size_t i) const;
  // How long it takes to compile, more or less.
  size_t Weight(size_t i) const;
};

// LLVM's machines are costly to make and used by one thread at a time: kept for the next who wants the same.
class TargetMachinePool {
 public:
  // Null where LLVM has no code generator for it.
  std::unique_ptr<llvm::TargetMachine> Take(const Target& target);
  void ReturnToPool(const Target& target, std::unique_ptr<llvm::TargetMachine> machine);

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<llvm::TargetMachine>>> idle_;
};

// Of these sources, as one object.
Result<std::unique_ptr<llvm::MemoryBuffer>> ObjectCodeOf(const CompileUnits& sources, std::span<const size_t> which,
                                                         const Target& target, TargetMachinePool& machines);

}  // namespace shoal::internal
