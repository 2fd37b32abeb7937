#include "program/library.h"

#include "ops/families.h"

namespace shoal {
namespace {

struct LibraryRow {
  Opcode opcode;
  // The function for this instruction, or null.
  LibraryFunction (*of)(const Instruction& hlo);
};

constexpr LibraryRow kRows[] = {
    {Opcode::kUnknown, nullptr},
};

}  // namespace

LibraryFunction LibraryFunctionOf(const Instruction& hlo) {
  for (const LibraryRow& row : kRows)
    if (row.opcode == hlo.opcode && row.of != nullptr) return row.of(hlo);
  return nullptr;
}

}  // namespace shoal
