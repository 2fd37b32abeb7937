// FusedKernel: a fused loop nest as data: an iteration space, inputs with their read indices, and a body of HLO ops. It
// is target-independent: compile/codegen emits CPU code from it, and a GPU backend could use it as well.
//
// The loops of a kernel are numbered from the outermost. First come the row loops; each row is a unit of work that may
// run on any thread. The inner loops within a row follow. The last loop runs over lanes and is vectorized.
//
//   elementwise        row loops: all dimensions but the last   inner loops: the last dimension
//   row reduction      row loops: the kept dimensions           inner loops: the reduced ones
//   column reduction   row loops: all kept dimensions but one   inner loops: the reduced ones, then the last kept one
//
// A row kernel makes one pass over its row per stage. The result of a reduction is available after its stage, and nodes
// of later stages may use it. softmax has three stages: the maximum, the sum of exponentials, the quotients. A node
// that depends only on the row (and on reductions) is computed once per row. A column kernel has one stage of
// reductions; nodes that use their results are computed per lane after the last iteration.
//
// Arithmetic follows the HLO semantics: each op is computed in the type of its node and rounded once. Floats narrower
// than f32 are computed in f32 and rounded to their type after each op. Reductions of f32 and wider types may use any
// fixed order of elements; the order depends only on the shape, never on the number of threads.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/ir/element_type.h"
#include "core/ops/elementwise.h"
#include "transform/loops/index_expr.h"

namespace shoal::internal {

struct KernelNode {
  enum class Kind : uint8_t {
    kLoad,      // element `index` of input `input`
    kConstant,  // `bits`, in the node's type
    kIndex,     // `index`, as a number
    kApply,     // `opcode` applied to the operands
    kResult,    // result number `input` of reduction `reduction`
  };
  Kind kind = Kind::kApply;
  ElementType type = ElementType::kInvalid;
  Opcode opcode{};  // for kApply: an elementwise op, a convert, or a bitcast-convert to a type of the same width
  int operands[3] = {-1, -1, -1};
  int input = 0;
  int reduction = 0;
  IndexExpr index;
  uint64_t bits[2] = {0, 0};
  // For a compare.
  ComparisonDirection direction{};
  bool total_order = false;
};

struct KernelReduction {
  enum class Kind : uint8_t {
    kBinary,  // `op` applied to two elements; may be reordered
    // Elements are pairs of a number and its increasing index. Selects the maximum number (if `op` is maximum) or the
    // minimum number, or the first NaN, with the first index at which it occurs.
    kArgMinMax,
  };
  Kind kind = Kind::kBinary;
  Opcode op{};
  int stage = 0;
  std::vector<int> elements, inits;  // nodes; inits do not depend on the inner loops
};

struct KernelStore {
  int node = 0;
  int output = 0;
  IndexExpr index;
  bool per_row = false;  // does not depend on the inner loops: stored once per row, after all stages
};

struct FusedKernel {
  enum class Form : uint8_t { kRows, kColumns };
  Form form = Form::kRows;
  std::vector<int64_t> rows;         // iterations of each row loop
  std::vector<int64_t> inner_loops;  // iterations of each inner loop; the last is the lane loop
  std::vector<ElementType> inputs, outputs;
  std::vector<KernelNode> nodes;  // each after its operands
  std::vector<KernelReduction> reductions;
  std::vector<KernelStore> stores;
  // If not 0, each row is split among threads: the last row loop numbers the parts, and each part is this many
  // iterations of the first inner loop.
  int64_t part_size = 0;
  bool is_edge = false;    // a small part of a result that several kernels compute: prefer short code over fast code
  bool contracts = false;  // a multiply and the add that uses it may be rounded once (fma), as in a dot

  // Number of passes over a row: one per stage of reductions, and in row kernels one more for stores of whole rows.
  int PassesPerRow() const;
  int64_t RowCount() const;
  int64_t InnerIterations() const;
  int lane_loop() const { return static_cast<int>(rows.size() + inner_loops.size()) - 1; }
};

// Prints a kernel as `run --explain` shows it.
std::string ToString(const FusedKernel& kernel);

// Returns the kernels that compute a fusion. If it contains a concatenate or a pad, several kernels each compute a part
// of the result. Empty if the fusion cannot be expressed as a FusedKernel.
std::vector<FusedKernel> FusedKernelsOf(const Instruction& hlo);

// Returns the kernels that compute `roots` from `inputs`, as FusedKernelsOf does.
std::vector<FusedKernel> KernelsOf(std::span<const Instruction* const> inputs, std::span<const Instruction* const> roots);

// Merges nested loops that every input and output index treats as a single loop.
void MergeLoops(FusedKernel& kernel);

// Removes unused nodes.
void DropUnused(FusedKernel& kernel);
// The index with its kData nodes renumbered by `to`.
IndexExpr WithRenumberedNodes(const IndexExpr& index, const std::function<int(int)>& to);

// Splits a kernel that reduces few long rows into two. `partial` reduces parts of the rows and writes one array per
// element of each reduction. `combine` reads these arrays after the kernel's own inputs, and reduces them.
struct SplitReductionKernels {
  FusedKernel partial, combine;
};
std::optional<SplitReductionKernels> SplitReduction(const FusedKernel& kernel);

// Machine code of a kernel. Computes rows [begin, end) and, if the lanes are not reduced, lanes [lane_begin, lane_end).
// buffers: the inputs, then the outputs.
using KernelCode = void (*)(void* const* buffers, int64_t begin, int64_t end, int64_t lane_begin, int64_t lane_end);

}  // namespace shoal::internal
