// The CPU that code is generated for.
#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"

namespace llvm {
class TargetMachine;
}

namespace shoal::internal {

struct Target {
  std::string triple, cpu, features;
};

// The target for LLVM's name of a CPU; empty: this machine. Fails if the CPU is unknown or cannot run on this machine.
Result<Target> TargetFor(const std::string& cpu);

// Null if LLVM has no code generator for the target.
std::unique_ptr<llvm::TargetMachine> MachineFor(const Target& target);

// Version of LLVM and of this library. Cached code of another version is not used.
std::string GeneratorVersion();

}  // namespace shoal::internal
