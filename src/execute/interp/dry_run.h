// DryRun: the memory use of an interpreter run. It evaluates the instructions in the order of
// analyze/memory/liveness.h, on values that have sizes but no elements (sized_value.h). core/ops/in_place.h and
// core/ops/value_flow.h define which ops forward, overwrite or allocate. Buffers are shared according to their owners
// at run time, unlike in XLA's buffer assignment. Loops are therefore iterated to a fixed point.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include "analyze/facts/chain.h"
#include "analyze/facts/participation.h"
#include "analyze/memory/liveness.h"
#include "execute/interp/sized_value.h"

namespace shoal::internal {

// Trip count of a loop, if known without data. Otherwise the dry run iterates to a fixed point of the live sizes.
using TripCountFunction = std::function<std::optional<int64_t>(const Instruction& loop)>;

struct DryRunResult {
  int64_t peak_bytes = 0;  // see RunStats
  // Instructions with unknown choices, for which the larger alternative is assumed: a branch, or a dynamic size.
  std::vector<const Instruction*> guesses;
  bool complete = true;  // false: the module exceeds the simulation limit, so the rest was not simulated
};

class DryRun {
 public:
  // Simulates one device of a RunModule call. The module must be verified.
  DryRun(const Module& module, const Liveness& liveness, const Participation& participation, int64_t device,
          const TripCountFunction& trips)
      : module_(module), liveness_(liveness), participation_(participation), device_(device), trips_(trips) {}

  DryRunResult Run();

 private:
  struct OpFrame {
    const Instruction& hlo;
    std::span<SizedValue> operands;  // held until the instruction ends, unless moved from
  };

  SizedValue RunComputation(const Computation& computation, std::vector<SizedValue> arguments);
  SizedValue RunStep(const InstructionLiveness& step, std::span<SizedValue> values);
  SizedValue Evaluate(OpFrame& step);

  SizedValue New(const Shape& shape) { return SizedValue(shape, &bytes_); }
  // Read-only values that are not charged to any device: constants and loop invariants.
  static SizedValue Uncounted(const Shape& shape);
  // AllocateResult is for ops that only compute.
  SizedValue AllocateResult(OpFrame& step);
  SizedValue NewResult(OpFrame& step);
  SizedValue ReuseAnyOperand(OpFrame& step);
  SizedValue WriteInPlace(OpFrame& step);
  SizedValue OperandsAsResults(OpFrame& step);
  SizedValue GeneratorState(OpFrame& step);

  SizedValue RunCallee(OpFrame& step, const Computation& callee);
  SizedValue RunLargestBranch(OpFrame& step);
  SizedValue RunLoop(OpFrame& step);
  bool RunsInRegisters(const Computation& callee);

  // Collectives, transfers and pending values (dry_run_async.cc).
  SizedValue Begin(const Instruction& collective, std::span<SizedValue> operands);
  SizedValue End(SizedValue value);
  SizedValue EndAll(SizedValue value);
  // True if other devices receive the same array, which is then read-only. A single device gets its own array back.
  bool IsShared(const SizedValue& pending) const;
  SizedValue Collective(OpFrame& step);
  SizedValue Start(OpFrame& step);
  SizedValue Done(OpFrame& step);
  SizedValue AsyncOp(OpFrame& step);
  SizedValue Bind(OpFrame& step, std::vector<SizedValue> operands, SizedValue result);
  SizedValue RunWrapped(const Computation& computation, std::vector<SizedValue> arguments);
  SizedValue CustomCall(OpFrame& step);
  SizedValue Reshard(OpFrame& step);
  SizedValue ChainStart(OpFrame& step);
  SizedValue ChainDone(OpFrame& step);

  const Module& module_;
  const Liveness& liveness_;
  const Participation& participation_;
  int64_t device_;
  const TripCountFunction& trips_;
  int64_t depth_ = 0;
  int64_t steps_ = 0;  // instructions simulated so far
  ByteMeter bytes_;
  DryRunResult out_;
  std::unordered_map<const Computation*, std::vector<SizedValue>> invariants_;
  std::unordered_map<const Computation*, bool> in_registers_;
  struct Chain {
    std::vector<SizedValue> operands;
    SizedValue result;
  };
  std::map<ChainKey, Chain> chains_;
};

}  // namespace shoal::internal
