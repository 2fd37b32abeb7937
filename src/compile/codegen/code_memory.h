// CodeMemory: where linked code lies, and where the linker looks for what the code calls.
#pragma once

#include <cstddef>
#include <vector>

#include "llvm/ExecutionEngine/RTDyldMemoryManager.h"

namespace shoal::internal {

// All sections of an object are in one mapping, so that they reach each other however full the address space is.
class CodeMemory : public llvm::RTDyldMemoryManager {
 public:
  ~CodeMemory() override;

  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(uintptr_t code_size, llvm::Align code_align, uintptr_t constants_size,
                              llvm::Align constants_align, uintptr_t data_size, llvm::Align data_align) override;
  uint8_t* allocateCodeSection(uintptr_t size, unsigned align, unsigned id, llvm::StringRef name) override;
  uint8_t* allocateDataSection(uintptr_t size, unsigned align, unsigned id, llvm::StringRef name,
                               bool is_constant) override;
  // Code becomes executable, and it and constants read-only; true on a failure, as LLVM has it.
  bool finalizeMemory(std::string* error) override;

  // Nothing is thrown through our code.
  void registerEHFrames(uint8_t*, uint64_t, size_t) override {}
  void deregisterEHFrames() override {}

  // Of our own functions first, then of the process: the compiler itself may call memset and the like.
  uint64_t getSymbolAddress(const std::string& name) override;

 private:
  struct Part {
    std::byte* begin = nullptr;
    size_t size = 0;  // whole pages
    size_t used = 0;
    int protection = 0;
  };
  struct Mapping {
    void* begin;
    size_t size;
  };

  static uint8_t* Take(Part& part, size_t size, size_t align);

  std::vector<Mapping> mappings_;
  std::vector<Part> parts_;  // code, constants, data of each object
};

}  // namespace shoal::internal
