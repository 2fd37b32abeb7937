// CodeMemory: allocates memory for linked code and resolves the symbols that the code uses.
#pragma once

#include <cstddef>
#include <vector>

#include "llvm/ExecutionEngine/RTDyldMemoryManager.h"

namespace shoal::internal {

// All sections of an object are in one mapping, so that relative addresses between them are always in range.
class CodeMemory : public llvm::RTDyldMemoryManager {
 public:
  ~CodeMemory() override;

  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(uintptr_t code_size, llvm::Align code_align, uintptr_t constants_size,
                              llvm::Align constants_align, uintptr_t data_size, llvm::Align data_align) override;
  uint8_t* allocateCodeSection(uintptr_t size, unsigned align, unsigned id, llvm::StringRef name) override;
  uint8_t* allocateDataSection(uintptr_t size, unsigned align, unsigned id, llvm::StringRef name,
                               bool is_constant) override;
  // Makes code executable, and code and constants read-only. Returns true on failure, as LLVM expects.
  bool finalizeMemory(std::string* error) override;

  // Exceptions never propagate through generated code.
  void registerEHFrames(uint8_t*, uint64_t, size_t) override {}
  void deregisterEHFrames() override {}

  // Looks up shoal's functions first, then symbols of the process: LLVM may generate calls of memset and similar.
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
  std::vector<Part> parts_;  // code, constants and data of each object
};

}  // namespace shoal::internal
