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
#include "execute/interp/held_value.h"

namespace shoal {

// How often a while goes round, which only the elements would tell; nothing: as often as it takes until every further
// round holds the same.
using TripsOf = std::function<std::optional<int64_t>(const Instruction& loop)>;

struct RunWalkResult {
  int64_t peak_bytes = 0;  // as RunStats has it
  // What was not known and taken for the larger: which branch a conditional takes, the size of a dynamic dimension.
  std::vector<const Instruction*> guesses;
  bool complete = true;  // false: there is more to go through than anybody would wait for, and the rest was not looked at
};

class RunWalk {
 public:
  // One device's part of RunModule. The module was verified.
  RunWalk(const Module& module, const Liveness& liveness, const Participation& participation, int64_t device,
          const TripsOf& trips)
      : module_(module), liveness_(liveness), participation_(participation), device_(device), trips_(trips) {}

  RunWalkResult Run();

 private:
  struct Step {
    const Instruction& hlo;
    std::span<HeldValue> operands;  // held until the step ends, unless they are taken
  };

  HeldValue RunComputation(const Computation& computation, std::vector<HeldValue> arguments);
  HeldValue RunStep(const LiveStep& step, std::span<HeldValue> values);
  HeldValue Evaluate(Step& step);

  HeldValue New(const Shape& shape) { return HeldValue(shape, &bytes_); }
  // What belongs to no device, and nobody writes: constants, and what a loop keeps from its first round.
  static HeldValue Uncounted(const Shape& shape);
  // Of an op that only computes.
  HeldValue Computed(Step& step);
  HeldValue NewResult(Step& step);
  HeldValue InPlaceOfAny(Step& step);
  HeldValue WrittenOver(Step& step);
  HeldValue Results(Step& step);
  HeldValue State(Step& step);

  HeldValue Callee(Step& step, const Computation& callee);
  HeldValue Branch(Step& step);
  HeldValue Loop(Step& step);
  bool RunsInRegisters(const Computation& callee);

  // What is sent, received and under way (run_walk_async.cc).
  HeldValue Begin(const Instruction& collective, std::span<HeldValue> operands);
  HeldValue End(HeldValue value);
  HeldValue EndAll(HeldValue value);
  // Whether other devices get the same array: then nobody writes it. A device that meets nobody gets its own back.
  bool IsShared(const HeldValue& under_way) const;
  HeldValue Collective(Step& step);
  HeldValue Start(Step& step);
  HeldValue Done(Step& step);
  HeldValue AsyncPart(Step& step);
  HeldValue Bound(Step& step, std::vector<HeldValue> operands, HeldValue result);
  HeldValue Wrapped(const Computation& computation, std::vector<HeldValue> arguments);
  HeldValue CustomCall(Step& step);
  HeldValue Reshard(Step& step);
  HeldValue ChainStart(Step& step);
  HeldValue ChainDone(Step& step);

  const Module& module_;
  const Liveness& liveness_;
  const Participation& participation_;
  int64_t device_;
  const TripsOf& trips_;
  int64_t depth_ = 0;
  int64_t steps_ = 0;  // gone through so far
  HeldBytes bytes_;
  RunWalkResult out_;
  std::unordered_map<const Computation*, std::vector<HeldValue>> kept_;
  std::unordered_map<const Computation*, bool> in_registers_;
  struct Chain {
    std::vector<HeldValue> operands;
    HeldValue result;
  };
  std::map<ChainKey, Chain> chains_;
};

}  // namespace shoal
