#include "ops/families.h"
#include "program/library/rows.h"

namespace shoal {
namespace {

struct LibraryRow {
  Opcode opcode;
  // The function for this instruction, or null.
  LibraryFunction (*of)(const Instruction& hlo);
};

constexpr LibraryRow kRows[] = {
    {Opcode::kConvolution, ConvolutionFunction},
    {Opcode::kDot, DotFunction},
    {Opcode::kReduceWindow, PrefixScanFunction},
    {Opcode::kSelectAndScatter, SelectAndScatterFunction},
    {Opcode::kSort, SortFunction},
    {Opcode::kTranspose, TransposeFunction},
};

}  // namespace

LibraryFunction LibraryFunctionOf(const Instruction& hlo) {
  for (const LibraryRow& row : kRows)
    if (row.opcode == hlo.opcode) return row.of(hlo);
  return nullptr;
}

}  // namespace shoal
