// FusedKernel describes a fused loop nest. Its KernelComputation is the iteration space, the inputs and the indices at
// which they are read, and a body of HLO ops; it is the same for every target. Its KernelSchedule is how a CPU runs it.
// Another target schedules the computation anew.
//
// Loops are numbered from the outermost. The row loops come first: each row is a unit of work that may run on any
// thread. The inner loops, which iterate within a row, follow. The last loop iterates over lanes and is vectorized.
//
//   elementwise        row loops: all dimensions but the last   inner loops: the last dimension
//   row reduction      row loops: the kept dimensions           inner loops: the reduced ones
//   column reduction   row loops: all kept dimensions but one   inner loops: the reduced ones, then the last kept one
//
// A row kernel makes one pass over each row per stage. The result of a reduction is available after its stage, and
// nodes of later stages may use it. Softmax, for example, has three stages: the maximum, the sum of exponentials, the
// quotients. A node that depends only on the row and on reductions is computed once per row. A column kernel has one
// stage of reductions. Nodes that use the results are computed for each lane after the reduced loops.
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
    kIndex,     // the value of `index`
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
  uint64_t bits[2] = {0, 0};  // of a constant; the exponent_bits and mantissa_bits of a reduce-precision
  // Attributes of a compare.
  ComparisonDirection direction{};
  bool total_order = false;
};

struct KernelReduction {
  enum class Kind : uint8_t {
    kBinary,  // `op` combines two elements; elements may be combined in any order
    // Elements are pairs of a number and its index, by increasing index. Selects the first pair with a NaN; else the
    // first pair with the maximum number (if `op` is maximum) or with the minimum number.
    kArgMinMax,
    // `function` combines accumulators and elements, in the order of the inner loops. Only in column kernels.
    kFunction,
  };
  Kind kind = Kind::kBinary;
  Opcode op{};
  int stage = 0;
  std::vector<int> elements, inits;  // numbers of nodes; `inits` do not depend on the inner loops
  // For kFunction. A node of kind kLoad is the argument number `input`: the accumulators, then the elements. `results`
  // are numbers of its nodes. If `is_element` is the number of a node of the kernel, the function is applied only where
  // that predicate holds.
  std::vector<KernelNode> function;
  std::vector<int> results;
  int is_element = -1;
};

struct KernelStore {
  int node = 0;
  int output = 0;
  IndexExpr index;
  bool per_row = false;  // the value does not depend on the inner loops: it is stored once per row, after all stages
};

struct KernelComputation {
  enum class Form : uint8_t { kRows, kColumns };
  Form form = Form::kRows;
  std::vector<int64_t> rows;         // iterations of each row loop
  std::vector<int64_t> inner_loops;  // iterations of each inner loop; the last is the lane loop
  std::vector<ElementType> inputs, outputs;
  std::vector<KernelNode> nodes;  // operands precede their users
  std::vector<KernelReduction> reductions;
  std::vector<KernelStore> stores;
  bool contracts = false;  // a multiply and the add that uses it may be rounded only once (fma), as in a dot

  // Number of passes over a row: one per stage of reductions, and in row kernels one more if whole rows are stored.
  int PassesPerRow() const;
  int64_t RowCount() const;
  int64_t InnerIterations() const;
  int lane_loop() const { return static_cast<int>(rows.size() + inner_loops.size()) - 1; }
  // True if the iterations of the loop contribute to one element of a reduction. All other loops may run in parallel.
  bool IsReduced(int loop) const {
    return !reductions.empty() && loop >= static_cast<int>(rows.size()) && !(form == Form::kColumns && loop == lane_loop());
  }
};

// The results do not depend on the schedule, except that part_size changes the order of sums. A schedule depends only on
// the shape, never on the number of threads.
struct KernelSchedule {
  // If not 0, each row is split into parts for several threads. The last row loop iterates over the parts, and each
  // part consists of this many iterations of the first inner loop.
  int64_t part_size = 0;
  bool prefers_short_code = false;  // the kernel computes a small part of a result, so that fast code would not pay
  bool is_part = false;  // the kernel reduces for a part of a result only, so its rows may not be split
  // A task computes at most this many rows and lanes.
  int64_t row_block = INT64_MAX, lane_block = INT64_MAX;
};

struct FusedKernel : KernelComputation {
  KernelSchedule schedule;
};

// Number of elements that one thread processes in about 20 µs. Larger kernels are split into tasks.
inline constexpr int64_t kTaskElements = int64_t{1} << 15;
// Sets the row and lane blocks.
void SplitIntoTasks(FusedKernel& kernel);

// Prints a kernel as `run --explain` shows it.
std::string ToString(const FusedKernel& kernel);

// Returns the kernels that compute a fusion. If the fusion contains a concatenate or a pad, each of several kernels
// computes a part of the result. Returns an empty list if the fusion cannot be expressed as FusedKernels; `refusal`, if
// not null, then gets the reason.
std::vector<FusedKernel> FusedKernelsOf(const Instruction& hlo, std::string_view* refusal = nullptr);

// Returns the kernels that compute `roots` from `inputs`, as FusedKernelsOf does.
std::vector<FusedKernel> KernelsOf(std::span<const Instruction* const> inputs, std::span<const Instruction* const> roots,
                                   std::string_view* refusal = nullptr);

// Merges nested loops if all input and output indices depend only on the combined loop variable.
void MergeLoops(FusedKernel& kernel);

void DropUnused(FusedKernel& kernel);
// Returns the index with the numbers of its kData nodes mapped by `to`.
IndexExpr WithRenumberedNodes(const IndexExpr& index, const std::function<int(int)>& to);

// Two kernels that replace a kernel that reduces few long rows. `partial` reduces parts of the rows and has one output
// per element of each reduction. `combine` reduces these outputs; they follow its other inputs.
struct SplitReductionKernels {
  FusedKernel partial, combine;
};
std::optional<SplitReductionKernels> SplitReduction(const FusedKernel& kernel);

// Machine code of a kernel. Computes rows [begin, end). If the lanes are not reduced, it computes only lanes
// [lane_begin, lane_end). `buffers` has the inputs, then the outputs.
using KernelCode = void (*)(void* const* buffers, int64_t begin, int64_t end, int64_t lane_begin, int64_t lane_end);

}  // namespace shoal::internal
