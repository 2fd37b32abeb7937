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

// By LLVM's name; empty: this machine's, with the features it has. A failure names what this machine lacks.
Result<Target> TargetFor(const std::string& cpu);

// Null where LLVM has no code generator for it.
std::unique_ptr<llvm::TargetMachine> MachineFor(const Target& target);

// Of LLVM and of this library: code from another one is not used.
std::string GeneratorVersion();

}  // namespace shoal::internal
