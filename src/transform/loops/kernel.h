// FusedKernel: one fused loop nest, as data: an iteration space, inputs with the places they are read at, a body in the ops'
// own words. Nothing in it knows a target; codegen/ makes machine code of it for CPUs, a GPU's generator could as well.
//
// The loops of a kernel are numbered from the outermost: first the rows, each of which is one piece of work that may
// run on any thread, then what is walked within a row. The last loop runs over lanes: it is the one that becomes vectors.
//
//   elementwise              rows: all dimensions but the last,  walked: the last
//   reduction of a row       rows: the kept dimensions,          walked: the reduced ones
//   reduction of columns     rows: the kept dimensions but the last, walked: the reduced ones, then the last kept one
//
// A row kernel goes through its row once for each stage: a reduction's result is known when its stage is done, and
// nodes of later stages may use it. softmax is three stages: the maximum, the sum of exponentials, the quotients. A
// node that depends on nothing but the row (and on reductions) is worked out once per row. A column kernel has one stage
// of reductions; what is computed of their results is worked out in the lanes when the last round is done.
//
// Numbers are computed as the ops say, in the type of each node, one rounding each; floats narrower than f32 are
// computed in f32 and rounded to their type after each op. Reductions of f32 and wider may take their elements in any
// fixed order; the order depends on the shape alone, never on the number of threads.
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
    kApply,     // `opcode` of the operands
    kResult,    // of reduction `reduction`, its result number `input`
  };
  Kind kind = Kind::kApply;
  ElementType type = ElementType::kInvalid;
  Opcode opcode{};  // of kApply; elementwise ops, convert and bitcast-convert to a type of the same width
  int operands[3] = {-1, -1, -1};
  int input = 0;
  int reduction = 0;
  IndexExpr index;
  uint64_t bits[2] = {0, 0};
  // Of compare.
  ComparisonDirection direction{};
  bool total_order = false;
};

struct KernelReduction {
  enum class Kind : uint8_t {
    kBinary,   // `op` of two elements, which may be reordered
    kArgMinMax,  // two elements, a number and its index, which grows: the largest (`op` is maximum) or smallest number or
               // the first nan, and the first index it has
  };
  Kind kind = Kind::kBinary;
  Opcode op{};
  int stage = 0;
  std::vector<int> elements, inits;  // nodes; inits do not depend on what is walked
};

struct KernelStore {
  int node = 0;
  int output = 0;
  IndexExpr index;
  bool per_row = false;  // does not depend on what is walked: once per row, after all stages
};

struct FusedKernel {
  enum class Form : uint8_t { kRows, kColumns };
  Form form = Form::kRows;
  std::vector<int64_t> rows;    // rounds of each loop
  std::vector<int64_t> inner_loops;  // likewise; the last one is the lanes'
  std::vector<ElementType> inputs, outputs;
  std::vector<KernelNode> nodes;  // operands first
  std::vector<KernelReduction> reductions;
  std::vector<KernelStore> stores;
  // Where it is not 0, the last of the row loops numbers pieces of the first walked loop, so many rounds each: rows of
  // which several threads reduce a piece.
  int64_t piece = 0;
  bool is_edge = false;    // a small part of a result that several kernels compute: short code rather than fast code
  bool contracts = false;  // a product and the sum it goes into may be rounded once, as a dot's

  // How often a row is walked through: for each stage of reductions, and for stores that are not per row.
  int PassesPerRow() const;
  int64_t RowCount() const;
  int64_t InnerIterations() const;
  int lane_loop() const { return static_cast<int>(rows.size() + inner_loops.size()) - 1; }
};

// As `run --explain` shows it.
std::string ToString(const FusedKernel& kernel);

// The kernels that compute a fusion: one, several that give a part of the result each where it has a concatenate or a pad
// inside, or none where no loop nest of ours does.
std::vector<FusedKernel> FusedKernelsOf(const Instruction& hlo);

// The same of any values: they compute `roots` from `inputs`.
std::vector<FusedKernel> KernelsOf(std::span<const Instruction* const> inputs, std::span<const Instruction* const> roots);

// Loops that every input and output goes through as through one become one.
void MergeLoops(FusedKernel& kernel);

// Drops nodes that nothing needs.
void DropUnused(FusedKernel& kernel);
// The index with other numbers of the nodes that it takes data from.
IndexExpr WithRenumberedNodes(const IndexExpr& index, const std::function<int(int)>& to);

// Where rows are few and long: a kernel that reduces pieces of them, and one that reduces what these gave. `partial`
// gives an array for each element of each reduction, which `combine` takes after the kernel's own inputs.
struct SplitReductionKernels {
  FusedKernel partial, combine;
};
std::optional<SplitReductionKernels> SplitReduction(const FusedKernel& kernel);

// What codegen/ makes of a kernel: works on rows [begin, end), and, where there are no reductions over them, on lanes
// [lane_begin, lane_end). buffers: the inputs, then the outputs.
using KernelCode = void (*)(void* const* buffers, int64_t begin, int64_t end, int64_t lane_begin, int64_t lane_end);

}  // namespace shoal::internal
