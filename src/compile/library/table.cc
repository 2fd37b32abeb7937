#include "compile/library/rows.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "core/ops/working_types.h"

namespace shoal::internal {
namespace {

struct LibraryRow {
  Opcode opcode;
  // The function for this instruction, or null.
  LibraryFunction (*find)(const Instruction& hlo);
  bool updates = false;  // see UpdatesOperand
};

constexpr LibraryRow kRows[] = {
    {Opcode::kConcatenate, ConcatenateFunction},
    {Opcode::kConvert, ConvertFunction},
    {Opcode::kConvolution, ConvolutionFunction},
    {Opcode::kDot, DotFunction},
    {Opcode::kDynamicSlice, DynamicSliceFunction},
    {Opcode::kDynamicUpdateSlice, DynamicUpdateSliceFunction, true},
    {Opcode::kFft, FftFunction},
    {Opcode::kGather, GatherFunction},
    {Opcode::kPad, PadFunction},
    {Opcode::kReduceWindow, PrefixScanFunction},
    {Opcode::kScatter, ScatterFunction, true},
    {Opcode::kSelectAndScatter, SelectAndScatterFunction},
    {Opcode::kSort, SortFunction},
    {Opcode::kTopK, TopKFunction},
    {Opcode::kTranspose, TransposeFunction},
};

}  // namespace

LibraryFunction LibraryFunctionOf(const Instruction& hlo) {
  if (WorkingTypesOf(hlo).mixed) return nullptr;  // the interpreter converts and checks the operands
  for (const LibraryRow& row : kRows)
    if (row.opcode == hlo.opcode) return row.find(hlo);
  return nullptr;
}

AppliedLibraryFunction AppliedLibraryFunctionOf(const Instruction& hlo) {
  return IsScatter(hlo) && !WorkingTypesOf(hlo).mixed ? FunctionScatterFunction(hlo) : nullptr;
}

std::unique_ptr<const PreparedFunction> PreparedFunctionOf(const Instruction& hlo) {
  return IsDot(hlo) && LibraryFunctionOf(hlo) != nullptr ? PreparedDot(hlo) : nullptr;
}

bool UpdatesOperand(const Instruction& hlo) {
  for (const LibraryRow& row : kRows)
    if (row.opcode == hlo.opcode) return row.updates;
  return false;
}

}  // namespace shoal::internal
