// What a run of ours holds, by our own policy: the steps of analyze/memory/liveness.h in their order, with values that have sizes
// but no elements (held_value.h). What an op hands on, writes over or makes anew is core/ops/in_place.h and core/ops/value_flow.h.
// Unlike XLA's buffers (buffers.h), what shares memory here depends on who else holds it when the op comes, so that a
// loop is gone through until its rounds hold the same.
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

// How often a while goes round, which only the elements would tell; nothing: as often as it takes until every further
// round holds the same.
using TripsOf = std::function<std::optional<int64_t>(const Instruction& loop)>;

struct DryRunResult {
  int64_t peak_bytes = 0;  // as RunStats has it
  // What was not known and taken for the larger: which branch a conditional takes, the size of a dynamic dimension.
  std::vector<const Instruction*> guesses;
  bool complete = true;  // false: there is more to go through than anybody would wait for, and the rest was not looked at
};

class DryRun {
 public:
  // One device's part of RunModule. The module was verified.
  DryRun(const Module& module, const Liveness& liveness, const Participation& participation, int64_t device,
          const TripsOf& trips)
      : module_(module), liveness_(liveness), participation_(participation), device_(device), trips_(trips) {}

  DryRunResult Run();

 private:
  struct OpFrame {
    const Instruction& hlo;
    std::span<SizedValue> operands;  // held until the step ends, unless they are taken
  };

  SizedValue RunComputation(const Computation& computation, std::vector<SizedValue> arguments);
  SizedValue RunStep(const InstructionLiveness& step, std::span<SizedValue> values);
  SizedValue Evaluate(OpFrame& step);

  SizedValue New(const Shape& shape) { return SizedValue(shape, &bytes_); }
  // What belongs to no device, and nobody writes: constants, and what a loop keeps from its first round.
  static SizedValue Uncounted(const Shape& shape);
  // Of an op that only computes.
  SizedValue AllocateResult(OpFrame& step);
  SizedValue NewResult(OpFrame& step);
  SizedValue InPlaceOfAny(OpFrame& step);
  SizedValue WrittenOver(OpFrame& step);
  SizedValue Results(OpFrame& step);
  SizedValue State(OpFrame& step);

  SizedValue Callee(OpFrame& step, const Computation& callee);
  SizedValue Branch(OpFrame& step);
  SizedValue Loop(OpFrame& step);
  bool RunsInRegisters(const Computation& callee);

  // What is sent, received and under way (run_walk_async.cc).
  SizedValue Begin(const Instruction& collective, std::span<SizedValue> operands);
  SizedValue End(SizedValue value);
  SizedValue EndAll(SizedValue value);
  // Whether other devices get the same array: then nobody writes it. A device that meets nobody gets its own back.
  bool IsShared(const SizedValue& pending) const;
  SizedValue Collective(OpFrame& step);
  SizedValue Start(OpFrame& step);
  SizedValue Done(OpFrame& step);
  SizedValue AsyncPart(OpFrame& step);
  SizedValue Bound(OpFrame& step, std::vector<SizedValue> operands, SizedValue result);
  SizedValue Wrapped(const Computation& computation, std::vector<SizedValue> arguments);
  SizedValue CustomCall(OpFrame& step);
  SizedValue Reshard(OpFrame& step);
  SizedValue ChainStart(OpFrame& step);
  SizedValue ChainDone(OpFrame& step);

  const Module& module_;
  const Liveness& liveness_;
  const Participation& participation_;
  int64_t device_;
  const TripsOf& trips_;
  int64_t depth_ = 0;
  int64_t steps_ = 0;  // gone through so far
  ByteMeter bytes_;
  DryRunResult out_;
  std::unordered_map<const Computation*, std::vector<SizedValue>> kept_;
  std::unordered_map<const Computation*, bool> in_registers_;
  struct Chain {
    std::vector<SizedValue> operands;
    SizedValue result;
  };
  std::map<ChainKey, Chain> chains_;
};

}  // namespace shoal::internal
